"""The command line. Nothing heavy is imported before a command runs: `heddle --help` must be quick."""

import os

# Before numpy is imported: heddle multiplies no matrices, and a short command would spend a fifth of its CPU on threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
