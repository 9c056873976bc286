"""The run record: what was seen, decided, why, and what came of it - one schema for simulated and live runs."""
