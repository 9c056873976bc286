"""Usage reports that are seen late, by polls, or never (docs/semantics.md, "Observation").

Only where the cluster says so: a report that is seen in the instant in which it is made needs no memory (reports.py).
Here each node has room for the reports that are on their way: `flight`, one row each, and `flight_container` for what
they say of each container. A report that the same poll sees as the one before takes that one's row.
"""

from __future__ import annotations

from heddle.model.compiled import compiled, inlined
from heddle.model.draw import STREAM_OBSERVATION, draw
from heddle.model.workload import PERMYRIAD
from heddle.sim.numba.units import unit
from heddle.sim.scheduling.events import tell_reported

# Columns of a flight: when it is seen, which report of its node it is, then the containers' use and the node's.
SEEN_AT, NUMBER, USE = 0, 1, 2
UNKNOWN = -1  # the report was made before the container was there


@inlined
def _send(sim, n, made_at_ms):
    """Node n makes a report: it is on its way from now on, unless it is lost."""
    setting, node_run = sim.setting, sim.node_run
    number = node_run["numbered"][n]
    node_run["numbered"][n] = number + 1
    chance = setting["loss_permyriad"][0]
    if chance > 0 and draw(setting["seed"][0], STREAM_OBSERVATION, (n << 32) + number) % PERMYRIAD < chance:
        return
    seen_at_ms = made_at_ms + setting["lag_ms"][0]
    if setting["poll_ms"][0] > 0:
        seen_at_ms += -seen_at_ms % setting["poll_ms"][0]
    rows = setting["flights"][0]
    sent = node_run["sent"][n]
    if sent > node_run["unseen"][n] and sim.flight[n * rows + (sent - 1) % rows, SEEN_AT] == seen_at_ms:
        sent -= 1
    place = sent % rows
    node_run["sent"][n] = sent + 1
    flight = n * rows + place
    sim.flight[flight, SEEN_AT] = seen_at_ms
    sim.flight[flight, NUMBER] = number
    n_resources = sim.shown.shape["demand"].shape[1]
    for r in range(n_resources):
        sim.flight[flight, USE + r] = node_run["seen"][n, r]
        sim.flight[flight, USE + n_resources + r] = node_run["seen"][n, r] + node_run["background"][n, r]
    if setting["container_reports"][0]:
        _send_containers(sim, n, place)


@compiled
def _send_containers(sim, n, place):
    view, slot, rows = sim.shown, sim.slot, sim.setting["flights"][0]
    n_resources = view.shape["demand"].shape[1]
    s = view.node["first_container"][n]
    while s >= 0:
        if slot["host"][s] < 0:
            for r in range(n_resources):
                sim.flight_container[s * rows + place, r] = slot["seen"][s, r]
        s = view.container["next"][s]
    s = view.node["first_container"][n]
    while s >= 0:
        host = slot["host"][s]
        if host >= 0:
            for r in range(n_resources):
                sim.flight_container[host * rows + place, r] += slot["seen"][s, r]
        s = view.container["next"][s]


@compiled
def _see(sim, n, until_ms):
    """The reports of node n that are due until then are seen, one after another."""
    view, node_run, rows = sim.shown, sim.node_run, sim.setting["flights"][0]
    n_resources = view.shape["demand"].shape[1]
    while node_run["unseen"][n] < node_run["sent"][n]:
        place = node_run["unseen"][n] % rows
        flight = n * rows + place
        if sim.flight[flight, SEEN_AT] > until_ms:
            return
        node_run["unseen"][n] += 1
        for r in range(n_resources):
            view.node["containers_used"][n, r] = sim.flight[flight, USE + r]
            view.node["used"][n, r] = sim.flight[flight, USE + n_resources + r]
        view.node["reported_at_ms"][n] = sim.flight[flight, SEEN_AT]
        if sim.setting["container_reports"][0]:
            s = view.node["first_container"][n]
            while s >= 0:
                if sim.slot["host"][s] < 0 and sim.flight_container[s * rows + place, 0] != UNKNOWN:
                    for r in range(n_resources):
                        view.container["used"][s, r] = sim.flight_container[s * rows + place, r]
                s = view.container["next"][s]
        stands_for = sim.flight[flight, NUMBER] + 1 - node_run["known"][n]
        node_run["known"][n] += stands_for
        tell_reported(sim, n, stands_for)


@unit
def observe(sim, n, made, until_ms):
    """Brings up to date what is known of node n: reports are made up to number `made`, and seen up to that time.

    All those made now say the same, because whoever changes what node n uses asks for this first.
    """
    node_run = sim.node_run
    for turn in range(node_run["reports"][n], made):
        made_at_ms = node_run["report_phase_ms"][n] + turn * sim.setting["report_ms"][0]
        _see(sim, n, made_at_ms - 1)
        _send(sim, n, made_at_ms)
        node_run["reports"][n] = turn + 1
    _see(sim, n, until_ms)
    return 0


@inlined
def miss_reports(sim, n, until_ms):
    """Node n was lost until then: what would have been seen meanwhile never is."""
    node_run, rows = sim.node_run, sim.setting["flights"][0]
    while node_run["unseen"][n] < node_run["sent"][n]:
        if sim.flight[n * rows + node_run["unseen"][n] % rows, SEEN_AT] > until_ms:
            return
        node_run["unseen"][n] += 1


@inlined
def begin_watching(sim, s, n):
    """A container is new in slot s: no report that is on its way knows it."""
    sim.slot["reports_before"][s] = sim.node_run["known"][n]
    if sim.setting["container_reports"][0]:
        rows = sim.setting["flights"][0]
        for row in range(s * rows, (s + 1) * rows):
            sim.flight_container[row, 0] = UNKNOWN
