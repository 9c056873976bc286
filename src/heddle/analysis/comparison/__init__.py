"""Which policy is better, by how much, and who pays for it."""
