"""Tests on a real YARN: one small cluster for the whole session, in folders of its own."""
