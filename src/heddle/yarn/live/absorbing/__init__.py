"""Compiled loops over columns that bring a live view up to date: one call for all events of a kind."""
