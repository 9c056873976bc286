"""Tables of requests that wait: lanes are what the ordering keeps apart, buckets what room is looked for at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heddle.sim.memory.declaring import Int8, Int32, Int64, Row, Vector, of_run
from heddle.sim.memory.queue_tree import QueueTree


def of_trees(rows: Callable[[QueueTree, int], Any]) -> Any:
    """What each tree of queues has, given the number of resources, one behind the other."""
    return of_run(lambda run: run.trees.joined([rows(tree, run.n_resources) for tree in run.trees.trees]))


class Waiting(Row, packed=True):
    """A request in a bucket."""

    key: Int64
    turn: Int32


class Bucket(Row):
    """Requests of one lane that want the same, and that the gate of admission keeps back or not."""

    offset: Int64 = of_run(lambda run: run.lanes.bucket_offset)  # where its room in `run` and in `heap` begins
    head_key: Int64
    head: Int32  # the stage that goes first
    head_turn: Int32
    size: Int32
    room: Int32 = of_run(lambda run: run.lanes.bucket_room)
    run_first: Int32
    run_end: Int32
    heap_size: Int32
    lane: Int32 = of_run(lambda run: run.lanes.bucket_lane)
    want: Int32 = of_run(lambda run: run.lanes.bucket_want)  # distinct (shape, label)
    next: Int32  # in its lane's list of buckets that are not empty
    previous: Int32
    tried: Int32  # the walk in which it was passed over
    held_at: Int64 = -1  # the moment (room.py) at which its head was held back, whatever the node
    gated: Int8 = of_run(lambda run: run.lanes.bucket_gated)


class Lane(Row):
    first: Int32 = -1  # of its buckets that are not empty
    queue: Int32 = of_run(lambda run: run.lanes.lane_queue)
    next: Int32  # in its queue's list of lanes that are not empty, by number
    previous: Int32


class Want(Row):
    tested: Int64  # the pass in which its room was last looked for
    shape: Int32 = of_run(lambda run: run.lanes.want_shape)
    label: Int32 = of_run(lambda run: run.lanes.want_label)  # -1: any node will do
    no_room: Int8  # nothing fits but, perhaps, on nodes that gained room since


class QueueRun(Row):
    """Where in the tree of queues requests wait."""

    tried: Int64 = -1  # the walk in which nothing of it could go
    jobs: Int64  # of a leaf: those that have arrived and not ended
    first_lane: Int32 = -1  # of its lanes that are not empty
    first_child: Int32 = -1  # of its children in or below which requests wait
    next: Int32  # this and the next: in its parent's list of those
    previous: Int32


class QueueShare(Row):
    """What a queue is to have, as an amount or as a share of its parent's; scheduling/promises.py adds it up."""

    guarantee: Vector = of_trees(lambda tree, r: tree.amounts("guarantee", r))  # SHARE: the next counts
    guarantee_permille: Int64 = of_trees(lambda tree, _: tree.permille("guarantee_permille"))
    maximum: Vector = of_trees(lambda tree, r: tree.amounts("maximum", r))
    maximum_permille: Int64 = of_trees(lambda tree, _: tree.permille("maximum_permille"))
    amounts_below: Vector = of_trees(lambda tree, r: tree.amounts_below(r))  # guaranteed to its children


class Dues(Row):
    """What a round of preemption finds out about a queue; plain numbers are of the resource at hand."""

    claimed: Vector  # wanted by requests that could be served
    own: Vector  # what nobody may take from it
    obtain: Vector  # what is still to be called for
    kept: Vector  # what it has without the containers called for
    wanted: Int64
    ideal: Int64
    cap: Int64  # of what it may be given when an amount is shared
    filled: Int64  # what it is given; -1: not served yet
    active: Int64  # a container or a claim is in it or below
    first_slot: Int32  # of a leaf's containers; -1: none
