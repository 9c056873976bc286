"""V-B: reservations that fit exactly. Completion as under reservation, and few tasks fail."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Table
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of, whole_run
from heddle.reproduce.usage_feedback.day import ALL_AT_ONCE, Day, mean_over_peak
from heddle.reproduce.usage_feedback.figures import use_over_time
from heddle.reproduce.usage_feedback.settings import Settings, load_text

GOES_WITH: Final = 0.5  # a correlation from which on one thing is said to go with another


def extreme_fit(settings: Settings) -> Part:
    known, cluster = settings.known, settings.cluster("cluster_b")
    of_form = _fitting_days(settings)
    days = {_name(*key): day for key, day in of_form.items()}
    plan: dict[Hashable, Work] = {}
    for name, day in days.items():
        for policy in (settings.reservation, settings.feedback):
            plan.update(runs_of(name, day, cluster, policy, settings.seeds))
    shown = _name(known["v_a.profile"], ALL_AT_ONCE)
    over_time: dict[str, Work] = {
        policy: whole_run(days[shown], cluster, policy, settings.seeds[0])
        for policy in (settings.reservation, settings.feedback)
    }
    plan.update(over_time.items())
    runs = yield plan
    drawn = {policy: runs[policy] for policy in over_time}
    scores = Scores({name: result for name, result in runs.items() if name not in over_time})
    same = {
        name: verdicts.change_pct(
            scores.metric(name, settings.reservation, "makespan_s"),
            scores.metric(name, settings.feedback, "makespan_s"),
        )
        for name in days
    }
    failed = {name: scores.failed_pct(name, settings.feedback) for name in days}
    seeds = set.intersection(*(set(one) for one in failed.values()))
    mean = {seed: float(np.mean([one[seed] for one in failed.values()])) for seed in seeds}
    tasks = next(iter(days.values())).tasks
    judged = verdicts.limit(mean, known["v_b.failed_limit_pct"], 100.0 / (tasks * len(days)))
    by_name = {name: float(np.mean(list(one.values()))) for name, one in failed.items()}
    rows = tuple((name, f"{np.mean(list(same[name].values())):+.2f}", f"{by_name[name]:.3f}") for name in days)
    by_form = {
        form: float(np.mean([_mean(same[_name(*key)]) for key in of_form if key[0] == form]))
        for form in known.of("ensemble.profiles")
    }
    of_peak = {form: mean_over_peak(levels) for form, levels in known.of("ensemble.profiles").items()}
    low, high = min(by_name, key=lambda name: by_name[name]), max(by_name, key=lambda name: by_name[name])
    return Findings(
        claims=[
            Claim(
                "V-B.1",
                "With reservations that fit exactly, completion is almost that of reservation",
                "almost identical",
                "% change of the makespan",
                verdicts.sameness(same),
                f"How tasks use memory over their life is not published, so {len(by_form)} forms are run: "
                f"{what_forms_say(by_form, of_peak)}",
            ),
            Claim(
                "V-B.2",
                "Few tasks fail",
                f"{known['v_b.failed_pct']:g} % (64 of 17,385)",
                "% of tasks",
                judged,
                f"Limit {known['v_b.failed_limit_pct']:g} %. From {by_name[low]:.3f} % ({low}) to "
                f"{by_name[high]:.3f} % ({high}). {what_decides({key: by_name[_name(*key)] for key in of_form})}",
            ),
        ],
        drawings=[
            drawing
            for policy, run in drawn.items()
            for drawing in use_over_time("Fig. 3", policy, run, f"Reservations that fit exactly, {shown}, one seed.")
        ],
        tables=[
            Table("V-B on every day of the ensemble", ("day", "makespan (% change)", "failed (%)"), rows),
        ],
    )


def _fitting_days(settings: Settings) -> dict[tuple[str, float], Day]:
    """By form of use and load."""
    known = settings.known
    return {
        (profile, load): settings.day(known["v_b.size"], load, known["v_b.median_s"], profile, "extreme-fit")
        for profile in known.of("ensemble.profiles")
        for load in known["v_b.loads"]
    }


def _name(profile: str, load: float) -> str:
    return f"{profile}, {load_text(load)}"


def _mean(seeds: verdicts.Seeds) -> float:
    return float(np.mean(list(seeds.values()))) if seeds else float("nan")


def what_forms_say(change: Mapping[str, float], mean_over_peak: Mapping[str, float]) -> str:
    """Whether the gain goes with how far use stays below its peak: all by form of use over a task's life."""
    text = "; ".join(f"{form} uses {mean_over_peak[form]:.2f} of its peak, {change[form]:+.1f} %" for form in change)
    found = np.corrcoef([mean_over_peak[form] for form in change], list(change.values()))[0, 1]
    if found > GOES_WITH:
        return f"{text}: the further use stays below its peak, the sooner (correlation {found:.2f})."
    return f"{text}: how far use stays below its peak does not decide (correlation {found:.2f})."


def what_decides(values: Mapping[tuple[str, float], float]) -> str:
    """Whether a number depends more on the form of use or on the load: the largest difference with the other fixed."""

    def widest(fixed: int) -> float:
        groups: dict[Any, list[float]] = {}
        for name, value in values.items():
            groups.setdefault(name[fixed], []).append(value)
        return max(max(group) - min(group) for group in groups.values())

    forms, loads = widest(1), widest(0)
    more = "the form of use" if forms > loads else "the load"
    return f"It differs by up to {forms:.3f} points between forms of use and {loads:.3f} between loads: {more} decides."
