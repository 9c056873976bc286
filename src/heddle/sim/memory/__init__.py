"""What the engine remembers: its tables, how they are filled at time 0 and how they grow."""
