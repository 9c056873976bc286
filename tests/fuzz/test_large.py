"""Inputs of just under 1 MB: no target needs more CPU time or memory than limits.py says.

In CI each target gets one of its beginnings, grown in the ways that cost readers most; `scripts/fuzz --large` runs all.
"""

from __future__ import annotations

from functools import partial

import pytest

from .large import SIZE, WAYS
from .limits import Took, took
from .targets import TARGETS, refuses_or_reads, small_beginnings

QUICK = ("each-line", "many-keys")


def _is_quick(way: str) -> bool:
    return way in QUICK


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("way", [way if _is_quick(way) else pytest.param(way, marks=pytest.mark.long) for way in WAYS])
def test_a_large_input(way: str, target: str) -> None:
    read = partial(refuses_or_reads, target)
    for beginning in small_beginnings(target)[: 1 if _is_quick(way) else None]:
        read(beginning)  # what is loaded or compiled once is not counted
        data = WAYS[way](beginning)
        assert len(data) <= SIZE
        needed = took(read, data)
        assert not needed.is_too_much, needed


def test_too_much_is_noticed() -> None:
    assert took(lambda data: data * 300, b"x" * 1_000_000).memory > 250_000_000
    assert not Took(1000, 9.9, 60 << 20).is_too_much
    assert Took(1000, 10.1, 0).is_too_much
    assert Took(1000, 0.0, 70 << 20).is_too_much


@pytest.mark.parametrize("way", WAYS)
def test_ways_grow_to_nearly_a_megabyte(way: str) -> None:
    for beginning in (b'{"jobs": [{"id": 1, "name": "a"}, {"id": 2}]}\n', b"id,name\n1,a\n2,b\n"):
        grown = WAYS[way](beginning)
        assert SIZE // 2 < len(grown) <= SIZE
        assert len(set(grown.split())) > 1
