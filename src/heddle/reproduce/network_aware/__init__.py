"""Paper 4: DAGs placed by the load of the network. Its 200 hosts over a range of bandwidths."""
