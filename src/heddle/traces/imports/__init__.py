"""Import of traces: files, the fate of every row, and the formats that read them."""
