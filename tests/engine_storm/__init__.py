"""The engine under a storm: any number of random runs, held against the reference or against what must always hold."""
