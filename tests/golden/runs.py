"""Random run number so-and-so: a small nasty workload, a cluster, a policy, a seed, an executor.

Class A, numbers 0 to 199, is what nobody means to change: sizing by reservation, no lost nodes, policies whose meaning
is settled. So where there are AMs it has no queue ordering without an admission of its own (what presets bring along
may change), no `am-share` unless one leaf has everything, and no labels where shares of queues count.
Class B, numbers 200 to 399, is everything else.
"""

from __future__ import annotations

from dataclasses import dataclass

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload

from .clusters import cluster
from .draws import Draws
from .workloads import workload

CLASS_A = range(200)
CLASS_B = range(200, 400)
UNTIL_MS = 200_000  # some runs never end: nodes that come and go, reduces that are preempted for ever
KNOBS_UNTIL_MS = 60_000

QUEUES = ("capacity", "capacity(reserve=0)", "fair", "drf")
ONE_LEAF = (
    "fifo", "fifo(blocking=0)", "random-order", "sjf", "srpt", "smallest-first", "ffd-dp", "ffd-dp(ties=even)",
    "tetris", "tetris(weight=0.3)", "haste", "haste(urgency=assigned,initial=0)", "haste(progress=finished)",
    "haste-a", "haste-a(aggressiveness=0.5,fitness=0,urgency=assigned)", "dress(theta=0.3)",
    "dress(theta=0.4,basis=available,initial_share=0.5,window_s=2)",
)  # fmt: skip
FITS = ("haste", "haste-a", "tetris", "ffd-dp", "srpt", "smallest-first")
SIZINGS = (
    "borg-default(fraction=0.7)", "usage-feedback", "usage-feedback(damping=0.25)",
    "usage-feedback(damping=0.25,headroom=prototype,young_reports=2)",
    "usage-feedback(damping=0.5,side=worker,forget=1)",
    "usage-feedback(side=worker,young_reports=3,headroom=prototype,forget=1)", "n-sigma(n=2,samples=3)",
    "percentile(percent=80,samples=3)", "max-predictor(n=1,percent=50,samples=2,every=2)", "oracle",
)  # fmt: skip
# Of these a controller outside YARN knows enough.
SIZINGS_OUTSIDE = ("borg-default(fraction=0.6)", "usage-feedback", "usage-feedback(damping=0.25)", "n-sigma(samples=3)")
ADMISSIONS = (
    "admit-all", "max-running(jobs=2)", "admission-control", "admission-control(rule=literal,cold_start=none)",
    "admission-control(backlog=0.7)",
)  # fmt: skip
FAIR_AM_SHARES = ("fair-am-share", "fair-am-share(percent=0.3,shares=dominant)")
AM_SHARE = "am-share(percent=0.3)"
NEAR_DATA = ("delay-locality(wait_s=2)", "near-last", "network-aware")
PLACEMENTS = ("most-free", "first-fit", "best-fit", "random-node", *NEAR_DATA)

KINDS_A = (
    "",
    "dag jobs-after-jobs rounded",
    "heartbeats ams dag jobs-after-jobs",
    "heartbeats ams dag early use",
    "ams early faults use",
    "use background",
    "heartbeats ams executors use background",
    "heartbeats queues rounded dag",
    "heartbeats ams queues executors locality gpu",
    "ams labels gpu dag",
    "heartbeats labels locality executors",
    "heartbeats ams queues preemption executors",
    "ams queues preemption early use",
    "dag locality network",
    "heartbeats ams dag early locality network observation",
    "executors network locality begun",
    "heartbeats ams begun queues",
)
KINDS_B = (
    "sized use background",
    "sized heartbeats ams use background faults",
    "lost-nodes heartbeats ams dag jobs-after-jobs",
    "lost-nodes ams early use faults rounded",
    "presets heartbeats ams queues",
    "presets heartbeats ams queues preemption labels",
    "mixed heartbeats ams queues rounded",
    "mixed presets sized ams queues use gpu",
    "sized presets lost-nodes heartbeats ams queues preemption use background",
    "sized executors ams use background lost-nodes labels locality",
    "sized observation heartbeats ams use background lost-nodes",
    "sized lost-nodes heartbeats ams network locality use early",
    "sized begun use background queues",
)
KINDS_KNOBS = (
    "ams",
    "sized use background ams",
    "queues ams",
    "heartbeats ams sized use lost-nodes faults background observation",
    "heartbeats ams sized use queues observation",
    "heartbeats ams dag early sized use",
    "heartbeats ams executors sized use queues preemption",
)


