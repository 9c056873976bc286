"""Policies: five levers, presets that name them, and the grammar that combines them."""
