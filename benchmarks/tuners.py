"""`python -m benchmarks.tuners`: the racing of `heddle tune` against Optuna's TPE, with the same number of simulations.

The same space of levers and parameters, the same goal (mean completion) and limit (0.1 % of tasks crash), natively.
What each finds is scored on 20 seeds that neither has seen. TPE tries each candidate on four seeds; crashes are a
constraint; it has no pruner, since those of Optuna do not look at constraints. Needs `optuna`, which heddle does not.
"""

import argparse
import math
from collections.abc import Callable
from statistics import fmean
from typing import Any, Final

from heddle.cli.inputs import cluster_for
from heddle.traces.load import load_workload
from heddle.tune.aims import read_aims
from heddle.tune.halves import halves_of
from heddle.tune.race import PRESENT, Race
from heddle.tune.space import Candidate, Choice, Space, space_around
from heddle.tune.trial import Trial, run_trial

WORKLOADS: Final = ("mix", "over-reserved-day(tasks=3000)", "network-dags")
BASE: Final = "capacity"
SCORED_SEEDS: Final = 20
TPE_SEEDS: Final = 4
MOST_CRASHES_PCT: Final = 0.1
Value = Callable[[Candidate, int], Any]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.tuners", description=__doc__)
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--simulations", type=int, default=400)
    chosen = options.parse_args()
    print(f"{'workload':34}{'racing':>10}{'worst':>8}{'TPE':>10}{'worst':>8}   change of mean completion, %")
    for workload in WORKLOADS:
        found = [study(workload, number, chosen.simulations) for number in range(chosen.repetitions)]
        racing, tpe = zip(*found, strict=True)
        print(f"{workload:34}{fmean(racing):10.1f}{max(racing):8.1f}{fmean(tpe):10.1f}{max(tpe):8.1f}", flush=True)


def study(workload: str, number: int, simulations: int) -> tuple[float, float]:
    """What racing and TPE gain on unseen seeds, in percent."""
    first, cluster = load_workload(workload, 0), cluster_for(workload, None)
    space = space_around(BASE, first, cluster, "native")
    aims, halves, known = read_aims("jct.mean", [], []), halves_of(workload, first, cluster, None), {}

    def value(candidate: Candidate, seed: int, half: Any = halves.search) -> Any:
        trial = Trial(half, cluster, candidate.policy(BASE), "native", seed, aims.measures)
        if trial.key not in known:
            known[trial.key] = run_trial(trial)
        return known[trial.key]

    def scored(candidate: Candidate) -> float:
        pairs = [(value(candidate, s, halves.report), value(PRESENT, s, halves.report)) for s in range(SCORED_SEEDS)]
        return 100 * math.expm1(fmean(math.log(one.values[0] / base.values[0]) for one, base in pairs))

    race = Race(space, aims, number, simulations)
    return scored(raced(race, value, simulations)), scored(sampled(space, value, number, simulations))


def raced(race: Race, value: Value, simulations: int) -> Candidate:
    runs, new = 0, race.contenders()
    while new and runs < simulations:
        for batch in race.round(new):
            for asked in batch:
                race.tell(asked, value(asked.candidate, asked.seed))
                runs += 1
        new = race.contenders()
    return race.elites()[0]


def sampled(space: Space, value: Value, number: int, simulations: int) -> Candidate:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(
        seed=number, multivariate=True, group=True, constraints_func=lambda trial: trial.user_attrs["over"]
    )
    study, seeds, good = optuna.create_study(sampler=sampler), range(TPE_SEEDS), {PRESENT: 0.0}
    base = [value(PRESENT, seed) for seed in seeds]
    for _ in range(simulations // TPE_SEEDS - 1):
        trial = study.ask()
        candidate = suggested(trial, space)
        runs = [value(candidate, seed) for seed in seeds]
        if any(run.stalled for run in runs):
            trial.set_user_attr("over", (1.0,))
            study.tell(trial, 10.0)
            continue
        crashes = fmean(run.values[1] for run in runs)
        gain = fmean(math.log(run.values[0] / before.values[0]) for run, before in zip(runs, base, strict=True))
        trial.set_user_attr("over", (crashes - MOST_CRASHES_PCT,))
        study.tell(trial, gain)
        if crashes <= MOST_CRASHES_PCT:
            good[candidate] = gain
    return min(good, key=lambda candidate: good[candidate])


def suggested(trial: Any, space: Space) -> Candidate:
    chosen = {}
    for question, options in space.options.items():
        name = trial.suggest_categorical(question.name, ["-", *(option.lever for option in options)])
        for option in options:
            if option.lever == name:
                values = [
                    (key, trial.suggest_categorical(f"{name}.{key}", list(grid))) for key, grid in option.grids.items()
                ]
                chosen[question] = Choice(option, tuple(values))
    return Candidate.of(chosen)


if __name__ == "__main__":
    main()
