"""V-B, reservations that fit exactly, and V-C, the damping factor from 0 to 1 for both kinds of reservation."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Table
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of, whole_run
from heddle.reproduce.usage_feedback.day import ALL_AT_ONCE, Day
from heddle.reproduce.usage_feedback.figures import use_over_time
from heddle.reproduce.usage_feedback.settings import Settings, load_text
from heddle.reproduce.verdicts import Seeds

FIT, USERS = "extreme fit", "users' requests"


def extreme_fit(settings: Settings) -> Part:
    known, days, cluster = settings.known, _fitting_days(settings), settings.cluster("cluster_b")
    plan: dict[Hashable, Work] = {}
    for name, day in days.items():
        for policy in (settings.reservation, settings.feedback):
            plan.update(runs_of(name, day, cluster, policy, settings.seeds))
    shown = f"{known['v_a.profile']}, {load_text(ALL_AT_ONCE)}"
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
    forms = "; ".join(f"{name} {np.mean(list(seeds.values())):+.1f} %" for name, seeds in same.items())
    low, high = min(by_name, key=lambda name: by_name[name]), max(by_name, key=lambda name: by_name[name])
    return Findings(
        claims=[
            Claim(
                "V-B.1",
                "With reservations that fit exactly, completion is almost that of reservation",
                "almost identical",
                "% change of the makespan",
                verdicts.sameness(same),
                f"How tasks use memory over their life is not published, so four forms are run: {forms}. Flat use "
                "loses (residual reservations come on top of it), use that is below its peak for long gains: "
                "reservation keeps the peak all the time.",
            ),
            Claim(
                "V-B.2",
                "Few tasks fail",
                f"{known['v_b.failed_pct']:g} % (64 of 17,385)",
                "% of tasks",
                judged,
                f"Limit {known['v_b.failed_limit_pct']:g} %. From {by_name[low]:.3f} % ({low}) to "
                f"{by_name[high]:.3f} % ({high}): the form of use over a task's life decides.",
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


def damping_factor(settings: Settings) -> Part:
    known, cluster = settings.known, settings.cluster("cluster_b")
    dampings = settings.lab.size(known["v_c.dampings"], known["v_c.dampings_quick"])
    days = {
        FIT: settings.day(
            known["v_b.size"], known["v_c.load"], known["v_b.median_s"], known["v_c.profile"], "extreme-fit"
        ),
        USERS: settings.day(known["v_b.size"], known["v_c.load"], known["v_b.median_s"], known["v_c.profile"]),
    }
    plan: dict[Hashable, Work] = {}
    for name, day in days.items():
        for damping in dampings:
            plan.update(runs_of(name, day, cluster, settings.damped(damping), settings.seeds))
    scores = Scores((yield plan))
    failed = {name: {a: scores.failed_pct(name, settings.damped(a)) for a in dampings} for name in days}
    makespan = {name: {a: scores.metric(name, settings.damped(a), "makespan_s") for a in dampings} for name in days}
    first = {name: first_failing(failed[name]) for name in days}
    flat = {name: stops_falling(makespan[name]) for name in days}
    published = {FIT: known["v_c.fails_from_fit"], USERS: known["v_c.fails_from_users"]}
    claims = []
    for number, name in enumerate(days, 1):
        begin = first[name]
        says = "never" if begin is None else f"{begin:g}"
        claims.append(
            Claim(
                f"V-C.{number}",
                f"Failures begin at a damping of (reservations: {name})",
                f"{published[name]:g}",
                "damping",
                verdicts.shape(begin is not None and begin > min(dampings), begin),
                f"First damping from which on the 95 % interval of the failure rate stays above 0: {says}; "
                f"at the paper's {published[name]:g} it is {_mean(failed[name][published[name]]):.3f} %.",
            )
        )
    earlier = (first[FIT] or math.inf) < (first[USERS] or math.inf)
    claims.append(
        Claim(
            "V-C.3",
            "Reservations that fit exactly fail at a lower damping than users' reservations",
            "0.1 against 0.175",
            "damping",
            verdicts.shape(earlier, first[FIT]),
            f"Ours: {first[FIT]} against {first[USERS]}.",
        )
    )
    for number, name in enumerate(days, 4):
        bends = min(dampings) < (flat[name] or 0.0) < max(dampings)
        claims.append(
            Claim(
                f"V-C.{number}",
                f"Completion falls until a damping, then stays (reservations: {name})",
                f"until {known['v_c.stops_falling']:g}",
                "damping",
                verdicts.shape(bends, flat[name]),
                f"Smallest damping whose makespan is within {verdicts.SAME_PCT:g} % of the shortest. From damping 0 "
                f"to 1 the makespan changes by {_change(makespan[name], min(dampings), max(dampings)):+.1f} %.",
            )
        )
    marks = [(f"paper: {name}", published[name]) for name in days]
    return Findings(
        claims=claims,
        drawings=[
            draw_curves(
                "Fig. 4: failed tasks over the damping factor", "damping", "failed tasks (%)",
                [Curve.of_seeds(name, failed[name]) for name in days],
                "Mean over seeds with its 95 % interval; vertical lines: where the paper sees failures begin.",
                marks=marks,
            ),
            draw_curves(
                "Fig. 4: completion over the damping factor", "damping", "makespan (h)",
                [
                    Curve.of_seeds(name, {a: _scaled(seeds, 1 / 3600) for a, seeds in makespan[name].items()})
                    for name in days
                ],
                "Mean over seeds with its 95 % interval; vertical line: where it stops falling in the paper.",
                marks=[("paper: stops falling", known["v_c.stops_falling"])],
            ),
        ],
    )  # fmt: skip


def first_failing(failed: Mapping[float, Seeds]) -> float | None:
    """The smallest point from which on the lower bound of the mean stays above 0."""
    first = None
    for point in sorted(failed, reverse=True):
        interval = verdicts.over_seeds({"": failed[point]})[1]
        if interval is None or interval[0] <= 0:
            break
        first = point
    return first


def stops_falling(makespan: Mapping[float, Seeds]) -> float | None:
    """The smallest point whose mean is within 3 % of the smallest mean."""
    means = {point: float(np.mean(list(seeds.values()))) for point, seeds in makespan.items() if seeds}
    if not means:
        return None
    enough = min(means.values()) * (1 + verdicts.SAME_PCT / 100)
    return min(point for point, mean in means.items() if mean <= enough)


def _fitting_days(settings: Settings) -> dict[str, Day]:
    known = settings.known
    return {
        f"{profile}, {load_text(load)}": settings.day(
            known["v_b.size"], load, known["v_b.median_s"], profile, "extreme-fit"
        )
        for profile in known.of("ensemble.profiles")
        for load in known["v_b.loads"]
    }


def _mean(seeds: Seeds) -> float:
    return float(np.mean(list(seeds.values()))) if seeds else float("nan")


def _change(points: Mapping[float, Seeds], start: float, end: float) -> float:
    return 100 * (_mean(points[end]) / _mean(points[start]) - 1)


def _scaled(seeds: Seeds, factor: float) -> dict[int, float]:
    return {seed: value * factor for seed, value in seeds.items()}
