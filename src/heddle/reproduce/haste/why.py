"""Why claims did not come out: our model, our reading, or what is lost? One thing at a time is changed.

Every row of the tables is the batches of a setting with one change; every column a policy. What a change does not move
is not behind the verdict; where a claim holds with a change, that change is. Nothing here is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from heddle.model.cluster import Cluster, Timing
from heddle.model.resources import MILLI
from heddle.reproduce import verdicts
from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.haste.batches import Batch, JobKind
from heddle.reproduce.haste.measures import allocated, idle, makespan, measure
from heddle.reproduce.haste.settings import FIVE, ITERATIVE, SMALL, Results, Settings, reduces_text, relative
from heddle.reproduce.lab import Findings, Part, Work
from heddle.reproduce.verdicts import Seeds, Verdict

Case = tuple[Batch, Cluster]
Change = Callable[[Case], Case]
ByChange = Mapping[str, Mapping[str, Seeds]]  # of each change and policy, in percent of the reference's

UNCHANGED = "nothing"
EVEN_TIES = "ffd-dp(ties=even)"


def why(settings: Settings) -> Part:
    known = settings.known
    reference: str = known["policy.reference"]
    policies: list[str] = known["why.policies"]
    seeds = settings.lab.scored(known["why.seeds"], known["why.seeds_quick"])
    changes = changes_of(settings)
    cases = {
        (setting, name): given
        for (setting, name), given in settings.batches().items()
        if setting in FIVE and name.endswith(reduces_text(0.0))
    }
    plan: dict[Hashable, Work] = {
        (f"{setting}: {change}", name, policy, seed): partial(measure, *made(given), policy, seed)
        for (setting, name), given in cases.items()
        for change, made in changes.items()
        for policy in (reference, *policies, *(known["why.reserving"] if change == UNCHANGED else ()))
        for seed in seeds
    }
    results: Results = yield plan

    def in_percent(setting: str, policies: Iterable[str], of: Callable[..., float]) -> dict[str, dict[str, Seeds]]:
        return {
            change: {
                policy: _percent(relative(results, f"{setting}: {change}", policy, reference, of))
                for policy in policies
            }
            for change in changes
        }

    tables = []
    for setting in FIVE:
        spans, use, held = (in_percent(setting, (reference, *policies), of) for of in (makespan, allocated, idle))
        rows = [
            (
                change,
                *(
                    "; ".join((mean_text(spans[change][p], 0), _mean(use[change][p]), _mean(held[change][p])))
                    for p in policies
                ),
            )
            for change in changes
        ]
        own = f"haste{'-a' if setting in (ITERATIVE, SMALL) else ''}(urgency={known['policy.urgency_forms'][0]})"
        tables.append(
            Table(
                f"Why: {setting} with one thing changed",
                ("what is changed", *policies),
                tuple(rows),
                f"In percent of {reference}'s: makespan; what is allocated; memory held by idle reduces. {len(seeds)} "
                f"seeds. {what_changes_say(own, known['policy.baselines'], spans, use)}",
            )
        )
    spans = {setting: in_percent(setting, known["why.reserving"], makespan)[UNCHANGED] for setting in FIVE}
    tables.append(_by_reservation(spans, reference, known["why.reserving"]))
    return Findings(tables=tables)


def changes_of(settings: Settings) -> dict[str, Change]:
    """By what the row is called."""
    known = settings.known
    changes: dict[str, Change] = {
        UNCHANGED: lambda case: case,
        "no reduce starts before the maps are done": partial(_batch, slow_start_permille=1000),
        "no heartbeats, no time to launch": _at_once,
        "no AMs": partial(_batch, am=None),
        "half as many nodes": _half_the_nodes,
        "twice as many nodes": _twice_the_nodes,
    }
    for count in known["why.reduces"]:
        changes[f"{count} reduces to a job"] = partial(_kinds, partial(_counted, count))
    for times in known["settings.reduce_memory"]:
        if times:
            changes[reduces_text(times)] = partial(_reduces_of, times)
    return changes


def what_changes_say(own: str, baselines: Iterable[str], spans: ByChange, use: ByChange) -> str:
    """With which changes the paper's claims come out: `own` shortest, most allocated, Fair and Capacity before FIFO."""
    rivals = [policy for policy in baselines if policy in next(iter(spans.values()))]
    even = [EVEN_TIES if policy == "ffd-dp" else policy for policy in rivals]

    def with_which(holds: Callable[[str], bool]) -> str:
        return "; ".join(change for change in spans if holds(change)) or "none of them"

    def beats(values: ByChange, others: Iterable[str], better: str, change: str) -> bool:
        found = values[change]
        judged = verdicts.best(found[own], {o: found[o] for o in others}, "higher" if better == "higher" else "lower")
        return judged.verdict is Verdict.REPRODUCED

    def early(change: str) -> bool:
        return all(
            verdicts.best(spans[change][policy], {"fifo": spans[change]["fifo"]}).verdict is Verdict.REPRODUCED
            for policy in ("fair", "capacity")
        )

    return (
        f"`{own}` has the shortest makespan of the published ones with: "
        f"{with_which(partial(beats, spans, rivals, 'lower'))}. With `{EVEN_TIES}` in place of `ffd-dp`: "
        f"{with_which(partial(beats, spans, even, 'lower'))}. It allocates most with: "
        f"{with_which(partial(beats, use, rivals, 'higher'))}. Fair and Capacity are both ahead of FIFO with: "
        f"{with_which(early)}."
    )


