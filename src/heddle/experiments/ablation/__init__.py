"""The ablation: every combination of the papers' parts on many workloads, so that each part must earn its place."""