@dataclass(frozen=True)
class GoldenRun:
    number: int
    features: frozenset[str]
    policy: str
    seed: int
    executor: str
    until_ms: int
    workload: Workload
    cluster: Cluster


def golden_run(number: int) -> GoldenRun:
    draws = Draws(number)
    knobs = number in CLASS_B and number % 4 == 3
    kinds = KINDS_A if number in CLASS_A else KINDS_KNOBS if knobs else KINDS_B
    features = frozenset(kinds[(number // 4 if knobs else number) % len(kinds)].split())
    if number in CLASS_A:
        policy = _settled_policy(draws, features)
    else:
        policy = _knobs_policy(draws, features) if knobs else _other_policy(draws, features)
    if knobs and ("pool" in policy or "dress" in policy):
        features |= {"pool-leaves"}
    machines = cluster(draws, features)
    jobs = workload(draws, features, machines)
    if len(jobs.stage_after) == 0:
        # At 1767ace network-aware writes beyond its table where no stage comes after another: such a run is no record.
        policy = policy.replace("network-aware", "near-last")
    return GoldenRun(
        number,
        features,
        policy,
        draws.between(0, 5),
        "yarn-knobs" if knobs else "native",
        KNOBS_UNTIL_MS if knobs else UNTIL_MS,
        jobs,
        machines,
    )


def _settled_policy(draws: Draws, features: frozenset[str]) -> str:
    # Under labels, and where several leaves divide the cluster, what a share is a share of is about to change.
    often = 950 if "preemption" in features else 650 if "queues" in features else 150
    by_queue = "labels" not in features and draws.often(often)
    admissions = list(ADMISSIONS)
    if "labels" not in features:
        admissions += FAIR_AM_SHARES
    if not features & {"labels", "queues", "rounded"}:
        admissions += [AM_SHARE] * 2
    ordering = draws.pick(*QUEUES) if by_queue else draws.pick(*ONE_LEAF, "srpt", "smallest-first")
    admission = draws.pick(*admissions)
    if not by_queue or (ordering.startswith("capacity") and "ams" not in features):
        admission = draws.pick("", admission)
    elif ordering.startswith("capacity"):
        admission = draws.pick(*ADMISSIONS)
    return _joined(ordering, admission, _pool(draws, ordering), _placement(draws, features))


def _other_policy(draws: Draws, features: frozenset[str]) -> str:
    ordering = draws.pick(*QUEUES, *ONE_LEAF)
    admission = draws.pick("", "", AM_SHARE, *FAIR_AM_SHARES, *ADMISSIONS)
    if "presets" in features:
        ordering, admission = draws.pick(*QUEUES), draws.pick("", "", "", AM_SHARE)
    inside = draws.pick(*FITS) if "mixed" in features else ""
    if inside:
        ordering = draws.pick(*QUEUES)
    sizing = draws.pick(*SIZINGS) if "sized" in features else ""
    return _joined(ordering, inside, admission, sizing, _pool(draws, ordering), _placement(draws, features))


def _knobs_policy(draws: Draws, features: frozenset[str]) -> str:
    """What YARN has knobs for."""
    ordering = draws.pick("fifo", "smallest-first", *QUEUES, *QUEUES)
    admission = draws.pick("", "", "admit-all", "max-running(jobs=2)", AM_SHARE, FAIR_AM_SHARES[0])
    sizing = draws.pick(*SIZINGS_OUTSIDE) if "sized" in features else ""
    return _joined(ordering, admission, sizing, draws.pick("", "", "small-pool(share=0.3,theta=0.3)"))


def _pool(draws: Draws, ordering: str) -> str:
    return "" if "dress" in ordering else draws.pick("", "", "", "", "small-pool(share=0.3,theta=0.5)")


def _placement(draws: Draws, features: frozenset[str]) -> str:
    if "network" in features and features & {"dag", "early"}:
        return draws.pick(*["network-aware"] * 4, *PLACEMENTS)
    if features & {"network", "locality"}:
        return draws.pick("", *NEAR_DATA, *PLACEMENTS)
    return draws.pick("", "", "", *PLACEMENTS[:5])


def _joined(*levers: str) -> str:
    return "+".join(lever for lever in levers if lever)
