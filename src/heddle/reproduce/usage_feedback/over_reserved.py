"""V-A: users reserve more than they use. Sooner by 16 %, the bottleneck moves from memory to CPU, no task fails."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Table, mean_text
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of, whole_run
from heddle.reproduce.usage_feedback.day import ALL_AT_ONCE, Day, published_facts
from heddle.reproduce.usage_feedback.figures import efficiency_figure, use_over_time
from heddle.reproduce.usage_feedback.settings import Settings

SHOWN = "medium containers, all at once, median 35 s"  # the figures over time show this member


def over_reserved(settings: Settings) -> Part:
    days, cluster = settings.ensemble(), settings.cluster("cluster_a")
    reservation, feedback = settings.reservation, settings.feedback
    plan: dict[Hashable, Work] = {}
    for name, day in days.items():
        for policy in (reservation, feedback):
            plan.update(runs_of(name, day, cluster, policy, settings.seeds))
    shown: dict[str, Work] = {
        policy: whole_run(days[SHOWN], cluster, policy, settings.seeds[0]) for policy in (reservation, feedback)
    }
    plan.update(shown.items())
    for name, day in _forms(settings).items():
        plan.update(runs_of(name, day, cluster, feedback, settings.seeds))
    runs = yield plan
    over_time = {policy: runs[policy] for policy in shown}
    scores = Scores({name: result for name, result in runs.items() if name not in shown})
    return Findings(
        claims=[_sooner(settings, scores), _bottleneck(settings, scores), _none_failed(settings, scores)],
        drawings=[
            *efficiency_figure(days[SHOWN], settings.seeds[0]),
            *(
                drawing
                for policy, run in over_time.items()
                for drawing in use_over_time("Fig. 2", policy, run, f"{SHOWN.capitalize()}, one seed.")
            ),
        ],
        tables=[_facts(settings), _members(settings, scores), _why_failed(settings, scores)],
    )


def _sooner(settings: Settings, scores: Scores) -> Claim:
    sooner = {
        name: verdicts.sooner_pct(
            scores.metric(name, settings.reservation, "makespan_s"),
            scores.metric(name, settings.feedback, "makespan_s"),
        )
        for name in settings.ensemble()
    }
    paper = settings.known["v_a.sooner_pct"]
    judged = verdicts.effect(sooner, paper)
    means = {name: float(np.mean(list(seeds.values()))) for name, seeds in sooner.items()}
    enough = sum(verdicts.like_the_effect(seeds, paper) for seeds in sooner.values())
    low, high = min(means, key=lambda name: means[name]), max(means, key=lambda name: means[name])
    return Claim(
        "V-A.1",
        "All tasks complete sooner than under reservation",
        f"{paper:g} % sooner",
        "%",
        judged,
        f"Mean over {len(means)} stand-in days that the published facts allow; from half to twice the paper's effect "
        f"in {enough} of them. From {means[low]:.1f} % ({low}) to {means[high]:.1f} % ({high}).",
    )


def _bottleneck(settings: Settings, scores: Scores) -> Claim:
    """Reservation: reserved memory is nearer to its allowance than CPU. Feedback: used CPU is nearer than memory."""
    given = settings.known.of("cluster_a")
    memory = given["capacity_mb"] / given["allowance_mb"]
    vcores = given["capacity_vcores"] / given["allowance_vcores"]

    def ahead(policy: str, what: str) -> dict[str, dict[int, float]]:
        found = {}
        for name in settings.ensemble():
            by_memory = scores.metric(name, policy, f"utilisation.memory.{what}")
            by_cpu = scores.metric(name, policy, f"utilisation.vcores.{what}")
            found[name] = {seed: 100 * (by_cpu[seed] * vcores - by_memory[seed] * memory) for seed in by_memory}
        return found

    before = ahead(settings.reservation, "reserved")
    memory_first = {name: {seed: -value for seed, value in seeds.items()} for name, seeds in before.items()}
    cpu_first = ahead(settings.feedback, "used")
    to_a_core = {
        name: _ratio(scores, name, settings.feedback) * given["capacity_mb"] / given["capacity_vcores"] / 1024
        for name in cpu_first
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


def _ratio(scores: Scores, name: str, policy: str) -> float:
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
    crashed = {name: scores.metric(name, settings.feedback, "crashed_tasks") for name in settings.ensemble()}
    seeds = set.intersection(*(set(one) for one in crashed.values()))
    per_day = {seed: float(np.mean([one[seed] for one in crashed.values()])) for seed in seeds}
    clean = [name for name, one in crashed.items() if not any(one.values())]
    return Claim(
        "V-A.3",
        "No task fails for want of memory",
        "0 failed tasks",
        "tasks a day",
        verdicts.limit(per_day, 1.0, 1.0 / len(crashed)),
        f"Limit: fewer than one a day. No task failed on any seed in {len(clean)} of {len(crashed)} days, all of form "
        f"`{settings.known['v_a.profile']}`. Failures by form of use: {_by_form(settings, scores)}.",
    )


def _by_form(settings: Settings, scores: Scores) -> str:
    found: dict[str, list[float]] = {}
    for name in _forms(settings):
        form = name.rpartition(", ")[2]
        found.setdefault(form, []).extend(scores.failed_pct(name, settings.feedback).values())
    return ", ".join(f"{form} {np.mean(rates):.3f} %" for form, rates in found.items())


def _forms(settings: Settings) -> dict[str, Day]:
    """Why tasks fail: the same days, with other forms of use over a task's life."""
    known = settings.known
    return {
        f"{size} containers, {form}": settings.day(size, ALL_AT_ONCE, known["v_b.median_s"], form)
        for size in known.of("ensemble.sizes")
        for form in known.of("ensemble.profiles")
    }


