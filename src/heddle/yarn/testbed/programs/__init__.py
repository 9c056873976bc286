"""Real MapReduce and Spark programs, each submitted by a client of its own framework."""
