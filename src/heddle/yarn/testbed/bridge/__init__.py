"""The bridge: the jar that lets a process outside decide inside a stock ResourceManager, and how it gets there."""
