"""Mutants that no test can tell from the source, by name, with the reason."""

EQUIVALENT: dict[str, str] = {}
