"""The one reader of a CSV of tasks: strict where it is a workload, setting rows aside where it is imported."""
