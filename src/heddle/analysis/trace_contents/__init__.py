"""What a trace holds: what is missing for which policy, what resembles it, which requests were enough."""
