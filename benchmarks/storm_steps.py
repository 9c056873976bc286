"""`python -m benchmarks.storm_steps`: steps of the live controller in the storm, for a second of CPU on one core."""

import argparse
import time
from typing import Final

from heddle.storm.storm import Storm

SEEDS: Final = range(1, 6)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.storm_steps", description=__doc__)
    options.add_argument("--repetitions", type=int, default=3)
    print(f"{measure(options.parse_args().repetitions):.0f} steps/s")


def measure(repetitions: int) -> float:
    """The best of several repetitions, so that it holds on a busy machine too."""
    Storm(0, ()).run()  # compiles, and fills caches
    return max(_once() for _ in range(repetitions))


def _once() -> float:
    began_s = time.process_time()
    steps = sum(Storm(seed).run().steps for seed in SEEDS)
    return steps / (time.process_time() - began_s)


if __name__ == "__main__":
    main()
