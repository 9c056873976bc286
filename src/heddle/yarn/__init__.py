"""The way to a real YARN: steer it (live), record what it does (observe), start one to try both on (testbed)."""
