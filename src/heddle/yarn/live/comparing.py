"""The compiled part of the differ: two looks in columns are compared, in the time that it takes to read both."""

from __future__ import annotations

from typing import Final

from heddle.model.compiled import compiled_live as compiled
from heddle.model.resources import MEMORY, VCORES
from heddle.model.view import EVENT_FINISHED, EVENT_STOPPED

NOTHING: Final = -1
_SAME: Final = -2
_FAILED, _KNOWN = 1, 2
# What is found, in rows of these numbers.
(ENDED, ENDED_KIND, LOST, BACK, ENDED_WITH_NODE, REPORTED, REPORTS, ARRIVED, NEW, N_FOUND) = range(10)


@compiled
def _note(found, counts, which, value):
    found[which, counts[which]] = value
    counts[which] += 1


@compiled
def _is_same(before, i, after, j):
    """A container that was resized counts as one that ended and one that came. So does another attempt."""
    same_size = (
        before["size"][i, MEMORY] == after["size"][j, MEMORY] and before["size"][i, VCORES] == after["size"][j, VCORES]
    )
    same_place = before["node"][i] == after["node"][j] and before["attempt"][i] == after["attempt"][j]
    return same_size and same_place


@compiled
def compare(
    nodes_before, apps_before, held_before, nodes, apps, held, ended,
    was_alive, is_alive, place, of_app, is_first, passed, found, counts,
):  # fmt: skip
    """Fills `found`. Scratch arrays are left as they were: 0 for nodes, -1 for the others."""
    for which in range(N_FOUND):
        counts[which] = 0
    for i in range(nodes_before.shape[0]):
        was_alive[nodes_before["node"][i]] = nodes_before["alive"][i]
    for i in range(nodes.shape[0]):
        is_alive[nodes["node"][i]] = nodes["alive"][i]
    _compare_containers(held_before, held, ended, was_alive, is_alive, place, of_app, found, counts)
    for i in range(nodes_before.shape[0]):
        node = nodes_before["node"][i]
        if was_alive[node] and not is_alive[node]:
            _note(found, counts, LOST, i)
    for i in range(nodes.shape[0]):
        node = nodes["node"][i]
        if is_alive[node]:
            # A node that was never seen before also "returns": the RM forgets lost ones, so the two look the same.
            if not was_alive[node] and not is_first:
                _note(found, counts, BACK, i)
            reports = passed if was_alive[node] else 1
            if reports > 0:
                _note(found, counts, REPORTED, i)
                _note(found, counts, REPORTS, reports)
    for i in range(apps_before.shape[0]):
        of_app[apps_before["app"][i]] = _KNOWN
    for i in range(apps.shape[0]):
        if of_app[apps["app"][i]] != _KNOWN:
            _note(found, counts, ARRIVED, i)
    for i in range(apps_before.shape[0]):
        of_app[apps_before["app"][i]] = NOTHING
    for i in range(nodes_before.shape[0]):
        was_alive[nodes_before["node"][i]] = 0
    for i in range(nodes.shape[0]):
        is_alive[nodes["node"][i]] = 0


@compiled
def _compare_containers(held_before, held, ended, was_alive, is_alive, place, of_app, found, counts):
    """Only those on nodes that are there: the RM may list one of a lost node for a while."""
    for i in range(ended.shape[0]):
        of_app[ended["app"][i]] = NOTHING if ended["well"][i] else _FAILED
    for i in range(held.shape[0]):
        if is_alive[held["node"][i]]:
            place[held["container"][i]] = i
    for i in range(held_before.shape[0]):
        if not was_alive[held_before["node"][i]]:
            continue
        name = held_before["container"][i]
        now = place[name]
        if now >= 0 and _is_same(held_before, i, held, now):
            place[name] = _SAME
        elif not is_alive[held_before["node"][i]]:
            _note(found, counts, ENDED_WITH_NODE, i)
        else:
            # Well, as far as can be seen; but an AM is released, and a failed application takes its containers along.
            failed = held_before["is_am"][i] or of_app[held_before["app"][i]] == _FAILED
            _note(found, counts, ENDED, i)
            _note(found, counts, ENDED_KIND, EVENT_STOPPED if failed else EVENT_FINISHED)
    for i in range(held.shape[0]):
        name = held["container"][i]
        if is_alive[held["node"][i]] and place[name] != _SAME:
            _note(found, counts, NEW, i)
    for i in range(held.shape[0]):
        place[held["container"][i]] = NOTHING
    for i in range(ended.shape[0]):
        of_app[ended["app"][i]] = NOTHING
