"""How the engine is compiled: its memory as compiled code sees it, units, hooks, entries."""
