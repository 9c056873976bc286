"""The compiled part of a look: from the engine's tables to columns.

What there is no room for is counted all the same, so that the caller can come again with more.
"""

from __future__ import annotations

from heddle.model.compiled import compiled_live as compiled
from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.model.view import JOB_ADMITTED, JOB_ARRIVED, JOB_FAILED
from heddle.model.workload import AM, EXECUTORS, TASKS
from heddle.sim.codes import DONE, LAUNCHING

APPS, ASKS, CONTAINERS, ENDED, N_COUNTS = range(5)
_LOST, _RUNNING, _DECOMMISSIONING = 1, 2, 3  # words


@compiled
def look(
    sim, sizes, apps_before, held_before, own_nodes, own_queues, submitted_to, heartbeat_ms,
    nodes, apps, asks, held, queues, ended, counts,
):  # fmt: skip
    """Fills the columns. `sizes`: how large the ResourceManager says that each node is; `..._before`: those of the last
    look; `own_...`: with what never changes; `submitted_to`: the queue that each job came to."""
    for at in range(N_COUNTS):
        counts[at] = 0
    for n in range(nodes.shape[0]):
        nodes[n] = own_nodes[n]
    for q in range(queues.shape[0]):
        queues[q] = own_queues[q]
    _nodes(sim, sizes, nodes)
    _queues(sim, queues)
    _apps(sim, submitted_to, apps, asks, counts)
    for i in range(apps_before.shape[0]):
        job = apps_before["app"][i]
        if not _is_live(sim, job):
            if counts[ENDED] < ended.shape[0]:
                ended["app"][counts[ENDED]] = job
                ended["well"][counts[ENDED]] = sim.shown.job["state"][job] != JOB_FAILED
            counts[ENDED] += 1
    _containers(sim, held, counts)
    if heartbeat_ms:
        _untold(sim, held_before, heartbeat_ms, held, counts)


@compiled
def _is_live(sim, job):
    state = sim.shown.job["state"][job]
    return state in (JOB_ARRIVED, JOB_ADMITTED)


@compiled
def _nodes(sim, sizes, nodes):
    node = sim.shown.node
    for n in range(nodes.shape[0]):
        leaving = sim.node_run["leaving"][n] != 0
        for r in range(2):
            nodes["total"][n, r] = node["allocated"][n, r] if leaving else sizes[n, r]
            nodes["allocated"][n, r] = node["allocated"][n, r]
        # A NodeManager counts its containers' CPU in vcores of its present size, not in the machine's.
        cores = node["containers_used"][n, VCORES] / MILLI
        vcores = max(1, nodes["total"][n, VCORES])
        nodes["container_vcores_used"][n] = cores * vcores / max(1, node["capacity"][n, VCORES])
        nodes["containers_memory_mb"][n] = node["containers_used"][n, MEMORY]
        nodes["used_memory_mb"][n] = node["used"][n, MEMORY]
        nodes["physical_cores_used"][n] = node["used"][n, VCORES] / MILLI
        holds = leaving and node["n_containers"][n] > 0
        nodes["alive"][n] = node["alive"][n] or holds
        nodes["state"][n] = _DECOMMISSIONING if holds else _RUNNING if node["alive"][n] else _LOST


@compiled
def _queues(sim, queues):
    queue = sim.shown.queue
    for q in range(queues.shape[0]):
        of_root = max(1, queue["guarantee"][0, MEMORY]), max(1, queue["maximum"][0, MEMORY])
        queues["guarantee_permille"][q] = queue["guarantee"][q, MEMORY] * MILLI // of_root[0]
        queues["maximum_permille"][q] = queue["maximum"][q, MEMORY] * MILLI // of_root[1]
        queues["user_limit_percent"][q] = queue["user_limit_percent"][q]
        queues["user_limit_factor_milli"][q] = queue["user_limit_factor_milli"][q]
        queues["max_running_jobs"][q] = queue["max_running_jobs"][q]
        for r in range(2):
            queues["guarantee"][q, r] = queue["guarantee"][q, r]
            queues["maximum"][q, r] = queue["maximum"][q, r]


