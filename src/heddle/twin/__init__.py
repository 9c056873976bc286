"""The twin of a cluster: what will happen next, from what is known now."""
