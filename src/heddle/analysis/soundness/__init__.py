"""Whether a run kept the rules that every run must keep."""
