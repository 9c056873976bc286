"""Where a run's capacity went: used, idle, lost, or never reserved, and why."""
