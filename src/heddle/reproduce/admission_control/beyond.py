"""Beyond the paper: usable capacity in place of C, on the paper's rounds and on bursts of recorded jobs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from statistics import fmean

from heddle.reproduce import verdicts
from heddle.reproduce.admission_control.settings import MIXED, Name, Rounds, Size
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of
from heddle.reproduce.recorded_jobs import RecordedJobs, imported
from heddle.reproduce.verdicts import Ensemble


def usable_on_rounds(rounds: Rounds, scores: Scores, best: Mapping[Name, str]) -> Findings:
    """Against the paper's form, and how both stand to the best static reserve."""
    usable, sizes = rounds.policy("usable"), [*rounds.sizes, MIXED]

    def lead(name: Name) -> dict[int, float]:
        own, other = (scores.metric(name, policy, "makespan_s") for policy in (usable, rounds.controlled))
        return verdicts.sooner_pct(other, own)

    def score(name: Name, policy: str) -> dict[int, float]:
        loss = verdicts.change_pct(
            scores.metric(name, best[name], "makespan_s"), scores.metric(name, policy, "makespan_s")
        )
        return {seed: 100 - value for seed, value in loss.items()}

    leads = {name: lead(name) for name in rounds.batches}
    of_member = {
        member: {seed: fmean(leads[member, size].get(seed, 0.0) for size in sizes) for seed in rounds.seeds}
        for member in rounds.members
    }
    differ = [size for size in sizes if any(any(leads[member, size].values()) for member in rounds.members)]
    rows = [
        (
            member,
            _called(size),
            mean_text(score((member, size), rounds.controlled)),
            mean_text(score((member, size), usable)),
        )
        for size in differ
        for member in rounds.members
    ]
    stalled = sum(len(scores.stalled_on(name, usable)) for name in rounds.batches)
    return Findings(
        claims=[
            Claim(
                "usable.1", "With usable capacity in place of C the makespan is shorter (the paper's rounds)",
                "not in the paper", "% shorter, mean over rounds",
                verdicts.only_if(verdicts.order({"usable": of_member}), not stalled),
                f"{len(differ)} of {len(sizes)} rounds differ at all; {stalled} runs stalled. {_by_member(of_member)}.",
                Source.OURS,
            )
        ],
        tables=[
            Table(
                "Beyond the paper: usable capacity in place of C",
                ("jobs", "AM/task vcores", "score with C (%)", "score with usable capacity (%)"),
                tuple(rows),
                "Rounds in which the two differ, against the best static reserve.",
            )
        ],
    )  # fmt: skip


def usable_on_traces(rounds: Rounds) -> Part:
    """Bursts of recorded jobs, of several sizes."""
    known = rounds.known
    member = rounds.first_start[0]
    policies = (rounds.controlled, rounds.policy("usable"))
    traces = imported(rounds.lab)
    sizes: list[Size] = [(am, task) for am, task in known["recorded.sizes"]]
    plan: dict[Hashable, Work] = {}
    for trace, path in traces.items():
        for am, task in sizes:
            demands = [(known["round.memory_mb"], 1000 * vcores) for vcores in (am, task)]
            jobs = RecordedJobs(
                path, known["recorded.jobs"], 0, known["recorded.most_tasks"],
                round(1000 * known["recorded.longest_s"]), demands[0], demands[1],
            )  # fmt: skip
            for policy in policies:
                plan.update(runs_of((trace, (am, task)), jobs, rounds.cluster(member), policy, rounds.seeds))
    scores = Scores((yield plan))
    claims = []
    for number, trace in enumerate(traces, 2):
        lead = {
            _called(size): verdicts.sooner_pct(
                *(scores.metric((trace, size), policy, "makespan_s") for policy in policies)
            )
            for size in sizes
        }
        claims.append(
            Claim(
                f"usable.{number}", f"With usable capacity the makespan is shorter (bursts of jobs of {trace})",
                "not in the paper", "% shorter", verdicts.order({trace: lead}),
                f"By AM/task vcores: {_by_member(lead)}.", Source.OURS,
            )
        )  # fmt: skip
    missing = "The recorded traces are not here (--traces): their claims were left out."
    return Findings(claims=claims, remarks=[] if traces else [missing])


def _called(size: Size) -> str:
    return "mixed" if size == MIXED else f"{size[0]}/{size[1]}"


def _by_member(values: Ensemble) -> str:
    return "; ".join(f"{member} {mean_text(seeds)}" for member, seeds in values.items())
