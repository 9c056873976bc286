"""Clusters from the configuration of a real YARN: its scheduler's XML. What heddle does not model is listed."""
