"""V-C: the damping factor from 0 to 1, for reservations that fit exactly and for those of users."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

import numpy as np

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Table, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Part, Scores, Work, runs_of
from heddle.reproduce.usage_feedback.budget import budget
from heddle.reproduce.usage_feedback.settings import Settings
from heddle.reproduce.verdicts import Judgement, Seeds

FIT, USERS = "extreme fit", "users' requests"
Points = Mapping[float, Seeds]  # by damping
Forms = Mapping[str, Points]  # by form of use over a task's life
FINER_PCT: Final = 1.0  # beside the width of sameness: what falls little has fallen to within that early


def damping_factor(settings: Settings) -> Part:
    known, cluster = settings.known, settings.cluster("cluster_b")
    dampings: list[float] = settings.lab.size(known["v_c.dampings"], known["v_c.dampings_quick"])
    given = known["v_b.size"], known["v_c.load"], known["v_b.median_s"]
    forms = list(known.of("ensemble.profiles"))
    days = {(FIT, form): settings.day(*given, form, "extreme-fit") for form in forms}
    days |= {(USERS, form): settings.day(*given, form) for form in forms}
    plan: dict[Hashable, Work] = {}
    for name, day in days.items():
        for policy in (*map(settings.damped, dampings), settings.tuned):
            plan.update(runs_of(name, day, cluster, policy, settings.seeds))
    scores = Scores((yield plan))

    def by_form(kind: str, what: str) -> dict[str, dict[float, dict[int, float]]]:
        def seeds(form: str, policy: str) -> dict[int, float]:
            name = kind, form
            return scores.failed_pct(name, policy) if what == "failed" else scores.metric(name, policy, "makespan_s")

        return {form: {a: seeds(form, settings.damped(a)) for a in dampings} for form in forms}

    failed = {kind: by_form(kind, "failed") for kind in (FIT, USERS)}
    makespan = {kind: by_form(kind, "makespan") for kind in (FIT, USERS)}
    one = {kind: 100.0 / days[kind, forms[0]].tasks for kind in (FIT, USERS)}
    published = {FIT: known["v_c.fails_from_fit"], USERS: known["v_c.fails_from_users"]}
    claims = [
        _begins(f"V-C.{n}", kind, failed[kind], published[kind], one[kind]) for n, kind in enumerate(published, 1)
    ]
    claims.append(_earlier(failed, published, one))
    claims += [
        _stops(f"V-C.{n}", kind, makespan[kind], known["v_c.stops_falling"]) for n, kind in enumerate(makespan, 4)
    ]
    found = Findings(
        claims=claims,
        drawings=[
            draw_curves(
                "Fig. 4: failed tasks over the damping factor", "damping", "failed tasks (%)",
                [Curve.of_seeds(kind, _over_forms(failed[kind])) for kind in failed],
                "Mean over forms of use and seeds with its 95 % interval; vertical lines: where the paper sees "
                "failures begin.",
                marks=[(f"paper: {kind}", published[kind]) for kind in failed],
            ),
            draw_curves(
                "Fig. 4: completion over the damping factor", "damping", "makespan (h)",
                [
                    Curve.of_seeds(kind, {a: _scaled(s, 1 / 3600) for a, s in _over_forms(makespan[kind]).items()})
                    for kind in makespan
                ],
                "Mean over forms of use and seeds with its 95 % interval; vertical line: where it stops falling in the "
                "paper.",
                marks=[("paper: stops falling", known["v_c.stops_falling"])],
            ),
        ],
        tables=[_by_form(failed, makespan, published, one)],
    )  # fmt: skip
    names = {f"{kind}, {form}": (kind, form) for kind, form in days}
    found.add(budget(settings, scores, names, [a for a in dampings if a > 0], "budget", "on the days of V-C"))
    return found


def _begins(id_: str, kind: str, failed: Forms, paper: float, one: float) -> Claim:
    first = {form: first_failing(points, one) for form, points in failed.items()}
    said = ", ".join(f"{form} {mean_text(seeds, 3)}" if seeds else f"{form} never" for form, seeds in first.items())
    return Claim(
        id_,
        f"Failures begin at a damping of (reservations: {kind})",
        f"{paper:g}",
        "damping",
        begins_there(failed, paper, one),
        "On each seed, where one task fails and some do from there on, read between the points of the grid. By form of "
        f"use: {said}. At the paper's {paper:g} fail: {_rates(failed, paper)}.",
    )


def _rates(failed: Forms, damping: float) -> str:
    return ", ".join(f"{form} {_mean(points[damping]):.3f} %" for form, points in failed.items())


def begins_there(failed: Forms, paper: float, one: float) -> Judgement:
    """Whether failures begin near the paper's damping, in the forms of use in which tasks fail at all.

    These must be more than half of the forms. Between two points of the grid failures may begin anywhere, so that the
    verdict must be the same with the point below; where the first one above 0 is itself near the paper's, the grid is
    too coarse to judge by.
    """
    first = {form: first_failing(points, one) for form, points in failed.items()}
    everywhere = {form: seeds for form, seeds in first.items() if len(seeds) == len(_seeds(failed[form]))}
    grid = sorted(next(iter(failed.values())))
    smallest = min(damping for damping in grid if damping > 0)
    if smallest > paper * (1 - verdicts.NEAR_POINT) and any(v <= smallest for s in first.values() for v in s.values()):
        return verdicts.not_judged(everywhere or first)
    if not everywhere:
        return Judgement("point", verdicts.Verdict.NOT_REPRODUCED, None, None)
    judged = verdicts.point(everywhere, paper)
    below = {
        form: {s: max(a for a in grid if a < value) for s, value in seeds.items()} for form, seeds in everywhere.items()
    }
    surely = verdicts.point(below, paper).verdict is judged.verdict
    return verdicts.only_if(judged, surely and len(everywhere) > verdicts.PART_OF_ENSEMBLE * len(failed))


def _earlier(failed: Mapping[str, Forms], published: Mapping[str, float], one: Mapping[str, float]) -> Claim:
    first = {kind: {form: first_failing(p, one[kind]) for form, p in forms.items()} for kind, forms in failed.items()}
    by = {
        form: {seed: first[USERS][form][seed] - value for seed, value in seeds.items() if seed in first[USERS][form]}
        for form, seeds in first[FIT].items()
    }
    both = {form: seeds for form, seeds in by.items() if seeds}
    at = published[FIT]
    judged = verdicts.effect(both, published[USERS] - published[FIT]) if both else verdicts.not_judged({"": {}})
    said = ", ".join(f"{form} {mean_text(seeds, 3)}" for form, seeds in both.items()) or "in no form both fail"
    return Claim(
        "V-C.3",
        "Reservations that fit exactly fail at a lower damping than users' reservations",
        f"{published[FIT]:g} against {published[USERS]:g}",
        "lower",
        judged,
        f"By form of use in which both fail: {said}. At a damping of {at:g} fail where reservations fit: "
        f"{_rates(failed[FIT], at)}; of users': {_rates(failed[USERS], at)}.",
    )


def _stops(id_: str, kind: str, makespan: Forms, paper: float) -> Claim:
    stops = {form: stops_falling(points) for form, points in makespan.items()}
    later = {form: [_mean(seeds) for a, seeds in points.items() if a >= paper] for form, points in makespan.items()}
    apart = {form: 100 * (max(values) / min(values) - 1) for form, values in later.items()}
    widest = max(apart, key=lambda form: apart[form])
    said = ", ".join(
        f"{form} {mean_text(seeds, 3)} ({_change(makespan[form]):+.1f} %)" for form, seeds in stops.items()
    )
    return Claim(
        id_,
        f"Completion falls until a damping, then stays (reservations: {kind})",
        f"until {paper:g}",
        "damping",
        verdicts.only_if(verdicts.point(stops, paper), apart[widest] <= verdicts.SAME_PCT),
        f"On each seed, the smallest damping after which no makespan is more than {verdicts.SAME_PCT:g} % shorter. By "
        f"form of use, with the change from the least to the highest damping: {said}. From {paper:g} on means differ "
        f"by at most {apart[widest]:.1f} % ({widest}). {what_a_finer_width_says(makespan, paper)}",
    )


def what_a_finer_width_says(makespan: Forms, paper: float) -> str:
    """Whether the width of sameness is what decides where falling stops."""
    usual = verdicts.point({form: stops_falling(points) for form, points in makespan.items()}, paper)
    finer = verdicts.point({form: stops_falling(points, FINER_PCT) for form, points in makespan.items()}, paper)
    says = f"With {FINER_PCT:g} % in place of {verdicts.SAME_PCT:g} it stops at {finer.measured or 0:.3f}:"
    if finer.verdict is usual.verdict:
        return f"{says} the width does not decide the verdict."
    return f"{says} {finer.verdict.value}, so that the width decides."


def _change(points: Points) -> float:
    return 100 * (_mean(points[max(points)]) / _mean(points[min(points)]) - 1)


def _by_form(
    failed: Mapping[str, Forms], makespan: Mapping[str, Forms], published: Mapping[str, float], one: Mapping[str, float]
) -> Table:
    rows = []
    for kind, forms in failed.items():
        for form, points in forms.items():
            first = first_failing(points, one[kind])
            rows.append(
                (
                    kind,
                    form,
                    mean_text(first, 3) if first else "never",
                    f"{_mean(points[published[kind]]):.3f}",
                    f"{_mean(points[max(points)]):.3f}",
                    mean_text(stops_falling(makespan[kind][form]), 3),
                    f"{_change(makespan[kind][form]):+.1f}",
                )
            )
    heads = (
        "reservations", "form of use", "failures begin at", "failed at the paper's damping (%)", "failed at 1 (%)",
        "completion falls until", "makespan, 0 to 1 (%)",
    )  # fmt: skip
    return Table("V-C by the form of use over a task's life", heads, tuple(rows), "All at once, medium containers.")


def first_failing(failed: Points, one: float) -> dict[int, float]:
    """Of each seed, where one task fails and some do at every damping from there on, read between the grid's points.

    `one` is one task in percent of all. Nothing where the largest damping does not fail.
    """
    found = {}
    for seed in _seeds(failed):
        above = None
        for damping in sorted(failed, reverse=True):
            if failed[damping][seed] == 0:
                if above is not None:
                    found[seed] = damping + (above - damping) * min(1.0, one / failed[above][seed])
                break
            above = damping
    return found


def stops_falling(makespan: Points, within_pct: float = verdicts.SAME_PCT) -> dict[int, float]:
    """Of each seed, the smallest damping after which no makespan is more than so much shorter."""
    part = 1 - within_pct / 100
    return {
        seed: min(
            damping
            for damping, spans in makespan.items()
            if all(later[seed] >= part * spans[seed] for at, later in makespan.items() if at > damping)
        )
        for seed in _seeds(makespan)
    }


def _over_forms(forms: Forms) -> dict[float, dict[int, float]]:
    """Of each damping and seed, the mean over forms."""
    dampings = next(iter(forms.values()))
    return {
        damping: {
            seed: float(np.mean([points[damping][seed] for points in forms.values()]))
            for seed in set.intersection(*(set(points[damping]) for points in forms.values()))
        }
        for damping in dampings
    }


def _seeds(points: Points) -> list[int]:
    """Those that ended at every damping."""
    return sorted(set.intersection(*(set(seeds) for seeds in points.values())))


def _mean(seeds: Seeds) -> float:
    return float(np.mean(list(seeds.values()))) if seeds else float("nan")


def _scaled(seeds: Seeds, factor: float) -> dict[int, float]:
    return {seed: value * factor for seed, value in seeds.items()}
