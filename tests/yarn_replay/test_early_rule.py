"""The rule by which replayed jobs ask for reduces (EarlyRule.java) is that of docs/semantics.md."""

from __future__ import annotations

import os
import random
import subprocess
from dataclasses import astuple, dataclass
from pathlib import Path

import pytest

from heddle.model.errors import RunRefused
from heddle.yarn.testbed.local.java import find_tool
from heddle.yarn.testbed.local.own_jar import jar_of
from heddle.yarn.testbed.replay.master_jar import SOURCES

DRIVER = Path(__file__).with_name("RuleDriver.java")
RULE = next(source for source in SOURCES if source.stem == "EarlyRule")
Amount = tuple[int, int]


@dataclass(frozen=True)
class Look:
    """Maps have one size. All waiting maps are asked for."""

    reduce: Amount
    headroom: Amount
    slow_start_permille: int
    maps: int
    maps_done: int
    running: int
    asked: int
    pending: int
    map: Amount
    maps_waiting: int
    maps_running: int

    def line(self) -> str:
        return " ".join(str(n) for part in astuple(self) for n in (part if isinstance(part, tuple) else (part,)))


def answers(looks: list[Look]) -> list[tuple[int, ...]]:
    try:
        jar, java = jar_of("rule-driver", [RULE, DRIVER], "none", ""), find_tool("java")
    except RunRefused as refused:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(refused))
    command = [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jar, "RuleDriver"]
    text = "\n".join(look.line() for look in looks)
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [tuple(map(int, line.split())) for line in ran.stdout.splitlines()]


def by_the_page(look: Look) -> tuple[int, ...]:
    """Whether it gives way, how many end, how many more are asked for."""

    def containers(amount: list[int]) -> int:
        return max(-(-amount[r] // look.reduce[r]) for r in range(2))

    left = [look.headroom[r] - look.asked * look.reduce[r] for r in range(2)]
    gives_way = look.maps_waiting > 0 and any(left[r] < look.map[r] for r in range(2))
    half = [(look.headroom[r] + look.running * look.reduce[r]) * 500 // 1000 for r in range(2)]
    wanted = [look.maps_waiting * look.map[r] for r in range(2)]
    ends = min(max(containers(list(look.map)), containers(half)), containers(wanted), look.running) if gives_way else 0
    return int(gives_way), ends, _more(look)


def _more(look: Look) -> int:
    if not look.pending or look.maps_done * 1000 < look.slow_start_permille * look.maps:
        return 0
    if not look.maps_waiting:
        return look.pending
    limit = [look.headroom[r] + look.maps_running * look.map[r] + look.running * look.reduce[r] for r in range(2)]
    ideal = [min(x * look.maps_done // look.maps, x * 500 // 1000) for x in limit]
    of_maps = [(look.maps_waiting + look.maps_running) * look.map[r] for r in range(2)]
    enough = all(limit[r] - ideal[r] >= of_maps[r] for r in range(2))
    final = [limit[r] - of_maps[r] if enough else ideal[r] for r in range(2)]
    left = [final[r] - (look.running + look.asked) * look.reduce[r] for r in range(2)]
    n = min(x // size if x >= 0 else -(-x // size) for x, size in zip(left, look.reduce, strict=True))
    return min(n, look.pending) if n > 0 else max(n, -look.asked)


def test_a_job_that_has_the_cluster_to_itself_asks_for_all_its_reduces() -> None:
    look = Look((1024, 1), (20_000, 50), 50, 10, 1, 0, 0, 4, (1024, 1), 5, 4)
    assert answers([look]) == [(0, 0, 4)]


def test_reduces_get_their_part_only_while_maps_lack_room() -> None:
    # 8 GB in all, of which half of the maps have 4: reduces may have half of 8 GB, and have three quarters of that.
    look = Look((1024, 1), (1024, 50), 50, 8, 4, 3, 0, 4, (1024, 1), 2, 4)
    assert answers([look]) == [(0, 0, 1)]


def test_before_slow_start_nothing_is_asked_for() -> None:
    look = Look((1024, 1), (20_000, 50), 500, 10, 4, 0, 0, 4, (1024, 1), 2, 4)
    assert answers([look]) == [(0, 0, 0)]


def test_random_looks_are_answered_as_the_page_says() -> None:
    draw = random.Random(7)
    looks = []
    for _ in range(3000):
        maps = draw.randint(1, 20)
        done, running = draw.randint(0, maps), draw.randint(0, 6)
        waiting = max(0, maps - done - running)
        looks.append(
            Look(
                (64 * draw.randint(1, 40), draw.randint(1, 4)), (64 * draw.randint(0, 300), draw.randint(0, 40)),
                draw.choice((0, 50, 500, 1000)), maps, done, draw.randint(0, 6), draw.randint(0, 4), draw.randint(0, 8),
                (64 * draw.randint(1, 40), draw.randint(1, 4)), waiting, maps - done - waiting,
            )
        )  # fmt: skip
    expected = [by_the_page(look) for look in looks]
    assert answers(looks) == expected
    assert {gives for gives, _, _ in expected} == {0, 1}
    assert min(more for _, _, more in expected) < 0 < max(more for _, _, more in expected)
