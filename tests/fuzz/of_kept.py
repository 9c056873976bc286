"""What heddle itself has written and opens again: records, baselines, journals."""

from __future__ import annotations

import tempfile
from pathlib import Path

from heddle.record.files import read_record
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.observe.journal import read_lines


def _manifest(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "manifest.json").write_bytes(data)
        read_record(folder)


def _parts(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "parts.jsonl").write_bytes(data)
        read_record(folder)


def _baseline(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder))
        desk.baseline_file.write_bytes(data)
        desk.load()


def _journal(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        path.write_bytes(data)
        list(read_lines(path))


TARGETS = {"record-manifest": _manifest, "record-parts": _parts, "baseline": _baseline, "journal": _journal}
