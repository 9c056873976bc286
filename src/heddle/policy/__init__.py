"""Policies: six levers, presets that name them, and the grammar that combines them."""
