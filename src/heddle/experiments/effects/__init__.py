"""The effect matrix: every combination of the papers on several workloads, by the policy itself and by knobs."""
