"""What is on the board, and how old it says that it is."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from heddle.dashboard.board import Board
from heddle.dashboard.ledger import BEYOND, FREE, IDLE, LINES, NOT_KNOWN, UNSEEN, USED, Held, Ledger
from heddle.dashboard.nodes import FIELDS
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.steering.desk import Baseline, Desk
from yarn_live.fake_rm import FakeRm

from .showing_up import move

FIRST = "worker-0:8041"


def rows(news: dict[str, Any], names: list[Any]) -> dict[str, dict[str, Any]]:
    return {names[number][0]: dict(zip(FIELDS, row, strict=True)) for number, *row in news["nodes"]}


def test_nodes_have_their_own_size_what_is_promised_reserved_and_used(
    rm: FakeRm, board: Board, desk: Desk, looks: Callable[[], None]
) -> None:
    desk.save(Baseline(rm.address, None, Standing(sizes={FIRST: (32768, 16000)})))  # a controller has grown it
    looks()
    news = board.news(0, -1)
    first = rows(news, news["names"])[FIRST]
    assert {name: first[name] for name in FIELDS[:8]} == {
        "own_mb": 32768, "promised_mb": 65536, "reserved_mb": 2 * 2048 + 4 * 12288, "used_mb": 9001,
        "own_vcores": 16, "promised_vcores": 32, "reserved_vcores": 18, "used_vcores": 3.1,
    }  # fmt: skip
    desk.forget()
    looks()
    assert rows(board.news(0, -1), news["names"])[FIRST]["own_mb"] == 65536


def test_figures_are_of_unknown_age_until_they_have_moved(rm: FakeRm, board: Board, looks: Callable[[], None]) -> None:
    looks()
    names = board.news(0, -1)["names"]
    assert {row["moved"] for row in rows(board.news(0, -1), names).values()} == {0}
    before_s = board.news(0, -1)["look"]["at_s"]
    rm.nodes[FIRST].used_memory_mb += 1
    looks()
    shown = rows(board.news(0, -1), names)
    assert [name for name, row in shown.items() if row["moved"]] == [FIRST]
    assert shown[FIRST]["moved_at_s"] >= shown["worker-1:8041"]["moved_at_s"]
    assert shown["worker-1:8041"]["moved_at_s"] == pytest.approx(before_s, abs=0.1)


def test_a_look_is_as_old_as_its_beginning(rm: FakeRm, board: Board, looks: Callable[[], None]) -> None:
    rm.delay_s = 0.2  # before each of three answers
    looks()
    news = board.news(0, -1)
    assert news["now_s"] - news["look"]["at_s"] >= 0.59  # told to a hundredth


def test_without_an_answer_the_look_keeps_its_time_and_says_why(
    rm: FakeRm, board: Board, looks: Callable[[], None]
) -> None:
    looks()
    before = board.news(0, -1)
    rm.instead["/nodes"] = 500, "away"
    looks()
    after = board.news(before["version"], before["epoch"])
    assert after["look"]["at_s"] == before["look"]["at_s"]
    assert "HTTP 500" in after["look"]["trouble"]
    assert after["nodes"] == []
    assert after["log"][-1]["text"].startswith("the ResourceManager does not answer")
    del rm.instead["/nodes"]
    looks()
    assert board.news(after["version"], after["epoch"])["look"]["trouble"] == ""


def test_a_node_that_is_gone_stays_in_sight_without_numbers(
    rm: FakeRm, board: Board, looks: Callable[[], None]
) -> None:
    looks()
    names = board.news(0, -1)["names"]
    rm.lose(FIRST)
    looks()
    gone = rows(board.news(0, -1), names)[FIRST]
    assert (gone["state"], gone["own_mb"], gone["promised_mb"], gone["used_mb"]) == ("GONE", 65536, None, None)
    assert gone["seen_at_s"] is not None
    rm.nodes[FIRST].lost = False
    looks()
    assert rows(board.news(0, -1), names)[FIRST]["state"] == "RUNNING"
    assert [line["text"].split(":8041 ")[1] for line in board.news(0, -1)["log"]] == [
        "is gone: the ResourceManager no longer lists it",
        "is back",
    ]


def test_a_node_that_is_listed_as_lost_has_no_numbers_either(
    rm: FakeRm, board: Board, looks: Callable[[], None]
) -> None:
    looks()
    names = board.news(0, -1)["names"]
    rm.nodes[FIRST].state = "LOST"  # as a real ResourceManager lists it for a while
    looks()
    lost = rows(board.news(0, -1), names)[FIRST]
    assert (lost["state"], lost["own_mb"], lost["promised_mb"], lost["used_mb"]) == ("LOST", 65536, None, None)
    time.sleep(0.05)  # or what was away is rounded to nothing
    looks()
    ledger = board.news(0, -1)["ledger"]
    assert ledger["memory"][ledger["lines"].index("node away")] > 0


def test_a_node_that_measures_nothing_has_no_use_rather_than_none(
    rm: FakeRm, board: Board, looks: Callable[[], None]
) -> None:
    node = rm.nodes[FIRST]
    node.used_memory_mb = node.containers_memory_mb = 0
    node.used_cores = node.containers_vcores = 0.0
    looks()
    news = board.news(0, -1)
    assert rows(news, news["names"])[FIRST]["used_mb"] is None


def test_queues_and_who_waits(rm: FakeRm, board: Board, looks: Callable[[], None]) -> None:
    looks()
    rm.add_app("default", user="newcomer").asks = [(0, 1024, 1, 1)]
    looks()
    news = board.news(0, -1)
    default, batch = news["queues"]
    assert (default["queue"], default["running"], default["waiting"], default["waiting_containers"]) == (
        "root.default", 1, 2, 38,
    )  # fmt: skip
    assert (batch["guarantee_permille"], batch["maximum_permille"], batch["waiting_mb"]) == (
        250,
        500,
        74 * 12288 + 2048,
    )
    assert news["waiting"]["all"] == 4
    *earlier, last = news["waiting"]["applications"]
    assert (last["user"], last["am"], last["at_least"]) == ("newcomer", True, False)
    assert all(app["at_least"] for app in earlier)  # they waited before anybody looked


def test_viewers_are_told_only_what_is_new_to_them(rm: FakeRm, board: Board, looks: Callable[[], None]) -> None:
    looks()
    first = board.news(0, -1)
    assert board.news(first["version"], first["epoch"])["nodes"] == []
    assert "queues" not in board.news(first["version"], first["epoch"])
    rm.nodes[FIRST].containers_memory_mb += 5
    looks()
    second = board.news(first["version"], first["epoch"])
    assert [row[0] for row in second["nodes"]] == [0]
    assert "names" not in second
    rm.add_node("worker-new:8041", 1024, 1)
    looks()
    third = board.news(second["version"], second["epoch"])
    assert third["names"][-1] == ("worker-new:8041", "/default-rack")
    assert third["log"][-1]["text"] == "node worker-new:8041 has joined"


def test_lines_of_the_ledger_add_up_to_what_nodes_have() -> None:
    ledger = Ledger()
    nodes = [
        Held((4096, 4000), (3072, 2000), (1024.0, 500.0)),
        Held((4096, 4000), (8192, 4000), (6000.0, 9000.0)),  # promised twice
        Held((4096, 4000), (1024, 1000), None),
        Held((4096, 4000), None, None),
    ]
    ledger.add(nodes, 3600.0, looked=True)
    ledger.add(nodes, 1800.0, looked=False)
    shown = ledger.shown()
    for hours, own in ((shown["memory"], 16.0), (shown["vcores"], 16.0)):
        assert sum(hours[:BEYOND]) == pytest.approx(1.5 * own)
    by_line = dict(zip(range(len(LINES)), shown["memory"], strict=True))
    assert by_line[USED] == pytest.approx(1 + 4)  # at most what the node has
    assert by_line[IDLE] == pytest.approx(2)
    assert by_line[NOT_KNOWN] == pytest.approx(1)
    assert by_line[FREE] == pytest.approx(1 + 3)
    assert by_line[UNSEEN] == pytest.approx(8)
    assert by_line[BEYOND] == pytest.approx(4)


def test_old_figures_are_not_counted_as_use(rm: FakeRm, board: Board, looks: Callable[[], None]) -> None:
    def known(at_s: float) -> set[bool]:
        return {held.used is not None for held in board._nodes.held(at_s, 15)}

    looks()
    at_s = board.news(0, -1)["look"]["at_s"]
    assert known(at_s) == {False}  # nobody has seen them move
    move(rm, 2)
    looks()
    assert known(at_s + 10) == {True}
    assert known(at_s + 60) == {False}