@compiled
def _apps(sim, submitted_to, apps, asks, counts):
    spec = sim.shown.job_spec
    for job in range(sim.shown.job.shape[0]):
        if not _is_live(sim, job):
            continue
        first_ask, first = counts[ASKS], spec["first_stage"][job]
        for stage in range(first, first + spec["n_stages"][job]):
            kind = sim.shown.stage_spec["kind"][stage]
            waiting = sim.shown.stage["waiting"][stage]
            if waiting and (kind in (AM, TASKS, EXECUTORS)):
                if counts[ASKS] < asks.shape[0]:
                    _ask(sim, asks, counts[ASKS], stage - first, stage, waiting)
                counts[ASKS] += 1
        i = counts[APPS]
        counts[APPS] += 1
        if i < apps.shape[0]:
            apps["app"][i] = apps["number"][i] = job
            apps["started_at_ms"][i] = spec["submit_at_ms"][job]
            apps["queue"][i] = sim.shown.job["queue"][job]
            apps["user"][i] = spec["user"][job]
            apps["running"][i] = sim.job_run["begun"][job] != 0
            apps["priority"][i] = spec["priority"][job]
            apps["has_am"][i] = spec["has_am"][job]
            apps["attempt"][i] = 0
            apps["first_ask"][i] = first_ask
            apps["n_asks"][i] = counts[ASKS] - first_ask
            apps["submitted_to"][i] = submitted_to[job]
            apps["iterative"][i] = spec["iterative"][job]
            apps["name"][i] = apps["type"][i] = 0


@compiled
def _ask(sim, asks, a, priority, stage, waiting):
    shape = sim.shown.stage_spec["shape"][stage]
    asks["priority"][a], asks["containers"][a] = priority, waiting
    asks["early"][a], asks["iteration"][a] = _is_early(sim, stage), _round_of(sim, stage)
    for r in range(2):
        asks["size"][a, r] = sim.shown.shape["demand"][shape, r]


@compiled
def _is_early(sim, stage):
    """MapReduce's priorities, and the tags of others, tell it (yarn/live/kinds.py)."""
    return sim.shown.stage_spec["slow_start_permille"][stage] >= 0


@compiled
def _round_of(sim, stage):
    """Told by tags, of iterative jobs."""
    iterative = sim.shown.job_spec["iterative"][sim.shown.stage_spec["job"][stage]]
    return sim.shown.stage_spec["iteration"][stage] if iterative else 0


@compiled
def _containers(sim, held, counts):
    for s in range(sim.shown.container.shape[0]):
        stage = sim.shown.container["stage"][s]
        if stage < 0 or sim.slot["host"][s] >= 0:
            continue
        i = counts[CONTAINERS]
        counts[CONTAINERS] += 1
        if i >= held.shape[0]:
            continue
        task, job = sim.slot["task"][s], sim.shown.stage_spec["job"][stage]
        shape = sim.shown.stage_spec["shape"][stage]
        held["container"][i] = held["number"][i] = task
        held["app"][i] = job
        held["attempt"][i] = sim.task["attempts"][task] - (sim.slot["phase"][s] != LAUNCHING)
        held["node"][i] = sim.shown.container["node"][s]
        held["priority"][i] = stage - sim.shown.job_spec["first_stage"][job]
        held["is_am"][i] = sim.shown.stage_spec["kind"][stage] == AM
        held["early"][i], held["iteration"][i] = _is_early(sim, stage), _round_of(sim, stage)
        for r in range(2):
            held["size"][i, r] = sim.shown.shape["demand"][shape, r]


@compiled
def _untold(sim, held_before, heartbeat_ms, held, counts):
    """Containers that have finished, which no heartbeat has told yet. What an ended job had is gone."""
    # Heartbeats of this very instant come after the look.
    before_now = sim.shown.clock["now_ms"][0] - 1
    for b in range(held_before.shape[0]):
        task, node = held_before["container"][b], held_before["node"][b]
        if sim.task["state"][task] != DONE or sim.task["attempts"][task] != held_before["attempt"][b] + 1:
            continue
        if not sim.shown.node["alive"][node] or not _is_live(sim, held_before["app"][b]):
            continue
        since_ms = (before_now - sim.node_run["heartbeat_phase_ms"][node]) % heartbeat_ms
        if sim.task["ended_at_ms"][task] > before_now - since_ms:
            if counts[CONTAINERS] < held.shape[0]:
                held[counts[CONTAINERS]] = held_before[b]
            counts[CONTAINERS] += 1
