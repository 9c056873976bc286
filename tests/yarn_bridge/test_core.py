"""What the decision core promises beside choosing as levers do: tables whole or refused, caps, plans used up."""

from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from heddle.model.errors import RunRefused
from heddle.yarn.live.bridge.table import RequestRow, Table
from heddle.yarn.testbed.bridge.jar import CORE, core_jar, sources

from .driver import run_core, table_lines

LEAF, SMALL, LARGE = "root.default", (1024, 1000), (4096, 4000)
OWN = {"a:1": (8192, 8000), "b:1": (8192, 8000)}


def row(number: int, key: int = 0, size: tuple[int, int] = SMALL, vetoed: frozenset[str] = frozenset()) -> RequestRow:
    return RequestRow(f"application_17_{number:04d}", 1, -1, LEAF, size, key, vetoed=vetoed)


def table(*rows: RequestRow) -> Table:
    return Table("key", rows, OWN)


def name(one: RequestRow) -> str:
    return f"{one.app} {one.priority} {one.allocation}"


def choices(lines: list[str]) -> list[list[str]]:
    return [line.split("; ") for line in run_core(lines) if not line.startswith("read")]


def offer(node: str = "a:1", free: tuple[int, int] = OWN["a:1"], many: int = 1) -> str:
    return f"choose {node} {LEAF} {free[0]} {free[1]} {many}"


def test_what_yarn_does_not_take_is_followed_by_the_next_best() -> None:
    first, second, large = row(1, 5), row(2, 7), row(3, 6, LARGE)
    found = choices([*table_lines(table(second, large, first).text(1, 1000)), offer(many=4)])
    assert found == [[name(first), name(large), name(second), "-"]]


def test_what_does_not_fit_is_not_offered() -> None:
    found = choices([*table_lines(table(row(1, 0, LARGE), row(2, 1)).text(1, 1000)), offer(free=(2048, 2000), many=2)])
    assert found == [[name(row(2)), "-"]]


def test_what_was_served_is_stepped_over_until_it_asks_again() -> None:
    rows = [row(number, number) for number in range(1, 4)]
    lines = [*table_lines(table(*rows).text(1, 1000)), f"gone {name(rows[0])}", offer(), f"gone {name(rows[1])}"]
    lines += [offer(), offer(), f"asks {name(rows[0])}", offer()]
    assert choices(lines) == [[name(rows[1])], [name(rows[2])], [name(rows[2])], [name(rows[0])]]


def test_a_veto_stops_those_of_its_size_or_is_stepped_over() -> None:
    vetoed, behind, large = row(1, 0, vetoed=frozenset({"a:1"})), row(2, 1), row(3, 2, LARGE)
    stops = table(vetoed, behind, large)
    lines = [*table_lines(stops.text(1, 1000)), offer(many=2), offer("b:1", many=1), offer("c:1")]
    assert choices(lines) == [[name(large), "-"], [name(vetoed)], [name(vetoed)]]
    lines = [*table_lines(replace(stops, step_over_vetoed=True).text(1, 1000)), offer(many=3)]
    assert choices(lines) == [[name(behind), name(large), "-"]]


def test_nobody_is_vetoed_longer_than_the_table_or_the_core_has_patience() -> None:
    vetoed = row(1, vetoed=frozenset(OWN))
    text = table(vetoed).text(1, 1000, patience_ms=5000)
    waits = [[*table_lines(text), f"unserved {name(vetoed)} {ms}", offer()] for ms in (4999, 5000)]
    assert [choices(lines) for lines in waits] == [[["-"]], [[name(vetoed)]]]
    endless = table(vetoed).text(1, 10**9, hold_ms=10**9, patience_ms=10**9)
    assert run_core(table_lines(endless)) == ["read 1 60000 10000 120000"]


def test_what_a_node_has_planned_goes_first_and_is_used_up() -> None:
    first, planned = row(1, 0), row(2, 1, LARGE)
    lines = table_lines(replace(table(first, planned), plans={"a:1": {LARGE: 1}}).text(1, 1000))
    lines += [offer(), offer("b:1"), f"gave a:1 {LARGE[0]} {LARGE[1]}", offer()]
    assert choices(lines) == [[name(planned)], [name(first)], [name(first)]]


def test_too_many_errors_or_slow_walks_within_a_minute_turn_it_off() -> None:
    nine = [f"failed {1000 * n}" for n in range(9)]
    assert run_core([*nine, "off?", "failed 60001", "off?"]) == ["no", "no"]  # the first of the ten was a minute ago
    answers = run_core([*nine, "failed 60000", "off?", "on", "off?", "failed 60002", "off?"])
    assert answers == ["10 within a minute: errors, the last: java.lang.IllegalStateException: a test", "no", "no"]
    slow = [f"took {n} 5001" for n in range(10)]
    fast = [f"took {n} 5000" for n in range(100)]
    assert run_core([*fast, "off?", *slow, "off?"]) == ["no", "10 within a minute: walks took more than 5 ms"]


GOOD = table(row(1, vetoed=frozenset({"a:1"}))).text(7, 1000)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (GOOD.replace("end", "and"), "cut off"),
        (GOOD[: len(GOOD) // 2], "cut off"),
        ("\n".join(GOOD.splitlines()[:-3] + GOOD.splitlines()[-1:]) + "\n", "cut off"),
        (GOOD.replace("heddle-table 1", "heddle-table 2"), "version 1"),
        (GOOD.replace("heddle-table 1 7 1000", "heddle-table 1 7 0"), "not from 1"),
        (GOOD.replace("form key", "form mine"), "no such form"),
        (GOOD.replace("hold 0", "hold x"), "not a number"),
        (GOOD.replace("hold 0", "sold 0"), "no such word"),
        (GOOD.replace("hold 0", "hold 0 0"), "has 1 words behind it, not 2"),
        (GOOD.replace("set 0 0", "set 0 2"), "not from 0 to 1"),
        (GOOD.replace("set 0 0", "set 1 0"), "numbered from 0"),
        (GOOD.replace("application_17_0001", "application"), "not an application"),
        (GOOD.replace("leaf root.default", "hold 1"), "there was no leaf"),
        (GOOD.replace("node b:1", "node a:1"), "a second node"),
        (re.sub(r" 0 0\n(?=end)", " 0 3\n", GOOD), "not from 0 to 0"),
        (table(row(1), row(1)).text(1, 1000), "a second request"),
    ],
)
def test_a_table_is_whole_or_refused(broken: str, why: str) -> None:
    (answer,) = run_core(table_lines(broken))
    assert answer.startswith("refused: ")
    assert why in answer


def test_a_table_that_is_too_large_is_refused() -> None:
    (answer,) = run_core(table_lines(table(*(row(n) for n in range(110_000))).text(1, 1000)))
    assert answer == f"refused: more than {4 << 20} bytes"


def test_what_decides_knows_no_hadoop() -> None:
    assert {path.stem for path in sources()} >= set(CORE)
    core_jar()  # is compiled with nothing on its class path


def test_the_same_sources_make_the_same_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for folder in ("one", "other"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / folder))
        made.append(core_jar())
    assert made[0] != made[1]
    assert made[0].read_bytes() == made[1].read_bytes()
    with zipfile.ZipFile(made[0]) as jar:
        versions = {jar.read(entry)[6:8] for entry in jar.namelist() if entry.endswith(".class")}
    assert versions == {b"\0\x34"}  # Java 8's


def test_without_a_jdk_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(RunRefused, match=r"javac was not found: install a JDK"):
        core_jar()
