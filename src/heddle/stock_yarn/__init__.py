"""Stock YARN, simulated, and driven by knobs: what a controller outside an unmodified YARN could achieve."""
