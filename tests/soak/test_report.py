"""Pieces that are kept add up to one report."""

import json
from pathlib import Path
from typing import Any

import pytest

from soak.report import document_of, figures_of, kept_in, text_of
from soak.run import main
from soak.trouble import Kind

KILLED, HANGS = str(Kind.CONTROLLER_KILLED), str(Kind.CONTROLLER_HANGS)


def job(outcome: str = "SUCCEEDED") -> dict[str, Any]:
    times = {"planned_at_s": 10.0, "ended_at_s": 50.0}
    return {
        "name": "one",
        "kind": "replay",
        "outcome": outcome,
        "diagnostics": "",
        "memory_mb_seconds": 4096,
        **times,
    }


def fault(kind: Kind, **more: Any) -> dict[str, Any]:
    return {"kind": str(kind), "from_s": 1.0, "until_s": 2.0, "kills_containers": False, **more}


def piece(**more: Any) -> dict[str, Any]:
    plan = {"for_s": 3600, "warm_up_s": 900, "kills_s": 900, "every_s": 180, "lease_s": 30, "record_mb": 1, "seed": 0}
    said = {"policy": "p", "code": "abc", "began_at": 0, "seen_s": 3600, "loads": [1.0], "nodes": 1, "node_mb": 4096}
    return {
        **plan,
        **said,
        "jobs": [job()],
        "faults": [fault(Kind.RM_KILLED, kills_containers=True, from_s=500.0, until_s=510.0, resumed_s=3.0)],
        "put_backs": [{"after": KILLED, "s": 2.0}, {"after": HANGS, "s": 31.0}, {"after": None, "s": 1.0}],
        "unexpected_ends": [],
        "overwritten": 0,
        "unseen": 0,
        "ended_with": 0,
        "killed_by_us": [],
        "over_their_own": 0,
        **more,
    }


def looks(first_mb: float = 200, used_mb: int = 1000) -> list[dict[str, Any]]:
    return [
        {
            "at_s": float(s),
            "nodes": {"node-0": {"used_mb": used_mb, "reserved_mb": 2000, "total_mb": 4096}},
            "controller": {"pid": 7, "rss_mb": first_mb + s % 3, "handles": 12 + s % 2},
            "step": {"session": "s", "steps": s, "observe_ms": 10.0, "decide_ms": 2.0, "act_ms": 3.0},
            "record": {"inode": s // 600, "bytes": 900_000, "older_bytes": 990_000},
            "desk_bytes": 5000,
        }
        for s in range(0, 3600, 2)
    ]


def kept(folder: Path, number: int, document: dict[str, Any], seen: list[dict[str, Any]]) -> None:
    mine = folder / f"piece-{number:03}"
    mine.mkdir()
    (mine / "piece.json").write_text(json.dumps(document))
    (mine / "looks.jsonl").write_text("".join(json.dumps(one) + "\n" for one in seen))


def shown(folder: Path) -> dict[str, tuple[str, str]]:
    return {figure.what: (figure.measured, figure.verdict) for figure in figures_of(kept_in(folder))}


def test_pieces_add_up(tmp_path: Path) -> None:
    kept(tmp_path, 1, piece(), looks())
    kept(tmp_path, 2, piece(put_backs=[{"after": KILLED, "s": 4.0}]), looks(first_mb=900))
    (tmp_path / "piece-003").mkdir()  # broken off: not counted
    found = shown(tmp_path)
    assert found["node-minutes above capacity"] == ("0.00 of 120 (0.000%)", "met")
    assert found["jobs lost to us"] == ("0 of 2; 0 more to killed daemons", "met")
    assert found[f"put back after: {KILLED}"] == ("2 times: p50 2.0, p90 4.0, p99 4.0, most 4.0 s", "met")
    assert found["controller's record"][0].startswith("largest file 99% of its limit, 10 times begun anew")
    assert found["latency: a whole step"] == ("3600 steps: p50 15 ms, p99 15 ms", "")
    # Two lives of 45 minutes behind their warm-up: the second is larger, and neither grows.
    assert found["controller's memory"][0].endswith("18 means")
    assert {verdict for _, verdict in found.values()} == {"met", ""}
    document = document_of(kept_in(tmp_path))
    assert document["hours"] == 2
    assert document["faults"] == {str(Kind.RM_KILLED): 2}
    assert main(["--out", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"killed_by_us": ["container_1"]}, "containers killed by us"),
        ({"jobs": [job("FAILED")]}, "jobs lost to us"),
        ({"overwritten": 1}, "changes of a person's overwritten"),
        ({"unexpected_ends": ["3 s: ended with 1: Traceback"]}, "controllers that ended unasked"),
        ({"put_backs": [{"after": KILLED, "s": 35.1}]}, f"put back after: {KILLED}"),
        ({"put_backs": [{"after": KILLED, "s": None}]}, f"put back after: {KILLED}"),
        ({"put_backs": [{"after": HANGS, "s": 36.0}]}, f"put back after: {HANGS}"),
        ({"record_mb": 0.5}, "controller's record"),
        ({"faults": [fault(Kind.RM_FAULTY, resumed_s=None)]}, "steps again after a fault"),
        ({"node_mb": 999}, "node-minutes above capacity"),
    ],
)
def test_each_target_can_be_missed(tmp_path: Path, changed: dict[str, Any], what: str) -> None:
    kept(tmp_path, 1, piece(**changed), looks())
    assert [name for name, (_, verdict) in shown(tmp_path).items() if verdict == "MISSED"] == [what]
    assert main(["--out", str(tmp_path)]) == 1


@pytest.mark.parametrize(("column", "what"), [("rss_mb", "memory"), ("handles", "open files")])
def test_a_controller_that_grows_is_noticed(tmp_path: Path, column: str, what: str) -> None:
    seen = looks()
    for one in seen:
        one["controller"][column] += one["at_s"] / 1000
    kept(tmp_path, 1, piece(), seen)
    assert [name for name, (_, verdict) in shown(tmp_path).items() if verdict == "MISSED"] == [f"controller's {what}"]


def test_what_did_not_happen_is_not_known(tmp_path: Path) -> None:
    kept(tmp_path, 1, piece(put_backs=[], faults=[]), [])
    found = {what for what, (_, verdict) in shown(tmp_path).items() if verdict == "not known"}
    assert {"node-minutes above capacity", f"put back after: {KILLED}", "controller's memory"} <= found
    text = text_of(document_of(kept_in(tmp_path)))
    assert "| controller's memory | no controller lived for long enough |" in text
    assert main(["--out", str(tmp_path), "--json"]) == 0


def test_a_record_that_was_never_full_proves_nothing(tmp_path: Path) -> None:
    kept(tmp_path, 1, piece(), [one for one in looks() if one["record"]["inode"] == 0])
    assert shown(tmp_path)["controller's record"][1] == "not known"


def test_a_folder_without_a_piece_is_no_report(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path)]) == 2
