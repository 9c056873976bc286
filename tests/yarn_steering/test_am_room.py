"""What steer says where enlarged nodes may take in more ApplicationMasters than fit on them afterwards."""

from __future__ import annotations

import pytest

from heddle.policy.parse import parse_policy
from heddle.yarn.live.steering.am_room import note_on_ams
from heddle.yarn.live.things_seen import QueueSeen


def leaf(name: str, am_share_permille: int, maximum_permille: int = 1000) -> QueueSeen:
    return QueueSeen(f"root.{name}", 500, maximum_permille, am_share_permille=am_share_permille)


ROOT = QueueSeen("root", 1000, 1000, am_share_permille=900)  # a parent's is only what its leaves begin with
ONE = (ROOT, leaf("default", 300))
HALVES = (ROOT, leaf("etl", 300, 500), leaf("ad-hoc", 300, 500))


@pytest.mark.parametrize("queues", [ONE, HALVES])
def test_more_than_fit_are_noted(queues: tuple[QueueSeen, ...]) -> None:
    note = note_on_ams(parse_policy("usage-feedback"), queues, 4)
    assert "30 % of what nodes promise" in note
    assert "120 % of the nodes' own sizes" in note


@pytest.mark.parametrize(
    ("policy", "queues", "overcommit"),
    [
        ("usage-feedback", ONE, 2),
        ("usage-feedback", (ROOT, leaf("default", -1)), 4),  # not told
        ("usage-feedback", (*HALVES, leaf("third", 900)), 4),  # without us, too: `heddle check` says so
        ("usage-feedback+admission-control", ONE, 4),
        ("capacity", ONE, 4),
    ],
)
def test_no_note_without_reason(policy: str, queues: tuple[QueueSeen, ...], overcommit: float) -> None:
    assert note_on_ams(parse_policy(policy), queues, overcommit) == ""
