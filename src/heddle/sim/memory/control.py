"""The engine's own scalars: where a run is, how long its lists are, what it has counted."""

from __future__ import annotations

from heddle.sim.codes import FOREVER
from heddle.sim.memory.declaring import Int64, Row, Vector, of_run


class Control(Row):
    # Where the run is.
    phase: Int64  # of the instant (codes.py)
    next_arrival: Int64  # the first job that has not been submitted yet
    jobs_left: Int64 = of_run(lambda run: run.facts.n_jobs)
    block_ends: Int64 = -1  # the row behind the last job in memory, if more are to come; -1: none are
    waiting: Int64  # containers asked for and not allocated
    lone_stage: Int64 = -1  # the stage that asks for one container while nothing else waits (scheduling/lone.py)
    n_due: Int64  # in `due`
    n_timers: Int64  # in `timer`
    free_slot: Int64  # the first of the chain of free slots
    n_free: Int64
    n_log: Int64  # rows in `log` and `attempt` since they were drained
    n_attempts: Int64
    n_places: Int64  # given to what happened, so far
    # Offers.
    walk: Int64  # number of the present walk through lanes; what it passed over is marked with it
    passes: Int64  # instants that came to offers, so far
    rounds: Int64  # the same, whatever ends while offers are made
    epoch: Int64  # changes when there is news for nodes that have been offered everything
    n_fresh: Int64  # nodes that have been offered everything since then
    fresh_epoch: Int64  # the epoch that n_fresh is of
    next_reporter: Int64  # in the order of report phases; without polls
    next_report_ms: Int64 = of_run(lambda run: run.first_report_ms)  # or the next poll
    news: Int64  # something has changed that may let a request through
    changed_in_pass: Int64  # what may go where, while offers were made
    n_alive: Int64 = of_run(lambda run: run.cluster.n_nodes)  # nodes that take containers
    n_gained: Int64  # this and the next two: lengths of lists of nodes
    n_stale: Int64
    n_coarse: Int64
    blocked_epoch: Int64 = -1  # the epoch in which a head that did not fit blocked all others
    blocked_want: Int64  # what that head wants
    n_touched: Int64
    n_untold: Int64
    n_telling: Int64
    telling: Int64  # how many of these have told
    promised_at_ms: Int64 = -1  # when queues were last told what the nodes may promise
    shares_moved: Int64  # of queues, from outside
    # AMs that look at their early stages (containers/early_stages.py).
    n_listeners: Int64  # jobs that look when there is room enough
    room_moved: Int64  # some did, or what the nodes may promise changed, since listeners were last told
    changed_ms: Int64 = -1  # from when on the last of this that they were told is looked at
    looker: Int64 = -1  # the job whose AM has looked last
    looks_begun_ms: Int64 = -1  # the last instant in which AMs have begun to look
    looks_over_ms: Int64 = -1  # the last in which they have looked
    # What one step leaves for settle(): lengths of lists.
    n_endings: Int64
    n_starts: Int64
    n_asks: Int64
    n_rekeys: Int64
    n_no_room: Int64  # of `full`
    # Counts for the record.
    crashed: Int64
    killed: Int64
    retried: Int64
    preempted: Int64
    integrated_at_ms: Int64  # reserved_ms and used_ms are as of then
    last_progress_ms: Int64  # something happened that was not a poll
    offer_node: Int64  # the node whose turn it is; heartbeats: its place in their order, -1 before the first
    offered: Int64  # containers allocated in the present heartbeat
    offer_over: Int64  # the present heartbeat gives nothing more
    heartbeats_at_ms: Int64 = -1  # the last instant in which nodes were offered by heartbeat
    broken: Int64  # a status with which the run ends after this instant; 0: it goes on
    finished: Int64  # tasks
    round_at_ms: Int64  # the last round of preemption
    idle: Int64  # this instant is a poll only: no offers, unless somebody changes something
    tick_at_ms: Int64  # levers were last told that time has passed
    keys_changed: Int64  # a lever says that its keys may be wrong
    look_at_ms: Int64 = FOREVER  # when somebody outside looks next; FOREVER: nobody does
    # Somebody outside who names requests (scheduling/newcomers.py).
    began_to_wait: Int64  # stages that did in this instant
    hears_in_ms: Int64  # so long after a request began to wait; 0: never
    hears_at_ms: Int64 = FOREVER  # of the first that began to wait since the last look
    hold_ms: Int64  # so long a request waits to be named; 0: none does
    # Network.
    next_flow_ms: Int64 = FOREVER  # the first end of a flow, or change of others' traffic
    flows_are_news: Int64  # flows ended: next_flow_ms must be found anew
    n_flows: Int64
    free_flow: Int64  # the first of the chain of free flows
    n_free_flows: Int64
    free_route: Int64
    n_free_routes: Int64
    n_fetchers: Int64
    n_changed_links: Int64
    n_reached_links: Int64
    rates_turn: Int64  # computations of rates, so far
    traffic_turn: Int64 = -1  # the interval that others' traffic is of
    moved_bytes: Int64  # this and the next three: for the record
    cross_rack_bytes: Int64
    local_bytes: Int64
    fetch_ms: Int64
    # Sums over the cluster.
    reserved_ms: Vector
    used_ms: Vector
    reserved_now: Vector
    used_now: Vector
