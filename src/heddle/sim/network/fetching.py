"""A task fetches what it reads from other nodes before it works (docs/semantics.md, "Network")."""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.view import EVENT_FETCHED
from heddle.sim.codes import FETCHING
from heddle.sim.containers.physics import change_use
from heddle.sim.containers.working import FRESH, begin_work, check_limit
from heddle.sim.log import next_place
from heddle.sim.network.flows import begin_flow, bring_route_forward, end_flow
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.events import tell_levers


@inlined
def _part(total, k, n):
    """total * k // n, without leaving 64 bits."""
    return total // n * k + total % n * k // n


@unit
def write_outputs(sim, stage):
    """All tasks of the stage have finished: writes down the nodes where their output lies, by number, with how many."""
    first = sim.shown.stage_spec["first_task"][stage]
    n_tasks = sim.shown.stage_spec["n_tasks"][stage]
    if n_tasks == 0:
        return 0
    lowest = highest = sim.task["node"][first]
    for task in range(first, first + n_tasks):
        n = sim.task["node"][task]
        lowest, highest = min(lowest, n), max(highest, n)
        sim.bytes_on_node[n] += 1
    place = first
    for n in range(lowest, highest + 1):
        if sim.bytes_on_node[n] > 0:
            sim.output_node[place] = n
            sim.output_tasks[place] = sim.bytes_on_node[n]
            sim.bytes_on_node[n] = 0
            place += 1
    return 0


@inlined
def _add_source(sim, count, n, n_bytes):
    if n_bytes == 0:
        return count
    if sim.bytes_on_node[n] == 0:
        sim.sources[count] = n
        count += 1
    sim.bytes_on_node[n] += n_bytes
    return count


@unit
def find_sources(sim, s):
    """Lists the nodes from which slot s reads, with the bytes in bytes_on_node; how many."""
    view = sim.shown
    task, stage = sim.slot["task"][s], view.container["stage"][s]
    count = 0
    if sim.input_bytes.shape[0] > 0 and sim.prefers.shape[0] > 0 and sim.prefers[task] >= 0:
        count = _add_source(sim, count, sim.prefers[task], sim.input_bytes[task])
    if sim.edge_bytes.shape[0] == 0:
        return count
    number, n_tasks = task - view.stage_spec["first_task"][stage], view.stage_spec["n_tasks"][stage]
    first = view.stage_spec["first_after"][stage]
    for edge in range(first, first + view.stage_spec["n_after"][stage]):
        total = sim.edge_bytes[edge]
        share = _part(total, number + 1, n_tasks) - _part(total, number, n_tasks)
        writers = view.stage_spec["n_tasks"][sim.after[edge]]
        place = view.stage_spec["first_task"][sim.after[edge]]
        counted, before = 0, 0
        while share > 0 and counted < writers:
            counted += sim.output_tasks[place]
            until = _part(share, counted, writers)
            count = _add_source(sim, count, sim.output_node[place], until - before)
            before = until
            place += 1
    return count


@unit
def begin_fetching(sim, s):
    """Slot s may begin: if it reads from other nodes it fetches, from the end of this instant on. Whether it does."""
    slot = sim.slot
    own = sim.shown.container["node"][s]
    count = find_sources(sim, s)
    remote, local = 0, 0
    for k in range(count):
        n = sim.sources[k]
        if n == own:
            local += sim.bytes_on_node[n]
        else:
            remote += sim.bytes_on_node[n]
        sim.bytes_on_node[n] = 0
    if remote == 0:
        sim.control["local_bytes"][0] += local
        return 0
    slot["local_bytes"][s] = local
    slot["phase"][s] = FETCHING
    slot["fetching_since_ms"][s] = sim.shown.clock["now_ms"][0]
    slot["first_flow"][s] = -1
    slot["fetched_bytes"][s] = slot["cross_rack_bytes"][s] = 0
    if sim.setting["has_use"][0]:
        change_use(sim, s, sim.task_spec["first_segment"][slot["task"][s]], True, False)
        check_limit(sim, s)
    slot["listed"][s] = 1
    sim.fetchers[sim.control["n_fetchers"][0]] = s
    sim.control["n_fetchers"][0] += 1
    return 1


@inlined
def begin_task(sim, s):
    """Slot s has all that it waited for: it fetches or, if there is nothing to fetch, works."""
    if sim.setting["network"][0] == 0 or begin_fetching(sim, s) == 0:
        begin_work(sim, s, FRESH)


@unit
def begin_flows(sim):
    """The flows of one of the slots that are to fetch begin."""
    slot, route = sim.slot, sim.route
    sim.control["n_fetchers"][0] -= 1
    s = sim.fetchers[sim.control["n_fetchers"][0]]
    slot["listed"][s] = 0
    own = sim.shown.container["node"][s]
    # Routes to this node, by source.
    i = sim.link["first"][2 * own + 1]
    while i >= 0:
        sim.route_from[route["source"][i]] = i + 1
        i = route["next"][i, 1]
    for k in range(find_sources(sim, s)):
        n = sim.sources[k]
        if n != own:
            begin_flow(sim, s, sim.route_from[n] - 1, n, sim.bytes_on_node[n])
        sim.bytes_on_node[n] = 0
    i = sim.link["first"][2 * own + 1]
    while i >= 0:
        sim.route_from[route["source"][i]] = 0
        i = route["next"][i, 1]
    return 0


@compiled
def _count_fetch(sim, s):
    """Slot s fetches no more, one way or another."""
    slot, control = sim.slot, sim.control
    now = sim.shown.clock["now_ms"][0]
    slot["fetched_at_ms"][s] = now
    control["fetch_ms"][0] += now - slot["fetching_since_ms"][s]
    control["moved_bytes"][0] += slot["fetched_bytes"][s]
    control["cross_rack_bytes"][0] += slot["cross_rack_bytes"][s]
    if sim.setting["logging"][0]:
        slot["fetched_place"][s] = next_place(sim)


@unit
def end_fetching(sim, s):
    """The last flow of slot s has ended: it works."""
    _count_fetch(sim, s)
    sim.control["local_bytes"][0] += sim.slot["local_bytes"][s]
    begin_work(sim, s, FRESH)
    if sim.setting["listens"][0] >> EVENT_FETCHED & 1 and sim.slot["host"][s] < 0:
        tell_levers(sim, EVENT_FETCHED, sim.shown.container["node"][s], sim.shown.container["stage"][s], s, 0)
    return 0


@unit
def stop_fetching(sim, s):
    """Slot s ends while it fetches: what has not been moved stays where it is."""
    slot, control = sim.slot, sim.control
    if slot["listed"][s]:
        slot["listed"][s] = 0
        k = 0
        while sim.fetchers[k] != s:
            k += 1
        control["n_fetchers"][0] -= 1
        sim.fetchers[k] = sim.fetchers[control["n_fetchers"][0]]
    while slot["first_flow"][s] >= 0:
        f = slot["first_flow"][s]
        bring_route_forward(sim, sim.flow["route"][f])
        end_flow(sim, f)
    _count_fetch(sim, s)
    return 0
