"""Rows for kinds of requests: a job's stages, and the shapes that they have.

A row that there is no room for is NO_ROOM; nothing is changed then. What a workload declares of a stage is known by its
tasks: of all others first_task is NOTHING.
"""

from __future__ import annotations

from typing import Final

from heddle.model.compiled import compiled_live as compiled
from heddle.model.resources import MEMORY, VCORES
from heddle.model.workload import TASKS
from heddle.yarn.live.live_memory import CONTAINERS, EDGES, FIRST, NOTHING, PLACES, ROOM, SHAPES, STAGES, USED

ROOM_AT_FIRST: Final = 4  # MapReduce: AM, maps, failed maps, reduces
MAY_BE_EARLY: Final = 0  # per mille of the maps: from when on, the application knows and does not tell
UNKNOWN_SHAPE: Final = 0  # of an AM that neither asked nor ran yet
NO_ROOM: Final = -1


@compiled
def is_shape(live, row, memory_mb, vcores):
    return live.shape["demand"][row, MEMORY] == memory_mb and live.shape["demand"][row, VCORES] == vcores


@compiled
def shape_of(live, memory_mb, vcores):
    """The row of a shape of this size, added if need be; NO_ROOM."""
    for row in range(live.counts[SHAPES]):
        if is_shape(live, row, memory_mb, vcores):
            return row
    row = live.counts[SHAPES]
    if row == live.rooms[SHAPES]:
        return NO_ROOM
    live.counts[SHAPES] += 1
    live.shape["demand"][row, MEMORY], live.shape["demand"][row, VCORES] = memory_mb, vcores
    return row


@compiled
def new_block(live, job, room):
    """So many rows of stages, for whose room the caller has seen."""
    first = live.counts[STAGES]
    live.counts[STAGES] += room
    for row in range(first, first + room):
        live.stage_spec["job"][row] = job
        live.stage_spec["slow_start_permille"][row] = -1
        live.stage_spec["first_task"][row] = NOTHING
        live.stage["asked_at_ms"][row] = NOTHING
    live.block[job, FIRST], live.block[job, ROOM] = first, room
    return first


@compiled
def _move_block(live, job):
    """Into one twice as large; the job's containers follow. An application that asks for so many kinds beside those
    that were declared is another one: nothing is declared of it any more."""
    old, room = live.block[job, FIRST], live.block[job, ROOM]
    new = new_block(live, job, 2 * room)
    for i in range(room):
        live.stage_spec[new + i] = live.stage_spec[old + i]
        live.stage[new + i] = live.stage[old + i]
        live.stage_priority[new + i] = live.stage_priority[old + i]
        live.stage_spec["first_task"][new + i], live.stage_spec["n_after"][new + i] = NOTHING, 0
        live.stage["waiting"][old + i] = live.stage["held"][old + i] = 0
    for row in range(live.counts[CONTAINERS]):
        if old <= live.container["stage"][row] < old + room:
            live.container["stage"][row] += new - old


@compiled
def am_stage(live, job, memory_mb, vcores):
    """The AM's stage, now that its size is known; NO_ROOM. What an AM holds is what its stage says: while there is one,
    its size stays."""
    row = live.block[job, FIRST]
    if live.stage["held"][row] == 0 and not is_shape(live, live.stage_spec["shape"][row], memory_mb, vcores):
        shape = shape_of(live, memory_mb, vcores)
        if shape == NO_ROOM:
            return NO_ROOM
        live.stage_spec["shape"][row] = shape
    return row


@compiled
def lay_out(live, job, declared):
    """Rows for the stages that are declared of a new job, behind its AM; the caller has seen to their room."""
    for i in range(declared.shape[0]):
        row, size = live.block[job, FIRST] + live.block[job, USED], declared["size"]
        spec = live.stage_spec
        spec["kind"][row], spec["shape"][row] = TASKS, shape_of(live, size[i, MEMORY], size[i, VCORES])
        spec["slow_start_permille"][row] = declared["slow_start_permille"][i]
        spec["iteration"][row], spec["n_tasks"][row] = declared["iteration"][i], declared["n_tasks"][i]
        spec["first_after"][row], spec["n_after"][row] = live.counts[EDGES], declared["n_after"][i]
        spec["first_task"][row] = live.counts[PLACES]
        live.counts[EDGES] += declared["n_after"][i]
        live.counts[PLACES] += declared["n_tasks"][i]
        live.stage_priority[row] = declared["priority"][i]
        live.block[job, USED] += 1
    note_stages(live, job)


@compiled
def _is_untouched(live, row):
    """Whether it is declared, and nothing of it has been seen: the application may ask for another size than that."""
    declared = live.stage_spec["first_task"][row] != NOTHING
    return declared and live.stage["asked_at_ms"][row] < 0 and live.stage["held"][row] + live.stage["done"][row] == 0


@compiled
def kind_stage(live, job, has_am, request):
    """The stage of the kind that this row of asks or containers is of, added if need be; NO_ROOM."""
    priority, memory_mb, vcores = request["priority"], request["size"][MEMORY], request["size"][VCORES]
    first, used = live.block[job, FIRST], live.block[job, USED]
    for row in range(first + (1 if has_am else 0), first + used):
        if live.stage_priority[row] != priority:
            continue
        if is_shape(live, live.stage_spec["shape"][row], memory_mb, vcores):
            return row
        if _is_untouched(live, row):
            shape = shape_of(live, memory_mb, vcores)
            if shape == NO_ROOM:
                return NO_ROOM
            live.stage_spec["shape"][row] = shape
            return row
    if (
        live.counts[SHAPES] == live.rooms[SHAPES]
        or live.counts[STAGES] + 2 * live.block[job, ROOM] > live.rooms[STAGES]
    ):
        return NO_ROOM
    if used == live.block[job, ROOM]:
        _move_block(live, job)
    row = live.block[job, FIRST] + used
    live.stage_spec["kind"][row], live.stage_spec["shape"][row] = TASKS, shape_of(live, memory_mb, vcores)
    live.stage_spec["slow_start_permille"][row] = MAY_BE_EARLY if request["early"] else -1
    live.stage_spec["iteration"][row] = request["iteration"]
    live.stage_priority[row] = priority
    live.block[job, USED] = used + 1
    note_stages(live, job)
    return row


@compiled
def note_stages(live, job):
    live.job_spec["first_stage"][job] = live.block[job, FIRST]
    live.job_spec["n_stages"][job] = live.block[job, USED]
