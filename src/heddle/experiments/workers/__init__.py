"""Runs on other machines: what all need is brought to the workers once; then a run is sent as some hundred bytes."""
