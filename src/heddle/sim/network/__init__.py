"""Data on its way: fetches, flows, links and their rates."""
