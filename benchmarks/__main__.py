"""`python -m benchmarks`: the rivals alone, side by side on one workload."""

import argparse

from benchmarks import accasim_fifo, heapq_fifo, plain_heapq, simpy_fifo, workload

RIVALS = {"plain": plain_heapq, "heapq": heapq_fifo, "simpy": simpy_fifo, "accasim": accasim_fifo}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--rival", action="append", choices=list(RIVALS), help="may be repeated (default: all)")
    options.add_argument("--tasks", type=int, default=5000)
    options.add_argument("--load", type=float, default=0.8, help="1 = as much as the scarcer resource can carry")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    tasks = workload.make(chosen.tasks, chosen.load, chosen.seed)
    print(f"{chosen.tasks} tasks at {chosen.load:.0%} load, seed {chosen.seed}; simulation phase, CPU time")
    for name in chosen.rival or RIVALS:
        outcome = RIVALS[name].run(tasks, workload.NODES)
        if outcome is None:
            print(f"{name:8} did not run: {RIVALS[name].why_not()}")
        else:
            speed, makespan_s = len(tasks) / outcome.cpu_s, outcome.makespan_ms / 1000
            print(f"{name:8} {speed:12,.0f} tasks/s  {outcome.cpu_s:9.3f} s  makespan {makespan_s:,.1f} s")


if __name__ == "__main__":
    main()
