"""VI: the authors' prototype on six machines. A query is a chain of MapReduce jobs, and queries follow each other.

"23 % faster" and "44 % faster" are ambiguous: the paper's speed-up factor is a ratio of times, so that 1.23x is 19 %
sooner. Both readings are judged. What a task uses is not published but for two facts: less than 2 GB, and more than the
1 GB at which tasks fail; how many tasks a query has, and how long they are, is lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial

import numpy as np

from heddle.model.cluster import Cluster, Level, Node, Physics, Timing
from heddle.model.resources import MILLI
from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Table, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Part, Work
from heddle.reproduce.usage_feedback.queries import Queries, Times, query_times
from heddle.reproduce.usage_feedback.settings import Settings


def prototype(settings: Settings) -> Part:
    known = settings.known
    cluster, levels = prototype_cluster(settings), known.of("ensemble.profiles")[known["v_a.profile"]]
    stock: str = known["prototype.stock"]
    policies = {"stock": stock, "feedback": f"{stock}+usage-feedback({known['prototype.feedback']})"}
    facts = tuple((name, value) for name, value in known.of("queries").items())
    members = {
        (request, f"{peak} MB used at most, median {median:g} s"): Queries(
            facts, request, peak, median, tuple((until, part) for until, part in levels)
        )
        for request in known["prototype.requests_mb"]
        for peak in known["prototype.peaks_mb"]
        for median in known["prototype.medians_s"]
    }
    plan: dict[Hashable, Work] = {
        (member, label, seed): partial(query_times, queries, cluster, policy, seed)
        for member, queries in members.items()
        for label, policy in policies.items()
        for seed in settings.seeds
    }
    results: Mapping[tuple[tuple[int, str], str, int], Times | None] = yield plan
    ratios = {
        member: {
            seed: np.array(new.seconds) / np.array(old.seconds)
            for seed in settings.seeds
            if (old := results[member, "stock", seed]) and (new := results[member, "feedback", seed])
        }
        for member in members
    }
    small = np.array(
        [queries.is_small(q) for queries in list(members.values())[:1] for q in range(known["queries.queries"])]
    )

    def sooner(request: int, which: object = slice(None)) -> dict[str, dict[int, float]]:
        return {
            name: {seed: float(100 * (1 - ratio[which].mean())) for seed, ratio in by_seed.items()}
            for (wanted, name), by_seed in ratios.items()
            if wanted == request
        }

    claims: list[Claim] = []
    by_request = {request: sooner(request) for request in known["prototype.requests_mb"]}
    for number, request in enumerate(by_request, 1):
        faster = known[f"prototype.faster_{request // 1024}g_pct"]
        for letter, paper, reading in (
            ("a", 100 * (1 - 100 / (100 + faster)), f"a speed-up of {1 + faster / 100:.2f}x"),
            ("b", faster, f"{faster:g} % less time"),
        ):
            claims.append(
                Claim(
                    f"VI.{number}{letter}",
                    f"Queries that request {request // 1024} GB to a task complete sooner, read as {reading}",
                    f"{faster:g} % faster: {paper:.0f} % sooner",
                    "% sooner",
                    verdicts.effect(by_request[request], paper),
                    _by_member(by_request[request]),
                )
            )
    three, two = by_request
    more = {name: {s: v - by_request[three][name][s] for s, v in seeds.items() if s in by_request[three][name]}
            for name, seeds in by_request[two].items()}  # fmt: skip
    few = {f"{request} MB, {name}": seeds for request in by_request for name, seeds in sooner(request, small).items()}
    failed = {
        seed: float(np.mean([found.failed_pct for m in members if (found := results[m, "feedback", seed])]))
        for seed in settings.seeds
    }
    tasks = sum(len(one.jobs(settings.seeds[0]).tasks) for one in members.values())
    claims += [
        Claim(
            "VI.3", f"Requests of {two // 1024} GB gain more than those of {three // 1024} GB",
            f"{known['prototype.faster_2g_pct']:g} against {known['prototype.faster_3g_pct']:g} % faster",
            "% points more", verdicts.order({"": more}), f"{_by_member(more)} {how_many_fit(settings)}",
        ),
        Claim(
            "VI.4", "Queries of many small stages gain nothing", "similar or longer completion times",
            "% sooner", verdicts.sameness(few), f"Of {known['queries.queries']} queries {int(small.sum())}.",
        ),
        Claim(
            "VI.5", "Very few tasks fail", "very few", "% of tasks",
            verdicts.limit(failed, known["v_b.failed_limit_pct"], 100.0 / tasks),
            f"Limit {known['v_b.failed_limit_pct']:g} %.",
        ),
    ]  # fmt: skip
    rows = tuple(
        (
            f"{request} MB",
            name,
            mean_text(by_request[request][name]),
            mean_text({seed: float(np.mean(1 / ratio)) for seed, ratio in ratios[request, name].items()}, 2),
            mean_text(sooner(request, small)[name]),
        )
        for request, name in members
    )
    return Findings(
        claims=claims,
        drawings=[
            draw_curves(
                "Fig. 7: speed-up factor of queries", "time on stock YARN over time with feedback", "below that (%)",
                [_distribution(request, ratios) for request in by_request],
                "All members and seeds; above 1 is faster.",
            )
        ],
        tables=[
            Table(
                "VI: queries on the prototype's cluster",
                ("request", "tasks", "sooner (%)", "speed-up factor", "small stages: sooner (%)"),
                rows,
                f"`{policies['feedback']}` against `{stock}`; mean over {known['queries.queries']} queries, one after "
                "another.",
            )
        ],
    )  # fmt: skip


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


def _distribution(request: int, ratios: Mapping[tuple[int, str], Mapping[int, np.ndarray]]) -> Curve:
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
