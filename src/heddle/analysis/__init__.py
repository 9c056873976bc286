"""What a run was worth: metrics, curves and comparisons. Everything here reads records only."""
