"""A real YARN on this machine: Hadoop's jars, configuration, daemons, and the cluster made of them."""
