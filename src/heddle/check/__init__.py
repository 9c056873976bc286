"""`heddle check`: from the address of a ResourceManager to a verdict."""