def _why_failed(settings: Settings, scores: Scores) -> Table:
    rows = tuple((name, mean_text(scores.failed_pct(name, settings.feedback), 3)) for name in _forms(settings))
    return Table(
        "V-A: failures by the form of use over a task's life",
        ("day", "failed (%)"),
        rows,
        f"Everything at once, usage feedback. Parts of its peak that a task uses: {_levels(settings)}.",
    )


def _levels(settings: Settings) -> str:
    """The forms of use in words: so much of the peak until so much of the task's life."""
    said = []
    for form, levels in settings.known.of("ensemble.profiles").items():
        steps = ", ".join(f"{part:g} until {until / 100:g} % of its life" for until, part in levels)
        said.append(f"`{form}` {steps}")
    return "; ".join(said)


def _facts(settings: Settings) -> Table:
    """The stand-in beside what was published."""
    days = {name: day for name, day in settings.ensemble().items() if "all at once" in name}
    found = [published_facts(day.columns(seed)) for day in days.values() for seed in settings.seeds]
    mean = {fact: float(np.mean([one[fact] for one in found])) for fact in found[0]}
    rows = (
        ("containers a day", "about 18,000", f"{mean['containers']:,.0f}"),
        ("containers to a job", "110,000 / 8,000 = 13.75", f"{mean['containers_per_job']:.1f}"),
        ("memory used, 90th percentile of containers", "50 %", f"{100 * mean['containers_p90']:.0f} %"),
        ("memory used, 90th percentile of jobs", "24 %", f"{100 * mean['jobs_p90']:.0f} %"),
        ("users below 35 %", "90 %", f"{100 * mean['users_below_35']:.0f} %"),
        ("memory used by AMs, at most", "35 %", f"{100 * mean['am_most']:.0f} %"),
        ("containers that use less CPU than allocated", "60 %", f"{100 * mean['cpu_below_1']:.0f} %"),
        ("CPU used, at most", "up to 2x", f"{mean['cpu_most']:.2f}x"),
        ("used of reserved GB-hours", "about 50 % of available", f"{100 * mean['used_of_reserved']:.0f} %"),
        ("durations", "seconds to 1000 s", f"{mean['shortest_s']:.0f} to {mean['longest_s']:,.0f} s"),
        ("durations from 10 to 100 s", "the majority", f"{100 * mean['from_10_to_100_s']:.0f} %"),
    )
    return Table(
        "The stand-in for the authors' day",
        ("fact", "published", "stand-in"),
        rows,
        "Means over all stand-in days and seeds. With --quick the day has a fifth of the tasks.",
    )


def _members(settings: Settings, scores: Scores) -> Table:
    given = settings.known.of("cluster_a")
    memory = 100 * given["capacity_mb"] / given["allowance_mb"]
    vcores = 100 * given["capacity_vcores"] / given["allowance_vcores"]

    def used(name: str, policy: str, resource: str, factor: float) -> str:
        seeds = scores.metric(name, policy, f"utilisation.{resource}.used")
        return f"{factor * (verdicts.over_seeds({'': seeds})[0] or 0):.0f}"

    rows = []
    for name in settings.ensemble():
        before = scores.metric(name, settings.reservation, "makespan_s")
        rows.append(
            (
                name,
                mean_text(verdicts.sooner_pct(before, scores.metric(name, settings.feedback, "makespan_s"))),
                mean_text(scores.failed_pct(name, settings.feedback), 3),
                *(used(name, policy, "memory", memory) for policy in (settings.reservation, settings.feedback)),
                *(used(name, policy, "vcores", vcores) for policy in (settings.reservation, settings.feedback)),
            )
        )
    heads = ("day", "sooner by (%)", "failed (%)", "memory used", "with feedback", "CPU used", "with feedback")
    caption = "Use in percent of the allowance, over the whole makespan: under reservation, then with usage feedback."
    return Table("V-A on every day of the ensemble", heads, tuple(rows), caption)
