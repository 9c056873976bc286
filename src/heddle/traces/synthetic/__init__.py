"""Built-in workloads, each made from a seed: one file, one generator."""
