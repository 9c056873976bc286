"""What people write: clusters as YAML and on one line, Hadoop's XML, policies, sweep files, defaults of options."""

from __future__ import annotations

from pathlib import Path

from typer.main import get_command

from heddle.cli.main import app_of
from heddle.cli.settings import option_defaults, read_settings_file
from heddle.experiments.sweep_file import read_sweep
from heddle.policy.parameter import literal
from heddle.policy.parse import parse_policy
from heddle.policy.presets import LEVERS, PRESETS
from heddle.traces.catalogue import names
from heddle.traces.cluster_import.scheduler_xml import read_queues_xml
from heddle.traces.clusters import load_cluster
from heddle.yarn.live.bridge.endpoint import read_secret
from heddle.yarn.testbed.mixture import load_real_jobs

from .in_a_folder import file


def _cluster_line(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if "/" not in text and "\0" not in text:  # a name of a file is another matter
        load_cluster(text)


def _policy(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if ".py" not in text:  # a lever's file is code
        parse_policy(text)


COMMANDS = get_command(app_of(["compare", "sweep"]))


def _settings(path: Path) -> None:
    _, said = read_settings_file(path)
    option_defaults(path, said, COMMANDS)


def _mixture(path: Path) -> None:
    """Beside it lies a workload that it may name; built-in ones can be as large as anybody wants, and are made up."""
    text = path.read_bytes()
    if not any(name.encode() in text for name in names()):
        (path.parent / "a.csv").write_text("job,submit_ms,duration_ms,memory_mb,vcores\nj,0,1000,1024,1\n")
        load_real_jobs(str(path))


def _secret(path: Path) -> None:
    path.chmod(0o600)
    read_secret(path)


TARGETS = {
    "cluster-yaml": file("cluster.yaml", lambda path: load_cluster(str(path))),
    "cluster-line": _cluster_line,
    "queues-xml": file("capacity-scheduler.xml", lambda path: read_queues_xml(path, (65_536, 24_000))),
    "policy": _policy,
    "sweep": file("sweep.yaml", read_sweep),
    "sweep-toml": file("sweep.toml", read_sweep),
    "settings": file("heddle.toml", _settings),
    "mixture": file("jobs.yaml", _mixture),
    "bridge-secret": file("secret", _secret),
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
