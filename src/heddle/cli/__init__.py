"""The command line. Nothing heavy is imported before a command runs: `heddle --help` must be quick."""

import os

# Before numpy is imported: heddle multiplies no matrices, and threads would take a fifth of the CPU of a short command.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