def _by_reservation(spans: Mapping[str, Mapping[str, Seeds]], reference: str, policies: Iterable[str]) -> Table:
    """What Fair's and DRF's way of keeping nodes decides."""
    forms = list(policies)
    rows = tuple((setting, *(mean_text(of[policy], 0) for policy in forms)) for setting, of in spans.items())
    behind = {
        policy: [setting for setting, of in spans.items() if _surely_above(of[policy], 100.0)] for policy in forms
    }
    said = "; ".join(f"{policy}: {', '.join(settings) or 'nowhere'}" for policy, settings in behind.items())
    caption = f"Makespan in percent of {reference}'s, nothing else changed. Surely behind {reference}: {said}."
    return Table("Why: other ways in which Fair and DRF keep nodes", ("setting", *forms), rows, caption)


def _surely_above(seeds: Seeds, least: float) -> bool:
    interval = verdicts.over_seeds({"": seeds})[1]
    return interval is not None and interval[0] > least


def _mean(seeds: Seeds) -> str:
    return mean_text(seeds, 0).partition(" ")[0]


def _percent(ratios: Seeds) -> dict[int, float]:
    return {seed: 100 * value for seed, value in ratios.items()}


def _batch(case: Case, **values: object) -> Case:
    return replace(case[0], **values), case[1]  # type: ignore[arg-type]


def _at_once(case: Case) -> Case:
    return case[0], replace(case[1], timing=Timing())


def _half_the_nodes(case: Case) -> Case:
    batch, cluster = case
    return batch, replace(cluster, nodes=cluster.nodes[: len(cluster.nodes) // 2])


def _twice_the_nodes(case: Case) -> Case:
    batch, cluster = case
    again = tuple(replace(node, name=f"{node.name}-again") for node in cluster.nodes)
    return batch, replace(cluster, nodes=(*cluster.nodes, *again))


def _kinds(change: Callable[[JobKind], JobKind], case: Case) -> Case:
    batch, cluster = case
    return replace(batch, kinds=tuple((name, change(kind)) for name, kind in batch.kinds)), cluster


def _reduces_of(times: float, case: Case) -> Case:
    memory_mb, vcores_milli = case[1].nodes[0].allowance
    return _kinds(lambda kind: kind.with_reduces_of(times).cut_to(memory_mb, vcores_milli // MILLI), case)


def _counted(count: int, kind: JobKind) -> JobKind:
    return replace(kind, reduces=count)
