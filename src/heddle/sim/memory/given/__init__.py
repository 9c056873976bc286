"""What follows from workload, cluster and policy before a run: one file for each part of the engine's memory."""
