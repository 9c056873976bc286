"""V-C: the damping factor from 0 to 1, for reservations that fit exactly and for those of users."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of
from heddle.reproduce.usage_feedback.settings import Settings
from heddle.reproduce.verdicts import Judgement, Seeds

FIT, USERS = "extreme fit", "users' requests"


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
    published = {FIT: known["v_c.fails_from_fit"], USERS: known["v_c.fails_from_users"]}
    claims = [_begins(f"V-C.{number}", name, failed[name], published[name]) for number, name in enumerate(days, 1)]
    claims.append(_earlier(failed, published))
    claims += [
        _stops(f"V-C.{number}", name, makespan[name], known["v_c.stops_falling"]) for number, name in enumerate(days, 4)
    ]
    return Findings(
        claims=claims,
        drawings=[
            draw_curves(
                "Fig. 4: failed tasks over the damping factor", "damping", "failed tasks (%)",
                [Curve.of_seeds(name, failed[name]) for name in days],
                "Mean over seeds with its 95 % interval; vertical lines: where the paper sees failures begin.",
                marks=[(f"paper: {name}", published[name]) for name in days],
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


def _begins(id_: str, name: str, failed: Mapping[float, Seeds], paper: float) -> Claim:
    first = first_failing(failed)
    smallest = min(damping for damping in failed if damping > 0)
    at_once = sum(value == smallest for value in first.values())
    return Claim(
        id_,
        f"Failures begin at a damping of (reservations: {name})",
        f"{paper:g}",
        "damping",
        begins_there(failed, paper),
        f"On each seed, the first damping from which on tasks fail. On {at_once} of {len(_seeds(failed))} seeds that "
        f"is {smallest:g}, the smallest above 0 that was tried. At the paper's {paper:g} "
        f"{_mean(failed[paper]):.3f} % fail.",
    )


def begins_there(failed: Mapping[float, Seeds], paper: float) -> Judgement:
    """Whether failures begin near the paper's damping.

    Where they do at the smallest damping that was tried, they may begin anywhere below it: the verdict must hold with 0
    as well. Where that damping is itself near the paper's, the grid is too coarse to judge by.
    """
    first = first_failing(failed)
    smallest = min(damping for damping in failed if damping > 0)
    if smallest > paper * (1 - verdicts.NEAR_POINT) and smallest in first.values():
        return verdicts.not_judged({"": first})
    judged = verdicts.point({"": first}, paper)
    earliest = {seed: 0.0 if value == smallest else value for seed, value in first.items()}
    surely = verdicts.point({"": earliest}, paper).verdict is judged.verdict
    return verdicts.only_if(judged, surely and len(first) == len(_seeds(failed)))


def _earlier(failed: Mapping[str, Mapping[float, Seeds]], published: Mapping[str, float]) -> Claim:
    first = {name: first_failing(failed[name]) for name in failed}
    by = {seed: first[USERS][seed] - value for seed, value in first[FIT].items() if seed in first[USERS]}
    at = published[FIT]
    return Claim(
        "V-C.3",
        "Reservations that fit exactly fail at a lower damping than users' reservations",
        f"{published[FIT]:g} against {published[USERS]:g}",
        "lower",
        verdicts.effect({"": by}, published[USERS] - published[FIT]),
        f"Ours: {mean_text(first[FIT], 3)} against {mean_text(first[USERS], 3)}. At a damping of {at:g} "
        f"{_mean(failed[FIT][at]):.3f} % fail where reservations fit, and {_mean(failed[USERS][at]):.3f} % of users'.",
    )


def _stops(id_: str, name: str, makespan: Mapping[float, Seeds], paper: float) -> Claim:
    end = {damping: _mean(makespan[damping]) for damping in (min(makespan), max(makespan))}
    change = 100 * (end[max(makespan)] / end[min(makespan)] - 1)
    later = [_mean(seeds) for damping, seeds in makespan.items() if damping >= paper]
    apart = 100 * (max(later) / min(later) - 1)
    return Claim(
        id_,
        f"Completion falls until a damping, then stays (reservations: {name})",
        f"until {paper:g}",
        "damping",
        verdicts.only_if(verdicts.point({"": stops_falling(makespan)}, paper), apart <= verdicts.SAME_PCT),
        f"On each seed, the smallest damping after which no makespan is more than {verdicts.SAME_PCT:g} % shorter. "
        f"From damping {min(makespan):g} to {max(makespan):g} it changes by {change:+.1f} %; from {paper:g} on means "
        f"differ by at most {apart:.1f} %.",
    )


def first_failing(failed: Mapping[float, Seeds]) -> dict[int, float]:
    """Of each seed, the smallest damping from which on tasks fail; nothing where the largest does not fail."""
    found = {}
    for seed in _seeds(failed):
        for damping in sorted(failed, reverse=True):
            if failed[damping][seed] == 0:
                break
            found[seed] = damping
    return found


def stops_falling(makespan: Mapping[float, Seeds]) -> dict[int, float]:
    """Of each seed, the smallest damping after which no makespan is more than 3 % shorter."""
    part = 1 - verdicts.SAME_PCT / 100
    return {
        seed: min(
            damping
            for damping, spans in makespan.items()
            if all(later[seed] >= part * spans[seed] for at, later in makespan.items() if at > damping)
        )
        for seed in _seeds(makespan)
    }


def _seeds(points: Mapping[float, Seeds]) -> list[int]:
    """Those that ended at every damping."""
    return sorted(set.intersection(*(set(seeds) for seeds in points.values())))


def _mean(seeds: Seeds) -> float:
    return float(np.mean(list(seeds.values()))) if seeds else float("nan")


def _scaled(seeds: Seeds, factor: float) -> dict[int, float]:
    return {seed: value * factor for seed, value in seeds.items()}
