"""Doubly linked lists through the rows of a table: two of its columns name the row after and the row before.

A list is known by its first row, `head[of]`; -1 means none everywhere. Links by side of a route have two axes and are
written out in network/flows.py.
"""

from __future__ import annotations

from heddle.model.compiled import inlined


@inlined
def link_first(following, previous, head, of, i):
    """Row i becomes the first of the list."""
    first = head[of]
    following[i] = first
    previous[i] = -1
    if first >= 0:
        previous[first] = i
    head[of] = i


@inlined
def unlink(following, previous, head, of, i):
    """Row i is in the list no more."""
    before, after = previous[i], following[i]
    if before >= 0:
        following[before] = after
    else:
        head[of] = after
    if after >= 0:
        previous[after] = before
