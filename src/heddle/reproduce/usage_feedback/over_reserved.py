"""V-A: users reserve more than they use. Sooner by 16 %, the bottleneck moves from memory to CPU, no task fails."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of, whole_run
from heddle.reproduce.usage_feedback.day import ALL_AT_ONCE, Day
from heddle.reproduce.usage_feedback.day_tables import Gains, Member, every_day, facts, mean, mean_of, why_failed
from heddle.reproduce.usage_feedback.figures import efficiency_figure, use_over_time
from heddle.reproduce.usage_feedback.settings import Settings

SHOWN = "medium containers, all at once, median 35 s"  # the figures over time show this member


def over_reserved(settings: Settings) -> Part:
    days, cluster = settings.ensemble(), settings.cluster("cluster_a")
    form: str = settings.known["v_a.profile"]
    reservation, feedback = settings.reservation, settings.feedback
    plan: dict[Hashable, Work] = {}
    for name, by_form in days.items():
        # What tasks use does not matter under reservation: one form stands for all.
        plan.update(runs_of(name, by_form[form], cluster, reservation, settings.seeds))
        for each, day in by_form.items():
            plan.update(runs_of((name, each), day, cluster, feedback, settings.seeds))
    shown: dict[str, Work] = {
        policy: whole_run(days[SHOWN][form], cluster, policy, settings.seeds[0]) for policy in (reservation, feedback)
    }
    plan.update(shown.items())
    arrivals: dict[tuple[str, str, int], Work] = {
        ("earliest end", name, seed): partial(earliest_end_s, by_form[form], seed)
        for name, by_form in days.items()
        if by_form[form].load != ALL_AT_ONCE
        for seed in settings.seeds
    }
    plan.update(arrivals.items())
    runs = yield plan
    over_time = {policy: runs[policy] for policy in shown}
    scores = Scores({name: result for name, result in runs.items() if name not in shown and name not in arrivals})
    ends: dict[str, dict[int, float]] = {}
    for key in arrivals:
        ends.setdefault(key[1], {})[key[2]] = runs[key]
    gains = {member: _gain(settings, scores, member) for member in settings.members()}
    most = _most_by_arrivals(settings, scores, ends)
    return Findings(
        claims=[_sooner(settings, gains, most), _bottleneck(settings, scores), _none_failed(settings, scores)],
        drawings=[
            *efficiency_figure(days[SHOWN][form], settings.seeds[0]),
            *(
                drawing
                for policy, run in over_time.items()
                for drawing in use_over_time("Fig. 2", policy, run, f"{SHOWN.capitalize()}, {form}, one seed.")
            ),
        ],
        tables=[facts(settings), every_day(settings, scores, gains, most), why_failed(settings, scores)],
    )


def earliest_end_s(day: Day, seed: int) -> float:
    """If every task began as it arrives; each is a job of its own."""
    workload = day.jobs(seed)
    return float((workload.jobs["submit_at_ms"] + workload.tasks["duration_ms"]).max()) / 1000


def _gain(settings: Settings, scores: Scores, member: Member) -> dict[int, float]:
    return verdicts.sooner_pct(
        scores.metric(member[0], settings.reservation, "makespan_s"),
        scores.metric(member, settings.feedback, "makespan_s"),
    )


def _most_by_arrivals(settings: Settings, scores: Scores, ends: verdicts.Ensemble) -> dict[str, dict[int, float]]:
    """By how much everything could be done sooner if no task ever waited, on days with arrivals."""
    return {
        name: verdicts.sooner_pct(scores.metric(name, settings.reservation, "makespan_s"), at)
        for name, at in ends.items()
    }


def _sooner(settings: Settings, sooner: Gains, caps: verdicts.Ensemble) -> Claim:
    named = {f"{name}, {form}": seeds for (name, form), seeds in sooner.items()}
    paper = settings.known["v_a.sooner_pct"]
    means = {name: mean(seeds) for name, seeds in named.items()}
    enough = [name for name, seeds in named.items() if verdicts.like_the_effect(seeds, paper)]
    low, high = min(means, key=lambda name: means[name]), max(means, key=lambda name: means[name])
    most = {name: mean(seeds) for name, seeds in caps.items()}
    gains = {name: mean_of({form: sooner[name, form] for form in by}) for name, by in settings.ensemble().items()}
    return Claim(
        "V-A.1",
        "All tasks complete sooner than under reservation",
        f"{paper:g} % sooner",
        "%",
        verdicts.effect(named, paper),
        f"Mean over {len(means)} stand-in days that the published facts allow; from half to twice the paper's effect "
        f"in {len(enough)} of them. From {means[low]:.1f} % ({low}) to {means[high]:.1f} % ({high}). "
        + where_load_caps(gains, most),
    )


def where_load_caps(gains: Mapping[str, float], most: Mapping[str, float]) -> str:
    """Whether a gain is as much as arrivals allow; by load, which is the second part of a day's name."""
    said, free = [], [gain for name, gain in gains.items() if name not in most]
    loads = dict.fromkeys(name.split(", ")[1] for name in most)
    for load in loads:
        names = [name for name in most if name.split(", ")[1] == load]
        capped = [name for name in names if gains[name] >= most[name] - verdicts.SAME_PCT]
        reached, allowed = (np.mean([of[name] for name in names]) for of in (gains, most))
        said.append(
            f"at {load} at {allowed:.1f} % ({reached:.1f} reached; {len(capped)} of {len(names)} days within "
            f"{verdicts.SAME_PCT:g} points)"
        )
    at_once = f" With everything at once nothing of the kind holds: {np.mean(free):.1f} %." if free else ""
    return f"Tasks cannot begin before they arrive, which caps the gain {', '.join(said)}.{at_once}"


