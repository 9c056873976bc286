"""Paper 1: usage feedback (Ha et al.). The experiments of its sections V-A, V-B and V-C, and what lies beyond."""
