"""A soak of a few minutes: not to judge by, but to see that it can be judged by."""

import json
from pathlib import Path

import pytest

from soak.report import kept_in
from soak.run import main
from soak.trouble import Kind

from .conftest import free_port

KILLED = str(Kind.CONTROLLER_KILLED)


@pytest.mark.long
def test_a_short_soak(hadoop: None, own_state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How many faults fit into it depends on the machine; what came of each does not."""
    times = ["--for", "3m", "--kills", "60s", "--warm-up", "0", "--every", "20s", "--lease", "15s"]
    small = ["--nodes", "2", "--node-mb", "2048", "--name", "soaked", "--port", str(free_port())]
    main([*times, *small, "--out", str(tmp_path), "--json"])
    document = json.loads(capsys.readouterr().out)
    (kept,) = kept_in(tmp_path)
    piece = kept.piece
    assert (piece["killed_by_us"], piece["unexpected_ends"], piece["overwritten"]) == ([], [], 0)
    assert piece["ended_with"] in (0, None)
    assert all(back["s"] is not None for back in piece["put_backs"])
    assert len([back for back in piece["put_backs"] if back["after"] == KILLED]) == document["faults"].get(KILLED, 0)
    assert any(look["nodes"] for look in kept.looks)
    assert any(look["controller"] for look in kept.looks)
    assert "SUCCEEDED" in {job["outcome"] for job in piece["jobs"]}
