"""Table I: admission control against the best static reserve, in 16 rounds and with mixed sizes."""

from __future__ import annotations

from collections.abc import Hashable
from statistics import fmean

from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.beyond import usable_on_rounds
from heddle.reproduce.admission_control.equation_3 import equation_3
from heddle.reproduce.admission_control.low_rounds import low_rounds
from heddle.reproduce.admission_control.optimum import best_reserve, figure_1, figure_4, linear
from heddle.reproduce.admission_control.reasons import lowest_round, rounds_above
from heddle.reproduce.admission_control.rounds import kinds_of_job
from heddle.reproduce.admission_control.settings import MIXED, Losses, Rounds
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of


def score(rounds: Rounds) -> Part:
    plan: dict[Hashable, Work] = {}
    for name, jobs in rounds.batches.items():
        for policy in set(rounds.static(name[1][0]).values()):
            plan.update(runs_of(name, jobs, rounds.cluster(name[0]), policy, rounds.tuning_seeds))
    tuning = Scores((yield plan))
    best = {name: rounds.static(name[1][0])[best_reserve(rounds, tuning, name)] for name in rounds.batches}
    plan = {}
    for name, jobs in rounds.batches.items():
        policies = {best[name], rounds.controlled, rounds.policy("usable")}
        if name[1] == MIXED:
            policies.add(rounds.policy("without_3"))
        for policy in policies:
            plan.update(runs_of(name, jobs, rounds.cluster(name[0]), policy, rounds.seeds))
    scores = Scores((yield plan))
    loss = {
        name: verdicts.change_pct(
            scores.metric(name, best[name], "makespan_s"), scores.metric(name, rounds.controlled, "makespan_s")
        )
        for name in rounds.batches
    }
    stalled = sum(len(scores.stalled_on(name, rounds.controlled)) for name in rounds.batches)
    found = Findings(
        claims=[*_table_one(rounds, loss, stalled), linear(rounds, tuning), equation_3(rounds, scores)],
        drawings=[figure_1(rounds, tuning), *figure_4(rounds, tuning, scores)],
        tables=[_by_start(rounds, loss), *(_scores_table(rounds, loss, kind) for kind in kinds_of_job(rounds.known))],
    )
    found.claims.append(_mixed(rounds, loss))
    found.add(usable_on_rounds(rounds, scores, best))
    found.tables.append((yield from low_rounds(rounds, loss)))
    return found


def _table_one(rounds: Rounds, loss: Losses, stalled: int) -> list[Claim]:
    """Of each round the loss against the best static reserve; 100 - loss is the paper's score."""
    lowest, high = rounds.known["score.lowest_pct"], rounds.known["score.high_pct"]
    of_round = {size: {member: loss[member, size] for member in rounds.members} for size in rounds.sizes}
    above = _above(rounds, loss)
    ended = f" {stalled} runs stalled, and have no score." if stalled else ""
    lows = "; ".join(
        f"{member} {lowest_round({size: loss[member, size] for size in rounds.sizes})}" for member in rounds.members
    )
    return [
        Claim(
            "I.1",
            f"In every round the score is at least {lowest:g} %: the makespan at most {100 - lowest:g} % above the "
            "best static reserve's",
            f"scores {lowest:g} % or more in all 16",
            "% above it in the worst round",
            verdicts.only_if(verdicts.limit_everywhere(of_round, 100 - lowest), not stalled),
            f"Lowest score by member: {lows}. The best static reserve was chosen on other seeds, so that a score may "
            f"exceed 100 %.{ended}",
        ),
        Claim(
            "I.2",
            f"The score is above {high:g} % in more than half of the rounds",
            "10 of 16",
            "of 16 rounds",
            verdicts.only_if(verdicts.more_than(above, len(rounds.sizes) / 2), not stalled),
            f"Counted on each seed. {'; '.join(f'{m} {mean_text(seeds)}' for m, seeds in above.items())}.{ended}",
        ),
    ]


def _above(rounds: Rounds, loss: Losses) -> dict[str, dict[int, float]]:
    most = 100 - rounds.known["score.high_pct"]
    return {
        member: rounds_above({size: loss[member, size] for size in rounds.sizes}, most, rounds.seeds)
        for member in rounds.members
    }


def _mixed(rounds: Rounds, loss: Losses) -> Claim:
    lowest = rounds.known["score.lowest_pct"]
    values = {member: loss[member, MIXED] for member in rounds.members}
    return Claim(
        "mixed",
        "With mixed sizes, averages serve as well",
        "meant for that; not measured",
        "% above the best static reserve",
        verdicts.limit_everywhere({MIXED: values}, 100 - lowest),
        f"AMs and tasks of 1 to 4 vcores, each job its own; judged by the lowest score of Table I, {lowest:g} %.",
        Source.OURS,
    )


def _by_start(rounds: Rounds, loss: Losses) -> Table:
    """How much the time that an AM takes to start decides."""
    above = _above(rounds, loss)
    rows = tuple(
        (
            member,
            lowest_round({size: loss[member, size] for size in rounds.sizes}),
            mean_text(above[member]),
            mean_text({seed: 100 - value for seed, value in loss[member, MIXED].items()}),
        )
        for member in rounds.members
    )
    heads = ("jobs", "lowest score", f"rounds above {rounds.known['score.high_pct']:g} %", "mixed sizes (%)")
    return Table("Scores by member: jobs, and the time that an AM takes to start", heads, rows)


def _scores_table(rounds: Rounds, loss: Losses, kind: str) -> Table:
    vcores = rounds.known["round.vcores"]
    given = kinds_of_job(rounds.known)[kind]
    members = [member for member, (job, _) in rounds.members.items() if job == given]

    def cell(am: int, task: int, paper: float) -> str:
        seeds = {s: 100 - fmean(loss[m, (am, task)].get(s, 100.0) for m in members) for s in rounds.seeds}
        return f"{mean_text(seeds)}; paper {paper:g}"

    rows = tuple(
        (f"TC = {task}", *(cell(am, task, rounds.known["score.table"][i][j]) for j, am in enumerate(vcores)))
        for i, task in enumerate(vcores)
    )
    return Table(
        f"Table I, jobs of the kind {kind}",
        ("", *(f"AMC = {am}" for am in vcores)),
        rows,
        f"Scores in percent, mean over the times that an AM takes to start (no score counts as 0). {given.maps} map(s) "
        f"of {given.map_s:g} s and a reduce of {given.reduce_s:g} s to a job.",
    )
