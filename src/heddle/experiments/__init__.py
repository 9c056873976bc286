"""Several runs to answer one question."""
