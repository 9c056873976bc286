"""A seeded world of faults in which the real controller, watchdog and observer steer a simulated YARN."""
