"""What people write: clusters as YAML and on one line, Hadoop's XML, policies, sweep files, defaults of options."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from heddle.cli.settings import read_settings_file
from heddle.experiments.sweep_file import read_sweep
from heddle.policy.parameter import literal
from heddle.policy.parse import parse_policy
from heddle.policy.presets import LEVERS, PRESETS
from heddle.traces.cluster_import.scheduler_xml import read_queues_xml
from heddle.traces.clusters import load_cluster


def _file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes], None]:
    def written(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            read(path)

    return written


def _cluster_line(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if "/" not in text and "\0" not in text:  # a name of a file is another matter
        load_cluster(text)


def _policy(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if ".py" not in text:  # a lever's file is code
        parse_policy(text)


TARGETS = {
    "cluster-yaml": _file("cluster.yaml", lambda path: load_cluster(str(path))),
    "cluster-line": _cluster_line,
    "queues-xml": _file("capacity-scheduler.xml", lambda path: read_queues_xml(path, (65_536, 24_000))),
    "policy": _policy,
    "sweep": _file("sweep.yaml", read_sweep),
    "settings": _file("heddle.toml", read_settings_file),
}


def seeds(target: str) -> list[bytes]:
    """Every lever with all of its parameters, and every preset."""
    if target != "policy":
        return []
    levers = (
        f"{name}({','.join(f'{one.name}={literal(one.default)}' for one in lever.parameters)})"
        for name, lever in LEVERS.items()
    )
    return [text.encode() for text in (*PRESETS, *levers)]
