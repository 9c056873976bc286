"""How a run went: its metrics, and its course over time."""
