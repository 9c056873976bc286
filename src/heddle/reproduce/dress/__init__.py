"""Paper 5: DRESS, a share of the cluster kept for jobs of small demand. Its job mixes against Capacity."""
