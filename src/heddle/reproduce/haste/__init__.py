"""Paper 2: HaSTE and HaSTE-A, packing by fitness, urgency and alignment. Their five settings."""
