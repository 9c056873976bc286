"""A workload as real containers: a small application master, what runs in its containers, how jobs are submitted."""
