"""YARN clusters on this machine, and real work to put on them: replays, programs, trials, Hadoop's load simulator."""
