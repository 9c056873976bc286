"""The simulator: a compiled engine that advances a cluster from decision to decision."""
