"""The life of jobs, tasks and containers, and what really happens on a node."""
