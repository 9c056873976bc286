"""The levers that heddle ships: one idea, one file."""
