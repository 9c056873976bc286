"""The command line. Nothing heavy is imported before a command runs: `heddle --help` must be quick."""
