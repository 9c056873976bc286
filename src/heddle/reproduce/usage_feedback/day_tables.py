"""The tables of V-A: the stand-in beside the published facts, every day of the ensemble, failures by form of use."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.lab import Scores
from heddle.reproduce.usage_feedback.day import published_facts
from heddle.reproduce.usage_feedback.settings import Settings

Member = tuple[str, str]  # the day's name, and the form of use
Gains = Mapping[Member, verdicts.Seeds]


def why_failed(settings: Settings, scores: Scores) -> Table:
    sizes = settings.known.of("ensemble.sizes")
    rows = []
    for form in settings.known.of("ensemble.profiles"):
        cells = []
        for size in sizes:
            days = [member for member in settings.members() if member[1] == form and member[0].startswith(f"{size} ")]
            cells.append(mean_text(_over_days({day: scores.failed_pct(day, settings.feedback) for day in days}), 3))
        rows.append((form, *cells))
    return Table(
        "V-A: failures by the form of use over a task's life",
        ("form", *(f"{size} containers: failed (%)" for size in sizes)),
        tuple(rows),
        f"Usage feedback, all loads and medians. Parts of its peak that a task uses: {_levels(settings)}.",
    )


def _over_days(values: Mapping[Member, verdicts.Seeds]) -> dict[int, float]:
    seeds = set.intersection(*(set(one) for one in values.values()))
    return {seed: float(np.mean([one[seed] for one in values.values()])) for seed in sorted(seeds)}


def _levels(settings: Settings) -> str:
    """The forms of use in words: so much of the peak until so much of the task's life."""
    said = []
    for form, levels in settings.known.of("ensemble.profiles").items():
        steps = ", ".join(f"{part:g} until {until / 100:g} % of its life" for until, part in levels)
        said.append(f"`{form}` {steps}")
    return "; ".join(said)


def facts(settings: Settings) -> Table:
    """The stand-in beside what was published."""
    days = [day for name, by in settings.ensemble().items() if "all at once" in name for day in by.values()]
    found = [published_facts(day.columns(seed)) for day in days for seed in settings.seeds]
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


def every_day(settings: Settings, scores: Scores, gains: Gains, most: verdicts.Ensemble) -> Table:
    given = settings.known.of("cluster_a")
    memory = 100 * given["capacity_mb"] / given["allowance_mb"]
    vcores = 100 * given["capacity_vcores"] / given["allowance_vcores"]
    forms = settings.known.of("ensemble.profiles")

    def used(names: list[Hashable], policy: str, resource: str, factor: float) -> str:
        parts = {name: scores.metric(name, policy, f"utilisation.{resource}.used") for name in names}
        return f"{factor * mean_of(parts):.0f}"

    rows = []
    for name in settings.ensemble():
        both: list[tuple[list[Hashable], str]] = [
            ([name], settings.reservation),
            ([(name, form) for form in forms], settings.feedback),
        ]
        rows.append(
            (
                name,
                *(mean_text(gains[name, form]) for form in forms),
                mean_text(most[name]) if name in most else "-",
                *(used(names, policy, "memory", memory) for names, policy in both),
                *(used(names, policy, "vcores", vcores) for names, policy in both),
            )
        )
    heads = (
        "day", *(f"{form}: sooner by (%)" for form in forms), "arrivals allow", "memory used", "with feedback",
        "CPU used", "with feedback",
    )  # fmt: skip
    caption = (
        "Use in percent of the allowance, over the whole makespan: under reservation, then with usage feedback, mean "
        "over forms of use. Arrivals allow what would be gained if no task ever waited."
    )
    return Table("V-A on every day of the ensemble", heads, tuple(rows), caption)


def mean(seeds: verdicts.Seeds) -> float:
    return float(np.mean(list(seeds.values()))) if seeds else float("nan")


def mean_of(values: Mapping[Hashable, verdicts.Seeds] | Mapping[str, verdicts.Seeds]) -> float:
    return float(np.mean([mean(seeds) for seeds in values.values()]))
