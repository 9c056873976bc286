"""From workload, cluster and policy to the engine's tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import CPU_RULES, OOM_RULES, Cluster, Observation
from heddle.model.draw import STREAM_NODE_HEARTBEAT, STREAM_SLOW_NODE, STREAM_USAGE_REPORT, draw
from heddle.model.view import EVENT_REPORTED, LeverState, View, view_dtypes
from heddle.model.workload import AM, EXECUTORS, NO_PREFERENCE, NO_SEGMENTS, NOT_RUNNING, Workload
from heddle.policy.lever import Lever, Question
from heddle.policy.policy import Policy, Setup
from heddle.sim import codes
from heddle.sim.memory import tables
from heddle.sim.memory.network_setup import FIRST_FLOWS, declared, network_memory, network_setting
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.memory.tables import Levers, Sim

QUIET_MS = 3_600_000  # an hour of reports and heartbeats without progress: nothing will come
QUIET_WITH_FAULTS_MS = 30 * 24 * 3_600_000  # nodes come and go meanwhile
LOG_ROWS = 1 << 18


def _csr(owner: npt.NDArray[Any], n_owners: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Offsets per owner, and the order that sorts by owner."""
    first = np.zeros(n_owners + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=n_owners), out=first[1:])
    return first, np.argsort(owner, kind="stable")


