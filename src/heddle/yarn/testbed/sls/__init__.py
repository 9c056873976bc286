"""Hadoop's scheduler load simulator (SLS): the real ResourceManager with simulated nodes and jobs, in real time."""
