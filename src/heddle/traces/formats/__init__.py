"""One small file for each source of traces."""
