"""What the trial of four phases showed, phase by phase: `python -m benchmarks.phases_shown FOLDER`.

FOLDER is that of `heddle yarn trial --out`. Changes are against stock in the same round, with 95 % intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Final

from benchmarks.phases_workload import JOBS, PHASES, four_phases, phase_of
from heddle.analysis.certainty.student import t_interval
from heddle.yarn.observe.journal import Journal
from heddle.yarn.testbed.trial import TrialRun

ALL: Final = "all"
WORSE_PCT: Final = 5.0  # a job counts as later from here on


def read_runs(folder: Path) -> tuple[list[str], list[TrialRun]]:
    """Policies, stock first, and all runs."""
    plan, *runs = Journal(folder / "trial.jsonl").read()
    return plan["policies"], [TrialRun(**run) for run in runs]


def completion_s(run: TrialRun, phase: str) -> float:
    return fmean(time for job, time in run.jct_s.items() if phase in (ALL, phase_of(job)))


def makespan_s(run: TrialRun, phase: str) -> float:
    """From the first submission of the phase to the end of the last of its jobs."""
    at_s = _submissions_s(len(run.jct_s) // JOBS)
    own = {job: time for job, time in run.jct_s.items() if phase in (ALL, phase_of(job))}
    return max(at_s[job] + time for job, time in own.items()) - min(at_s[job] for job in own)


def changes_pct(
    runs: Iterable[TrialRun], policy: str, stock: str, value: Callable[[TrialRun], float]
) -> tuple[float, tuple[float, float] | None]:
    """The mean change against stock in the same round, and its interval."""
    by_round: dict[tuple[int, str], float] = {(run.round, run.policy): value(run) for run in runs}
    pairs = [(value, by_round.get((number, stock))) for (number, name), value in by_round.items() if name == policy]
    found = [100 * (value / base - 1) for value, base in pairs if base is not None]
    return fmean(found), t_interval(found)


def later(runs: list[TrialRun], policy: str, stock: str) -> Mapping[str, float]:
    """Jobs that took longer than under stock by more than a little, in the mean of all rounds, and by how much."""

    def mean(name: str, job: str) -> float:
        return fmean(run.jct_s[job] for run in runs if run.policy == name)

    found = {job: 100 * (mean(policy, job) / mean(stock, job) - 1) for job in runs[0].jct_s}
    return {job: pct for job, pct in sorted(found.items(), key=lambda one: -one[1]) if pct > WORSE_PCT}


def _submissions_s(times: int) -> dict[str, float]:
    work = four_phases(times)
    return {work.job_name(job): int(work.jobs["submit_at_ms"][job]) / 1000 for job in range(work.n_jobs)}


def _shown(change: tuple[float, tuple[float, float] | None]) -> str:
    mean, interval = change
    return f"{mean:+.1f} %" if interval is None else f"{mean:+.1f} % [{interval[0]:+.1f}, {interval[1]:+.1f}]"


def main() -> None:
    policies, runs = read_runs(Path(sys.argv[1]))
    stock = policies[0]
    for phase in (ALL, *PHASES.values()):
        print(f"\n{phase}")
        for policy in policies:
            own = [run for run in runs if run.policy == policy]
            if not own:
                continue
            print(f"  {policy:20} completion", " ".join(f"{completion_s(run, phase):6.1f}" for run in own), end=" ")
            print(_shown(changes_pct(runs, policy, stock, lambda run: completion_s(run, phase))), end="; makespan ")  # noqa: B023
            print(" ".join(f"{makespan_s(run, phase):6.1f}" for run in own), end=" ")
            print(_shown(changes_pct(runs, policy, stock, lambda run: makespan_s(run, phase))))  # noqa: B023
    print("\nfailed and stuck jobs, and the most that was used of a node's own size, round by round")
    for run in sorted(runs, key=lambda run: (policies.index(run.policy), run.round)):
        print(f"  {run.policy:20} {run.failed_jobs} {run.stuck_jobs} {100 * run.peak_used_share:.0f} %")
    print(f"\nlater than under {stock} by more than {WORSE_PCT:g} %, means over rounds")
    for policy in policies[1:]:
        if any(run.policy == policy for run in runs):
            worse = later(runs, policy, stock)
            print(f"  {policy}: {len(worse)}:", ", ".join(f"{job} {pct:+.0f} %" for job, pct in worse.items()))


if __name__ == "__main__":
    main()
