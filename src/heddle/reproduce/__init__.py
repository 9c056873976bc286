"""The papers' experiments, run again: their clusters and workloads, their policies, and what became of their claims."""