def _reverse(
    rows: npt.NDArray[Any], targets: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """CSR of the reverse of `rows[i] comes after targets[first_after:first_after + n_after]`."""
    if not len(targets):
        return np.zeros(1, np.int32), np.zeros(0, np.int32)
    source = np.repeat(np.arange(len(rows), dtype=np.int32), rows["n_after"])
    first, order = _csr(targets, len(rows))
    return first, source[order]


def _phases(seed: int, stream: int, interval_ms: int, n: int) -> npt.NDArray[np.int64]:
    return np.array([draw(seed, stream, i) % interval_ms if interval_ms else 0 for i in range(n)], np.int64)


def lever_state(lever: Lever, n_nodes: int, n_jobs: int, n_containers: int) -> LeverState:
    """Zeroed memory for a lever, as it declared."""
    columns = lever.columns
    return LeverState(
        table=np.zeros(0, np.int64),
        node=np.zeros((n_nodes if columns.node else 0, columns.node), np.int64),
        job=np.zeros((n_jobs if columns.job else 0, columns.job), np.int64),
        container=np.zeros((n_containers if columns.container else 0, columns.container), np.int64),
    )


def _node_rows(cluster: Cluster, workload: Workload, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    rows = np.zeros(cluster.n_nodes, dtype)
    racks = {name: i for i, name in enumerate(dict.fromkeys(node.rack for node in cluster.nodes))}
    labels = {name: i for i, name in enumerate(workload.labels)}
    for i, node in enumerate(cluster.nodes):
        rows["capacity"][i], rows["allowance"][i] = node.capacity, node.allowance
        rows["rack"][i] = racks[node.rack]
        rows["label"][i] = labels.get(node.label, len(labels))
    rows["total"] = rows["allowance"]
    rows["alive"] = 1
    rows["first_container"] = rows["reserved_for"] = -1
    rows["reported_at_ms"] = -1
    return rows


def _nodes_of(hosts: npt.NDArray[np.int32] | None, workload: Workload, cluster: Cluster) -> npt.NDArray[np.int32]:
    """Nodes in place of the workload's numbers of hosts, one per task; those outside the cluster do not count."""
    if hosts is None:
        return np.zeros(0, np.int32)
    number = {node.name: i for i, node in enumerate(cluster.nodes)}
    node_of_host = np.array([number.get(name, NO_PREFERENCE) for name in workload.hosts] + [NO_PREFERENCE], np.int32)
    return node_of_host[hosts]


def _preferred_by_stage(
    workload: Workload, prefers: npt.NDArray[np.int32], n_nodes: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Per stage, the distinct nodes that some of its tasks prefer."""
    if not len(prefers):
        return np.zeros(len(workload.stages) + 1, np.int64), np.zeros(0, np.int64)
    stage_of_task = np.repeat(np.arange(len(workload.stages)), workload.stages["n_tasks"])
    chosen = prefers != NO_PREFERENCE
    pairs = np.unique(stage_of_task[chosen] * n_nodes + prefers[chosen])
    first, _ = _csr(pairs // n_nodes, len(workload.stages))
    return first.astype(np.int64), pairs % n_nodes


def _slot_count(workload: Workload, cluster: Cluster) -> int:
    """A first guess of how many containers live at once; the engine asks for more when it needs them."""
    smallest = np.maximum(workload.shapes.min(axis=0), 1) if len(workload.shapes) else np.ones(len(workload.resources))
    per_resource = np.array(cluster.total_allowance()) // smallest
    return int(min(len(workload.tasks), per_resource.min(), 1 << 20)) + _slot_margin(workload) + 16


def _slot_margin(workload: Workload) -> int:
    """The most slots that one step of the engine can take: all inner tasks that a job's executors hold."""
    executors = workload.stages[workload.stages["kind"] == EXECUTORS]
    if not len(executors):
        return 8
    return int((executors["n_tasks"].astype(np.int64) * executors["slots"]).max()) + 8


def _flights(cluster: Cluster) -> int:
    """How many reports of a node can be on their way at once; those that one poll sees count once."""
    return cluster.observation.lag_ms // max(1, cluster.timing.usage_report_ms, cluster.observation.poll_ms) + 3


def check_rows(n_slots: int) -> int:
    """Rows of the log, and attempts, that one step of the engine may write, at most."""
    return 8 * n_slots + 4096


def list_rows(n_slots: int, workload: Workload) -> int:
    """How many stages can ask in one step of the engine: some for each container that ends, and a whole job's."""
    return 4 * n_slots + 4 * int(workload.jobs["n_stages"].max(initial=1)) + 64


def timer_rows(n_slots: int, workload: Workload) -> int:
    """How many timers one step of the engine can set: two for each stage that asks, one for each job that follows."""
    followers = np.bincount(workload.job_after).max() if len(workload.job_after) else 0
    return 2 * list_rows(n_slots, workload) + int(followers)


def build_sim(
    workload: Workload, cluster: Cluster, policy: Policy, seed: int, logging: bool, moves_to: Sequence[str] = ()
) -> Sim:
    """The engine's memory at time 0. `moves_to`: leaves to which jobs may be moved while they run."""
    n_resources = len(workload.resources)
    dtypes = view_dtypes(n_resources)
    n_jobs, n_stages, n_tasks, n_nodes = len(workload.jobs), len(workload.stages), len(workload.tasks), cluster.n_nodes
    levers = policy.by_question
    ordering, sizing, placement = levers[Question.ORDERING], levers[Question.SIZING], levers[Question.PLACEMENT]
    timing, physics, faults, observation = cluster.timing, cluster.physics, cluster.faults, cluster.observation

    total = np.array(cluster.total_allowance(), np.int64)
    queues = QueueTree.of(cluster, workload)
    clock = np.zeros(1, dtypes.clock)
    clock["seed"], clock["allowance"], clock["report_ms"] = seed, total, timing.usage_report_ms
    exclusive = np.array([name in cluster.exclusive for name in workload.resources])
    clock["exclusive"] = exclusive
    clock["counts"] = exclusive | (np.arange(n_resources) == 0) | (cluster.calculator == "dominant")
    node = _node_rows(cluster, workload, dtypes.node)
    queue = np.zeros(len(queues.queues), dtypes.queue)
    queues.fill(queue, total)

    leaf_of = np.array([queues.names.index(name) for name in workload.queues] or [0], np.int64)
    job = np.zeros(n_jobs, dtypes.job)
    job["queue"] = leaf_of[workload.jobs["queue"]]
    job["priority"] = workload.jobs["priority"]
    # Where each job may be, one row for each possibility: first where it begins, then the leaves that it may move to.
    leaves = np.stack([job["queue"], *(np.full(n_jobs, queues.names.index(name)) for name in moves_to)], dtype=np.int64)
    pairs, members = np.unique(leaves * max(1, len(workload.users)) + workload.jobs["user"], return_inverse=True)
    members = members.reshape(leaves.shape)
    job["member"] = members[0]
    member = np.zeros(max(1, len(pairs)), dtypes.member)
    member["queue"][: len(pairs)], member["user"][: len(pairs)] = np.divmod(pairs, max(1, len(workload.users)))
    job["arrived_at_ms"] = -1
    stage = np.zeros(n_stages, dtypes.stage)
    stage["asked_at_ms"] = -1

    n_pools = levers[Question.PARTITION].n_pools
    shape = np.zeros(len(workload.shapes), dtypes.shape)
    shape["demand"] = workload.shapes
    running_on, since = _nodes_of(workload.running_on, workload, cluster), workload.started_at_ms
    running = np.flatnonzero(running_on != NOT_RUNNING)
    stage_of_running = np.repeat(np.arange(n_stages), workload.stages["n_tasks"])[running]
    held = np.zeros_like(node["allowance"])
    np.add.at(held, running_on[running], workload.shapes[workload.stages["shape"][stage_of_running]])
    # Totals are never below what is allocated: they change where a node begins with more than its allowance.
    sizing_changes = sizing.changes != "never" or bool((held > node["allowance"]).any())
    n_slots = _slot_count(workload, cluster) + len(running)
    view = View(
        clock=clock, node=node, queue=queue, member=member, pool=np.zeros(n_pools, dtypes.pool), shape=shape,
        container=np.zeros(n_slots, dtypes.container), job_spec=workload.jobs, job=job,
        stage_spec=workload.stages, stage=stage,
    )  # fmt: skip
    view.container["stage"] = -1

    # Lanes: what the ordering keeps apart. A base is everything, a leaf queue, or a user in a leaf queue.
    if ordering.by_user:
        bases_of_job, base_queue = members, member["queue"]
    elif ordering.by_queue:
        bases_of_job, base_queue = leaves, np.arange(len(queue))
    else:
        bases_of_job, base_queue = np.zeros((1, n_jobs), np.int64), np.zeros(1, np.int32)
    n_bases = len(base_queue)
    leaf_first, leaf_order = _csr(np.asarray(base_queue), len(queue))
    leaf_bases = np.concatenate([leaf_first + len(queue) + 1, leaf_order]).astype(np.int32)
    stage_want = workload.stages["shape"].astype(np.int64) * len(workload.labels) + workload.stages["label"]
    if placement.trait(placement.by_stage):
        wants, stage_want = stage_want, np.arange(n_stages)
    else:
        wants, stage_want = np.unique(stage_want, return_inverse=True)
    want = np.zeros(max(1, len(wants)), tables.WANT)
    want["shape"][: len(wants)], want["label"][: len(wants)] = np.divmod(wants, len(workload.labels))
    combos, combos_of_stage = np.unique(
        bases_of_job[:, workload.stages["job"]] * np.int64(len(want)) + stage_want, return_inverse=True
    )
    combos_of_stage = combos_of_stage.reshape(len(bases_of_job), n_stages)
    n_combos = len(combos)
    per_combo = np.bincount(combos_of_stage.ravel(), minlength=n_combos)
    has_gate = "admits" in levers[Question.ADMISSION].hooks
    bucket = np.zeros(max(1, n_pools * n_combos * 2), tables.BUCKET)
    combo_of_bucket = np.tile(np.repeat(np.arange(n_combos), 2), n_pools)
    bucket["gated"][:] = np.arange(len(bucket)) & 1
    if n_combos:
        bucket["lane"] = np.repeat(np.arange(n_pools), 2 * n_combos) * n_bases + combos[combo_of_bucket] // len(want)
        bucket["want"] = combos[combo_of_bucket] % len(want)
        room = np.where(bucket["gated"] & (not has_gate), 0, per_combo[combo_of_bucket])
        bucket["room"] = room
        bucket["offset"][1:] = np.cumsum(room)[:-1]
    else:
        room = np.zeros(1, np.int64)
    lane = np.full(n_pools * n_bases, -1, np.int32).view(tables.LANE)

    stage_run = np.zeros(n_stages, tables.STAGE_RUN)
    stage_run["returned"] = stage_run["bucket"] = -1
    stage_run["after_left"] = workload.stages["n_after"]
    job_run = np.zeros(n_jobs, tables.JOB_RUN)
    for name in ("started_at_ms", "am_started_at_ms", "ended_at_ms", "first_executor"):
        job_run[name] = -1
    job_run["after_left"] = workload.jobs["n_after"]
    counted = ~np.isin(workload.stages["kind"], (AM, EXECUTORS))
    job_run["stages_left"] = np.bincount(workload.stages["job"], weights=counted, minlength=n_jobs)
    task = np.zeros(n_tasks, tables.TASK_RUN)
    task["started_at_ms"] = codes.NEVER
    task["ended_at_ms"] = task["node"] = task["link"] = -1

    node_run = np.zeros(n_nodes, tables.node_run_dtype(n_resources))
    node_run["heartbeat_phase_ms"] = _phases(seed, STREAM_NODE_HEARTBEAT, timing.node_heartbeat_ms, n_nodes)
    node_run["report_phase_ms"] = _phases(seed, STREAM_USAGE_REPORT, timing.usage_report_ms, n_nodes)
    node_run["speed_permille"] = [n.speed_permille for n in cluster.nodes]
    node_run["epoch"] = -1
    for i in range(n_nodes):
        if faults.slow_node_permille and draw(seed, STREAM_SLOW_NODE, i) % 1000 < faults.slow_node_permille:
            node_run["speed_permille"][i] = faults.slow_speed_permille
    levels = [(i, level) for i, n in enumerate(cluster.nodes) for level in n.background]
    level_first, _ = _csr(np.array([i for i, _ in levels], np.int64), n_nodes)
    level = np.array([(level.from_at_ms, *level.use) for _, level in levels], np.int64).reshape(-1, 1 + n_resources)
    node_run["level"] = level_first[:-1]

    before_first, before = _reverse(workload.stages, workload.stage_after)
    job_before_first, job_before = _reverse(workload.jobs, workload.job_after)
    slot = new_slots(n_slots, n_resources)
    size = 1 << max(0, (n_nodes - 1).bit_length())
    tree = np.zeros(2 * size, tables.tree_dtype(n_resources))
    tree["free"], tree["score"] = -1, -(1 << 62)
    tree["node"][size:] = np.arange(size)
    level_at = size
    while level_at > 1:  # among equals the first
        tree["node"][level_at // 2 : level_at] = tree["node"][level_at : 2 * level_at : 2]
        level_at //= 2
    control = np.zeros(1, tables.control_dtype(n_resources))
    control["jobs_left"], control["n_free"] = n_jobs, n_slots
    control["heartbeats_at_ms"] = -1
    control["look_at_ms"] = codes.FOREVER  # until somebody outside says otherwise
    control["next_flow_ms"] = codes.FOREVER
    control["traffic_turn"] = -1
    control["n_free_flows"] = control["n_free_routes"] = FIRST_FLOWS
    control["next_report_ms"] = 0 if observation.poll_ms else node_run["report_phase_ms"].min() + observation.lag_ms
    margin = _slot_margin(workload)
    listens = {question: sum(1 << event for event in lever.listens) for question, lever in levers.items()}
    preemption = cluster.preemption
    preempts = preemption.every_ms > 0 and ordering.by_queue and ordering.dues != "none"
    reports_matter = any(bits >> EVENT_REPORTED & 1 for bits in listens.values())
    observed = reports_matter and observation != Observation()
    flights = _flights(cluster) if observed else 0
    reads_containers = sizing.trait(sizing.reads_containers)
    no_data = not len(workload.stage_after) and workload.prefers is None
    setting = np.zeros(1, tables.SETTING)
    values = {
        "seed": seed, "node_heartbeat_ms": timing.node_heartbeat_ms, "am_heartbeat_ms": timing.am_heartbeat_ms,
        "report_ms": max(1, timing.usage_report_ms), "launch_ms": timing.launch_ms, "am_start_ms": timing.am_start_ms,
        "retry_ms": timing.retry_ms, "heartbeat_at_end": timing.heartbeat_at_end and timing.node_heartbeat_ms > 0,
        "oom": OOM_RULES.index(physics.oom), "cpu": CPU_RULES.index(physics.cpu),
        "pmem_check": physics.pmem_check, "max_attempts": physics.max_attempts,
        "am_max_attempts": physics.am_max_attempts, "livelock_crashes": physics.livelock_crashes,
        "ramp_up_limit_permille": cluster.map_reduce.ramp_up_limit_permille,
        "starved_ms": cluster.map_reduce.starved_ms, "task_failure_permyriad": faults.task_failure_permyriad,
        "node_mtbf_ms": 1000 * faults.node_mtbf_s, "node_repair_ms": 1000 * faults.node_repair_s,
        "off_switch": cluster.off_switch_per_heartbeat,
        "quiet_ms": QUIET_WITH_FAULTS_MS if faults.node_mtbf_s else QUIET_MS,
        "blocking": ordering.trait(ordering.blocking),
        "reserves": timing.node_heartbeat_ms > 0 and ordering.trait(ordering.reserves),
        "by_queue": ordering.by_queue, "uses_fit": "fit" in ordering.hooks, "has_gate": has_gate,
        "has_order_limits": "allows" in ordering.hooks, "has_vetoes": "allows" in placement.hooks,
        "has_pools": "pool" in levers[Question.PARTITION].hooks,
        # Whether one head of a bucket may be refused where another would not be: then a new head is news for all nodes.
        "heads_differ": has_gate or any("allows" in lever.hooks for lever in (ordering, placement)),
        "veto_ms": round(1000 * float(placement.parameter(placement.waits))) if placement.waits else 0,
        "sizing_changes": sizing_changes,
        "reports_matter": reports_matter, "observed": observed, "poll_ms": observation.poll_ms,
        "lag_ms": observation.lag_ms, "loss_permyriad": observation.loss_permyriad, "flights": flights,
        "container_reports": reads_containers, "key_changes": ordering.changes != "never",
        "score_by_node": placement.score_by == "node" or (placement.score_by == "pair-if-data" and no_data),
        "oracle": sizing.clairvoyant,
        "has_executors": bool((workload.stages["kind"] == EXECUTORS).any()),
        "listens": int(np.bitwise_or.reduce(list(listens.values()))),
        "has_dag": len(workload.stage_after) > 0, "has_job_dag": len(workload.job_after) > 0,
        "has_use": bool((workload.tasks["first_segment"] != NO_SEGMENTS).any()) or sizing.changes != "never",
        "has_preferences": workload.prefers is not None, "logging": logging, "n_bases": n_bases, "n_combos": n_combos,
        "slot_margin": margin, "timer_margin": timer_rows(n_slots, workload), "log_margin": check_rows(n_slots),
        "preemption_every_ms": preemption.every_ms if preempts else 0, "preemption_starved_ms": preemption.starved_ms,
        "preemption_round_permille": preemption.round_permille,
        "fair_dues": ordering.dues == "fair-share", "memory_dues": ordering.dues_in == "memory",
        "tick_ms": math.gcd(*(lever.tick_ms for lever in levers.values())),
        "has_offer": "offer" in ordering.hooks, "has_term": "term" in ordering.hooks,
        **{f"{question}_listens": bits for question, bits in listens.items()},
        **network_setting(cluster),
    }  # fmt: skip
    for name, value in values.items():
        setting[name] = value
    setting["not_plain"] = (setting["preemption_every_ms"] > 0) | (setting["network"] > 0)
    control["blocked_epoch"] = -1

    states = {question: lever_state(lever, n_nodes, n_jobs, n_slots) for question, lever in levers.items()}
    params = {question: np.array(lever.in_thousandths(), np.int64) for question, lever in levers.items()}
    prefers = _nodes_of(workload.prefers, workload, cluster)
    first_preferred, preferred = _preferred_by_stage(workload, prefers, n_nodes)
    for question, lever in levers.items():
        if lever.prepare is not None:
            truth = workload if lever.clairvoyant else None
            said = declared(workload, cluster, prefers, first_preferred, preferred) if lever.reads_declared else None
            table = lever.prepare(Setup(lever, view, states[question], truth, first_preferred, preferred, said))
            if table is not None:
                states[question] = states[question]._replace(table=table)

    log_rows = max(LOG_ROWS, 2 * check_rows(n_slots)) if logging else 1
    return Sim(
        shown=view,
        levers=Levers._make(part for question in Question for part in (states[question], params[question])),
        control=control,
        setting=setting,
        increment=np.array(cluster.increment, np.int64),
        task_spec=workload.tasks,
        segment=workload.segments,
        task=task,
        stage_run=stage_run,
        job_run=job_run,
        node_run=node_run,
        slot=slot,
        due=np.zeros(n_slots, tables.DUE),
        due_place=np.full(n_slots, -1, np.int32),
        timer=np.zeros(2 * timer_rows(n_slots, workload) + 2 * n_nodes, tables.TIMER),
        run=np.zeros(int(room.sum()) + 1, tables.WAITING),
        heap=np.zeros(int(room.sum()) + 1, tables.WAITING),
        bucket=bucket,
        lane=lane,
        want=want,
        stage_combo=combos_of_stage[0].astype(np.int32),
        leaf_bases=leaf_bases,
        queue_tried=np.full(len(queue), -1, np.int64),
        dues=np.zeros(len(queue), tables.dues_dtype(n_resources)),
        called=np.zeros(n_slots if preempts else 0, tables.CALLED),
        after=workload.stage_after,
        before_first=before_first,
        before=before,
        job_before_first=job_before_first,
        job_before=job_before,
        heartbeat_order=np.lexsort((np.arange(n_nodes), node_run["heartbeat_phase_ms"])).astype(np.int32),
        heartbeat_first=np.searchsorted(
            np.sort(node_run["heartbeat_phase_ms"]), np.arange(timing.node_heartbeat_ms + 2)
        ).astype(np.int32),
        report_order=np.lexsort((np.arange(n_nodes), node_run["report_phase_ms"])).astype(np.int32),
        flight=np.zeros((n_nodes * flights, 2 + 2 * n_resources), np.int64),
        flight_container=np.zeros((n_slots * flights if reads_containers else 0, n_resources), np.int64),
        level_first=level_first,
        level=level,
        prefers=prefers,
        running_jobs=np.unique(workload.stages["job"][stage_of_running]).astype(np.int32),
        running_on=running_on,
        running_since_ms=np.zeros(len(running_on), np.int64) if since is None else since,
        **network_memory(workload, cluster, node["rack"], n_slots),
        tree=tree,
        full=np.zeros(len(want), np.int64),
        gained=np.zeros(n_nodes, np.int32),
        stale=np.zeros(n_nodes, np.int32),
        coarse=np.zeros(n_nodes, np.int32),
        touched=np.zeros(n_nodes, np.int32),
        untold=np.zeros(n_nodes, np.int32),
        telling=np.zeros(n_nodes, np.int32),
        endings=np.zeros(4 * n_slots + 16, np.int64),
        starts=np.zeros(2 * n_slots + 16, np.int32),
        asks=np.zeros(list_rows(n_slots, workload), np.int32),
        rekeys=np.zeros(2 * list_rows(n_slots, workload), np.int32),
        scratch=np.zeros(max(n_slots, 3 * len(bucket), 4 * size) + 64, np.int64),
        log=np.zeros(log_rows, tables.LOG_ROW),
        attempt=np.zeros(log_rows, tables.attempt_dtype(n_resources)),
    )


def grown(sim: Sim, workload: Workload) -> Sim:
    """The same memory with twice as many slots and timers, when the engine says that it runs short."""
    before = len(sim.slot)
    after = 2 * before
    slot = new_slots(after, sim.shown.shape["demand"].shape[1])
    slot["next_free"][after - 1] = sim.control["free_slot"][0]
    slot[:before] = sim.slot
    sim.control["free_slot"] = before
    sim.control["n_free"] += after - before
    sim.setting["log_margin"] = check_rows(after)
    sim.setting["timer_margin"] = timer_rows(after, workload)
    log_rows = max(len(sim.log), 2 * check_rows(after)) if sim.setting["logging"][0] else len(sim.log)
    container = np.zeros(after, sim.shown.container.dtype)
    container["stage"] = -1
    container[:before] = sim.shown.container

    def longer(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
        return np.concatenate([array, np.zeros((length - len(array), *array.shape[1:]), array.dtype)])

    states = {
        question: state._replace(container=longer(state.container, after)) if state.container.size else state
        for question in Question
        if (state := getattr(sim.levers, question)) is not None
    }
    return sim._replace(
        shown=sim.shown._replace(container=container),
        levers=sim.levers._replace(**states),
        slot=slot,
        due=longer(sim.due, after),
        called=longer(sim.called, after if len(sim.called) else 0),
        due_place=np.concatenate([sim.due_place, np.full(after - before, -1, np.int32)]),
        timer=longer(sim.timer, 2 * len(sim.timer)),
        endings=longer(sim.endings, 4 * after + 16),
        flight_container=longer(sim.flight_container, len(sim.flight_container) // before * after),
        starts=longer(sim.starts, 2 * after + 16),
        asks=longer(sim.asks, list_rows(after, workload)),
        rekeys=longer(sim.rekeys, 2 * list_rows(after, workload)),
        scratch=longer(sim.scratch, len(sim.scratch) + after),
        fetchers=longer(sim.fetchers, after if len(sim.fetchers) else 0),
        log=longer(sim.log, log_rows),
        attempt=longer(sim.attempt, log_rows),
    )


def new_slots(n_slots: int, n_resources: int) -> npt.NDArray[Any]:
    """Free slots, chained."""
    slot = np.zeros(n_slots, tables.slot_dtype(n_resources))
    slot["host"] = -1
    slot["fetched_at_ms"] = codes.NEVER
    slot["next_free"] = np.arange(1, n_slots + 1)
    return slot