def _bottleneck(settings: Settings, scores: Scores) -> Claim:
    """Reservation: reserved memory is nearer to its allowance than CPU. Feedback: used CPU is nearer than memory."""
    given = settings.known.of("cluster_a")
    memory = given["capacity_mb"] / given["allowance_mb"]
    vcores = given["capacity_vcores"] / given["allowance_vcores"]

    def ahead(name: Hashable, policy: str, what: str) -> dict[int, float]:
        by_memory = scores.metric(name, policy, f"utilisation.memory.{what}")
        by_cpu = scores.metric(name, policy, f"utilisation.vcores.{what}")
        return {seed: 100 * (by_cpu[seed] * vcores - by_memory[seed] * memory) for seed in by_memory}

    memory_first = {
        name: {seed: -value for seed, value in ahead(name, settings.reservation, "reserved").items()}
        for name in settings.ensemble()
    }
    cpu_first = {", ".join(member): ahead(member, settings.feedback, "used") for member in settings.members()}
    to_a_core = {
        ", ".join(member): _ratio(scores, member, settings.feedback)
        * (given["capacity_mb"] / given["capacity_vcores"] / 1024)
        for member in settings.members()
    }
    return Claim(
        "V-A.2",
        "The bottleneck moves from memory to CPU",
        "from memory to CPU",
        "% points of the allowance, the lesser lead",
        verdicts.order({"memory under reservation": memory_first, "CPU under estimation": cpu_first}),
        "Reserved memory minus reserved CPU under reservation, and used CPU minus used memory under estimation, each "
        f"in percent of its allowance: {verdicts.over_seeds(memory_first)[0] or 0:.1f} and "
        f"{verdicts.over_seeds(cpu_first)[0] or 0:.1f}. "
        + what_sizes_say(cpu_first, to_a_core, given["allowance_mb"] / given["allowance_vcores"] / 1024),
    )


def _ratio(scores: Scores, name: Hashable, policy: str) -> float:
    """Used memory over used CPU, each in parts of the capacity."""
    memory, cpu = (scores.metric(name, policy, f"utilisation.{one}.used") for one in ("memory", "vcores"))
    return float(np.mean([memory[seed] / cpu[seed] for seed in memory]))


def what_sizes_say(cpu_ahead: verdicts.Ensemble, to_a_core: Mapping[str, float], allowed: float) -> str:
    """Whether the size of containers decides which comes out first; used GB to a used core, and what is allowed."""
    groups: dict[str, list[str]] = {}
    for name in cpu_ahead:
        groups.setdefault(name.partition(",")[0], []).append(name)
    first = {name for name, seeds in cpu_ahead.items() if np.mean(list(seeds.values())) > 0}
    counts = {size: sum(name in first for name in names) for size, names in groups.items()}
    used = {size: np.mean([to_a_core[name] for name in names]) for size, names in groups.items()}
    by_size = ", ".join(
        f"{size} in {counts[size]} of {len(names)} ({used[size]:.2f} GB to a used core)"
        for size, names in groups.items()
    )
    decides = all(counts[size] in (0, len(names)) for size, names in groups.items()) and 0 < len(first) < len(cpu_ahead)
    return (
        f"CPU comes out first in {len(first)} of {len(cpu_ahead)} days: {by_size}; {allowed:.2f} GB to a core are "
        f"allowed. The size of containers {'decides it' if decides else 'alone does not decide it'}."
    )


def _none_failed(settings: Settings, scores: Scores) -> Claim:
    crashed = {member: scores.metric(member, settings.feedback, "crashed_tasks") for member in settings.members()}
    seeds = set.intersection(*(set(one) for one in crashed.values()))
    per_day = {seed: float(np.mean([one[seed] for one in crashed.values()])) for seed in seeds}
    forms = settings.known.of("ensemble.profiles")
    by_form = {form: [one for (_, of), one in crashed.items() if of == form] for form in forms}
    said = ", ".join(
        f"{form} {np.mean([count for one in days for count in one.values()]):.1f} a day "
        f"({sum(not any(one.values()) for one in days)} of {len(days)} days without)"
        for form, days in by_form.items()
    )
    return Claim(
        "V-A.3",
        "No task fails for want of memory",
        "0 failed tasks",
        "tasks a day",
        verdicts.limit(per_day, 1.0, 1.0 / len(crashed)),
        f"Limit: fewer than one a day. Failures by form of use over a task's life: {said}.",
    )
