"""Chains of jobs through two columns: the job after and the job before, as number + 1; 0 means none (policy/state.py).

The ends of a chain are columns of the lever's table, with one row.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too


@callable_too
def put_first(following, previous, first, job):
    """The job becomes the first of a chain that keeps no last one."""
    head = first[0]
    following[job], previous[job] = head, 0
    if head > 0:
        previous[head - 1] = job + 1
    first[0] = job + 1


@callable_too
def put_last(following, previous, first, last, job):
    tail = last[0]
    following[job], previous[job] = 0, tail
    if tail > 0:
        following[tail - 1] = job + 1
    else:
        first[0] = job + 1
    last[0] = job + 1


@callable_too
def take_out(following, previous, first, job):
    """The job leaves a chain that keeps no last one."""
    before, after = previous[job], following[job]
    if before > 0:
        following[before - 1] = after
    else:
        first[0] = after
    if after > 0:
        previous[after - 1] = before


@callable_too
def take_out_of(following, previous, first, last, job):
    """The job leaves a chain that keeps its last one as well."""
    if last[0] == job + 1:
        last[0] = previous[job]
    take_out(following, previous, first, job)
