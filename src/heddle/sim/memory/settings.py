"""Settings of a run, each with what gives its value. The engine never writes them."""

from __future__ import annotations

import math

import numpy as np

from heddle.model.cluster import CPU_RULES, OOM_RULES
from heddle.policy.lever import Question
from heddle.sim.memory.declaring import Int64, Row, of_run, of_sizes

QUIET_MS = 3_600_000  # an hour of reports and heartbeats without progress: nothing will come
QUIET_WITH_FAULTS_MS = 30 * 24 * 3_600_000  # nodes come and go meanwhile


class Setting(Row):
    seed: Int64 = of_run(lambda run: run.seed)
    logging: Int64 = of_run(lambda run: run.logging)

    # Time.
    node_heartbeat_ms: Int64 = of_run(lambda run: run.cluster.timing.node_heartbeat_ms)  # 0: all nodes at once
    am_heartbeat_ms: Int64 = of_run(lambda run: run.cluster.timing.am_heartbeat_ms)
    report_ms: Int64 = of_run(lambda run: max(1, run.cluster.timing.usage_report_ms))
    launch_ms: Int64 = of_run(lambda run: run.cluster.timing.launch_ms)
    am_start_ms: Int64 = of_run(lambda run: run.cluster.timing.am_start_ms)
    retry_ms: Int64 = of_run(lambda run: run.cluster.timing.retry_ms)
    heartbeat_at_end: Int64 = of_run(lambda run: run.has_heartbeats and run.cluster.timing.heartbeat_at_end)
    quiet_ms: Int64 = of_run(lambda run: QUIET_WITH_FAULTS_MS if run.cluster.faults.node_mtbf_s else QUIET_MS)

    # Physics and faults.
    oom: Int64 = of_run(lambda run: OOM_RULES.index(run.cluster.physics.oom))
    cpu: Int64 = of_run(lambda run: CPU_RULES.index(run.cluster.physics.cpu))
    pmem_check: Int64 = of_run(lambda run: run.cluster.physics.pmem_check)
    max_attempts: Int64 = of_run(lambda run: run.cluster.physics.max_attempts)
    am_max_attempts: Int64 = of_run(lambda run: run.cluster.physics.am_max_attempts)
    livelock_crashes: Int64 = of_run(lambda run: run.cluster.physics.livelock_crashes)
    task_failure_permyriad: Int64 = of_run(lambda run: run.cluster.faults.task_failure_permyriad)
    node_mtbf_ms: Int64 = of_run(lambda run: 1000 * run.cluster.faults.node_mtbf_s)
    node_repair_ms: Int64 = of_run(lambda run: 1000 * run.cluster.faults.node_repair_s)

    # What the workload has.
    has_dag: Int64 = of_run(lambda run: run.facts.has_dag)
    has_job_dag: Int64 = of_run(lambda run: run.facts.has_job_dag)
    has_executors: Int64 = of_run(lambda run: run.facts.has_executors)
    has_preferences: Int64 = of_run(lambda run: run.workload.prefers is not None)
    has_use: Int64 = of_run(lambda run: run.has_use)
    has_empty: Int64 = of_run(lambda run: run.facts.has_empty)
    has_early: Int64 = of_run(lambda run: run.early.there)
    ramp_up_limit_permille: Int64 = of_run(lambda run: run.cluster.map_reduce.ramp_up_limit_permille)
    preemption_limit_permille: Int64 = of_run(lambda run: run.cluster.map_reduce.preemption_limit_permille)
    no_headroom_delay_ms: Int64 = of_run(lambda run: run.cluster.map_reduce.no_headroom_delay_ms)
    unconditional_delay_ms: Int64 = of_run(lambda run: run.cluster.map_reduce.unconditional_delay_ms)

    # What the policy has.
    has_gate: Int64 = of_run(lambda run: run.has_gate)
    sizing_changes: Int64 = of_run(lambda run: run.sizing_changes)
    foresees: Int64 = of_run(lambda run: run.foresees)
    sizes_with_time: Int64 = of_run(lambda run: run.sizing.depends_on == "time")
    has_pools: Int64 = of_run(lambda run: "pool" in run.partition.hooks)
    blocking: Int64 = of_run(lambda run: run.ordering.trait(run.ordering.blocking))
    blocks_in_job: Int64 = of_run(lambda run: run.ordering.trait(run.ordering.blocks_in_job))
    by_queue: Int64 = of_run(lambda run: run.walk.by_queue)
    by_label: Int64 = of_run(lambda run: run.by_label)
    n_trees: Int64 = of_run(lambda run: len(run.trees.trees))  # of queues
    queues_per_tree: Int64 = of_run(lambda run: len(run.queues.names))
    decommissions: Int64 = of_run(lambda run: run.decommissions)
    reserves: Int64 = of_run(lambda run: run.reserves)  # a form (codes.py)
    reservable_permille: Int64 = of_run(lambda run: run.reservable_permille)
    has_headroom: Int64 = of_run(lambda run: "headroom" in run.walk.hooks)
    has_queue_limits: Int64 = of_run(lambda run: "allows" in run.walk.hooks)
    # Whether anybody asks for what the cluster may promise now, and that moves.
    shares_out: Int64 = of_run(lambda run: run.shares_out)
    key_changes: Int64 = of_run(lambda run: run.ordering.depends_on != "nothing")
    keys_with_time: Int64 = of_run(lambda run: run.ordering.depends_on == "time")
    keeps_containers: Int64 = of_run(lambda run: run.keeps_containers)
    uses_fit: Int64 = of_run(lambda run: "fit" in run.ordering.hooks)
    has_offer: Int64 = of_run(lambda run: "offer" in run.ordering.hooks)
    has_term: Int64 = of_run(lambda run: "term" in run.ordering.hooks)
    has_vetoes: Int64 = of_run(lambda run: "allows" in run.placement.hooks)
    veto_ms: Int64 = of_run(lambda run: run.veto_ms)
    score_by_node: Int64 = of_run(lambda run: run.score_by_node)
    lone_goes_at_once: Int64 = of_run(lambda run: run.lone_goes_at_once)
    # Whether one head of a bucket may be refused where another would not be: then a new head is news for all nodes.
    heads_differ: Int64 = of_run(lambda run: run.heads_differ)
    off_switch: Int64 = of_run(lambda run: run.cluster.off_switch_per_heartbeat)
    tick_ms: Int64 = of_run(lambda run: math.gcd(*(lever.every_ms for lever in run.policy.levers)))
    n_bases: Int64 = of_run(lambda run: run.lanes.n_bases)
    n_combos: Int64 = of_run(lambda run: run.lanes.n_combos)

    # Events, as bits: those that any lever listens to, then those of each.
    listens: Int64 = of_run(lambda run: np.bitwise_or.reduce(list(run.listens.values())))
    queues_listens: Int64 = of_run(lambda run: run.listens[Question.QUEUES])
    admission_listens: Int64 = of_run(lambda run: run.listens[Question.ADMISSION])
    sizing_listens: Int64 = of_run(lambda run: run.listens[Question.SIZING])
    partition_listens: Int64 = of_run(lambda run: run.listens[Question.PARTITION])
    ordering_listens: Int64 = of_run(lambda run: run.listens[Question.ORDERING])
    placement_listens: Int64 = of_run(lambda run: run.listens[Question.PLACEMENT])
    queues_every_ms: Int64 = of_run(lambda run: run.every_ms(Question.QUEUES))
    admission_every_ms: Int64 = of_run(lambda run: run.every_ms(Question.ADMISSION))
    sizing_every_ms: Int64 = of_run(lambda run: run.every_ms(Question.SIZING))
    partition_every_ms: Int64 = of_run(lambda run: run.every_ms(Question.PARTITION))
    ordering_every_ms: Int64 = of_run(lambda run: run.every_ms(Question.ORDERING))
    placement_every_ms: Int64 = of_run(lambda run: run.every_ms(Question.PLACEMENT))

    # Reports, and how they are seen.
    reports_matter: Int64 = of_run(lambda run: run.reports_matter)
    container_reports: Int64 = of_run(lambda run: run.reads_containers)
    observed: Int64 = of_run(lambda run: run.observed)
    poll_ms: Int64 = of_run(lambda run: run.cluster.observation.poll_ms)
    lag_ms: Int64 = of_run(lambda run: run.cluster.observation.lag_ms)
    loss_permyriad: Int64 = of_run(lambda run: run.cluster.observation.loss_permyriad)
    flights: Int64 = of_run(lambda run: run.flights)

    # Preemption.
    preemption_every_ms: Int64 = of_run(lambda run: run.cluster.preemption.every_ms if run.preempts else 0)
    preemption_starved_ms: Int64 = of_run(lambda run: run.cluster.preemption.starved_ms)
    preemption_round_permille: Int64 = of_run(lambda run: run.cluster.preemption.round_permille)
    fair_dues: Int64 = of_run(lambda run: run.walk.dues == "fair-share")
    memory_dues: Int64 = of_run(lambda run: run.walk.dues_in == "memory")

    # Network.
    network: Int64 = of_run(lambda run: run.has_network)
    traffic_permille: Int64 = of_run(lambda run: run.cluster.network.traffic_permille)
    traffic_ms: Int64 = of_run(lambda run: run.cluster.network.traffic_ms)
    not_plain: Int64 = of_run(lambda run: run.preempts or run.has_network)

    # The most that one step of the engine can take: with less left, it asks for more.
    slot_margin: Int64 = of_sizes(lambda n: n.slot_margin)
    timer_margin: Int64 = of_sizes(lambda n: n.timer_margin)
    log_margin: Int64 = of_sizes(lambda n: n.log_margin)
    flow_margin: Int64 = of_sizes(lambda n: n.flow_margin)
