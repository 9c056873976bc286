"""What really happened on a YARN: containers sampled on their nodes, jobs observed at the RM, one record of both."""
