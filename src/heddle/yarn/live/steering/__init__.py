"""Steering a real YARN safely: what must be put back, who puts it back, and the loop that changes it meanwhile."""
