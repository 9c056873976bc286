"""The cluster file: YAML or JSON that can say everything the model of a cluster knows."""
