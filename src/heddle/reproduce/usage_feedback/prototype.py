"""VI: the authors' prototype on six machines. A query is a chain of MapReduce jobs, and queries follow each other.

"23 % faster" and "44 % faster" are ambiguous: the paper's speed-up factor is a ratio of times, so that 1.23x is 19 %
sooner. Both readings are judged. What a task uses is not published but for two facts: less than 2 GB, and more than the
1 GB at which tasks fail; how many tasks a query has, and how long they are, is lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster, Level, Node, Physics, Timing
from heddle.model.resources import MILLI
from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Source, Table, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Part, Work
from heddle.reproduce.usage_feedback.queries import Queries, Times, query_times
from heddle.reproduce.usage_feedback.settings import Settings

Ratios = npt.NDArray[Any]  # of each query


def prototype(settings: Settings) -> Part:
    known = settings.known
    cluster, forms = prototype_cluster(settings), known.of("ensemble.profiles")
    stock: str = known["prototype.stock"]
    feedback = f"{stock}+usage-feedback({known['prototype.feedback']})"
    facts = tuple((name, value) for name, value in known.of("queries").items())
    medians = settings.lab.size(known["prototype.medians_s"], known["prototype.medians_quick_s"])

    def queries(request: int, peak: int, median: float, form: str) -> Queries:
        return Queries(facts, request, peak, median, tuple((until, part) for until, part in forms[form]))

    members = {
        (request, f"{peak} MB used at most, median {median:g} s"): queries(request, peak, median, known["v_a.profile"])
        for request in known["prototype.requests_mb"]
        for peak in known["prototype.peaks_mb"]
        for median in medians
    }
    middle = sorted(known["prototype.peaks_mb"])[len(known["prototype.peaks_mb"]) // 2]
    by_form = {
        (request, form): queries(request, middle, max(medians), form)
        for request in known["prototype.requests_mb"]
        for form in forms
    }
    plan: dict[Hashable, Work] = {}
    for seed in settings.seeds:
        for member, one in members.items():
            for policy in (stock, feedback):
                plan[member, policy, seed] = partial(query_times, one, cluster, policy, seed)
        for key, one in by_form.items():
            plan["form", key, seed] = partial(query_times, one, cluster, feedback, seed)
    results: Mapping[Any, Times | None] = yield plan

    def ratios(member: tuple[int, str], base: tuple[int, str]) -> dict[int, Ratios]:
        """Time with feedback over that of stock YARN, of each query."""
        return {
            seed: np.array(new.seconds) / np.array(old.seconds)
            for seed in settings.seeds
            if (old := results[base, stock, seed]) and (new := results[member, feedback, seed])
        }

    def failed(keys: Sequence[tuple[Hashable, Hashable]]) -> dict[int, float]:
        found = {seed: [times.failed_pct for a, b in keys if (times := results[a, b, seed])] for seed in settings.seeds}
        return {seed: float(np.mean(values)) for seed, values in found.items() if len(values) == len(keys)}

    own = {member: ratios(member, member) for member in members}
    first = known["prototype.requests_mb"][0]
    beside = {
        name: {seed: _sooner(one) for seed, one in ratios((request, name), (first, name)).items()}
        for request, name in members
        if request != first
    }
    n_tasks = sum(len(one.jobs(settings.seeds[0]).tasks) for one in members.values())
    return scored(
        settings, own, beside,
        failed=failed([(member, feedback) for member in members]),
        failed_of={member: failed([(member, feedback)]) for member in members},
        failed_by_form={key: failed([("form", key)]) for key in by_form},
        one_task=100.0 / n_tasks,
        small=np.array([next(iter(members.values())).is_small(query) for query in range(known["queries.queries"])]),
    )  # fmt: skip


def scored(
    settings: Settings,
    own: Mapping[tuple[int, str], Mapping[int, Ratios]],
    beside: Mapping[str, Mapping[int, float]],
    *,
    failed: Mapping[int, float],
    failed_of: Mapping[tuple[int, str], Mapping[int, float]],
    failed_by_form: Mapping[tuple[int, str], Mapping[int, float]],
    one_task: float,
    small: Ratios,
) -> Findings:
    known = settings.known

    def of(request: int, which: Ratios | None = None) -> dict[str, dict[int, float]]:
        return {
            name: {seed: _sooner(one if which is None else one[which]) for seed, one in by_seed.items()}
            for (wanted, name), by_seed in own.items()
            if wanted == request
        }

    by_request = {request: of(request) for request in known["prototype.requests_mb"]}
    claims = [
        claim
        for number, request in enumerate(by_request, 1)
        for claim in _both_readings(
            f"VI.{number}", f"Queries that request {request // 1024} GB to a task complete sooner", by_request[request],
            known[f"prototype.faster_{request // 1024}g_pct"], Source.PAPER,
        )
    ]  # fmt: skip
    three, two = by_request
    more = {
        name: {seed: value - by_request[three][name][seed] for seed, value in seeds.items()}
        for name, seeds in by_request[two].items()
    }
    few = {f"{request} MB, {name}": seeds for request in by_request for name, seeds in of(request, small).items()}
    by_form = ", ".join(
        f"{form} {np.mean([_mean(seeds) for (_, of_form), seeds in failed_by_form.items() if of_form == form]):.3f} %"
        for form in known.of("ensemble.profiles")
    )
    faster = known["prototype.faster_2g_pct"]
    limit = known["v_b.failed_limit_pct"]
    claims += [
        Claim(
            "VI.3", f"Requests of {two // 1024} GB gain more than those of {three // 1024} GB",
            f"{faster:g} against {known['prototype.faster_3g_pct']:g} % faster", "% points more",
            verdicts.order({"": more}), f"{_by_member(more)} {how_many_fit(settings)}",
        ),
        Claim(
            "VI.4", "Queries of many small stages gain nothing", "similar or longer completion times",
            "% sooner", verdicts.sameness(few), f"Of {known['queries.queries']} queries {int(small.sum())}.",
        ),
        Claim(
            "VI.5", "Very few tasks fail", "very few", "% of tasks", verdicts.limit(failed, limit, one_task),
            f"Limit {limit:g} %. By form of use, in the middle of the ensemble: {by_form}.",
        ),
        *_both_readings(
            "VI.6", f"Requests of {two // 1024} GB with feedback against stock YARN with {three // 1024} GB, if that "
            "was the base of both", beside, faster, Source.OURS,
        ),
    ]  # fmt: skip
    rows = tuple(
        (
            f"{request} MB",
            name,
            mean_text(by_request[request][name]),
            mean_text({seed: float(np.mean(1 / one)) for seed, one in by_seed.items()}, 2),
            mean_text(of(request, small)[name]),
            mean_text(dict(failed_of[request, name]), 3),
            mean_text(dict(beside[name])) if request != three else "-",
        )
        for (request, name), by_seed in own.items()
    )
    return Findings(
        claims=claims,
        drawings=[
            draw_curves(
                "Fig. 7: speed-up factor of queries", "time on stock YARN over time with feedback", "below that (%)",
                [_distribution(request, own) for request in by_request],
                "All members and seeds; above 1 is faster.",
            )
        ],
        tables=[
            Table(
                "VI: queries on the prototype's cluster",
                ("request", "tasks", "sooner (%)", "speed-up factor", "small stages: sooner (%)", "failed (%)",
                 f"sooner than stock with {three // 1024} GB (%)"),
                rows,
                f"usage-feedback({known['prototype.feedback']}) against `{known['prototype.stock']}`; mean over "
                f"{known['queries.queries']} queries, one after another.",
            )
        ],
    )  # fmt: skip


def _both_readings(
    id_: str, statement: str, sooner: Mapping[str, Mapping[int, float]], faster: float, source: Source
) -> list[Claim]:
    return [
        Claim(
            f"{id_}{letter}", f"{statement}, read as {reading}", f"{faster:g} % faster: {paper:.0f} % sooner",
            "% sooner", verdicts.effect(sooner, paper), _by_member(sooner) if letter == "a" else "", source,
        )
        for letter, paper, reading in (
            ("a", 100 * (1 - 100 / (100 + faster)), f"a speed-up of {1 + faster / 100:.2f}x"),
            ("b", faster, f"{faster:g} % less time"),
        )
    ]  # fmt: skip


def _sooner(ratios: Ratios) -> float:
    return float(100 * (1 - ratios.mean()))


def _mean(seeds: Mapping[int, float]) -> float:
    return float(np.mean(list(seeds.values()))) if seeds else float("nan")


def _by_member(values: Mapping[str, Mapping[int, float]]) -> str:
    return "; ".join(f"{name}: {mean_text(dict(seeds))}" for name, seeds in values.items()) + "."


def how_many_fit(settings: Settings) -> str:
    """What (5) allows in the end, when the estimate has come down to what is used: containers to a node."""
    known = settings.known
    allowed, said = known["prototype.allowance_mb"], []
    for request in known["prototype.requests_mb"]:
        stock = allowed // request
        fit = {peak: max(stock, (allowed - request) // peak + 1) for peak in known["prototype.peaks_mb"]}
        said.append(f"of {request} MB {stock}, and {', '.join(f'{n} at {peak} MB used' for peak, n in fit.items())}")
    return f"A node takes, by reservation and by (5): {'; '.join(said)}."


def _distribution(request: int, ratios: Mapping[tuple[int, str], Mapping[int, Ratios]]) -> Curve:
    values = np.concatenate([1 / one for (wanted, _), by in ratios.items() if wanted == request for one in by.values()])
    shares = np.linspace(0.0, 1.0, 101)
    return Curve(f"{request // 1024} GB requested", np.quantile(values, shares).tolist(), (100 * shares).tolist())


def prototype_cluster(settings: Settings) -> Cluster:
    given = settings.known.of("prototype")
    background = Level(0, (given["background_mb"], given["background_vcores_milli"]))
    nodes = tuple(
        Node(
            f"node-{number}",
            (given["capacity_mb"], given["capacity_vcores"] * MILLI),
            (given["allowance_mb"], given["allowance_vcores"] * MILLI),
            background=(background,),
        )
        for number in range(given["nodes"])
    )
    timing = Timing(
        usage_report_ms=settings.known["cluster.report_ms"],
        retry_ms=settings.known["cluster.retry_ms"],
        node_heartbeat_ms=given["heartbeat_ms"],
        am_heartbeat_ms=given["heartbeat_ms"],
        launch_ms=given["launch_ms"],
        am_start_ms=given["am_start_ms"],
    )
    physics = Physics(oom=settings.known["cluster.oom"], cpu=settings.known["cluster.cpu"])
    return Cluster(nodes=nodes, timing=timing, physics=physics, name="prototype")
