"""Names that would do something if a page or a terminal let them, in everything that has a name."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from check.fake_past import add_past
from heddle.check import policies
from heddle.cli import main
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build
from heddle.traces.parquet import write_parquet
from yarn_live.fake_rm import FakeRm

RAN = "ran"  # a global name in a browser, which any of the names sets if it can


def nasty_word(what: str) -> str:
    """What ends an attribute, an element, a script or a cell of a table, and turns what follows; without blanks."""
    return (
        f"""{what}|"><img/src=x/onerror="{RAN}=1">'</small></script><script>{RAN}=1</script><svg/onload={RAN}=1>"""
        f"""|"onmouseover="{RAN}=1\u202e\x1b]0;owned\x07|worse"""
    )


def nasty(what: str) -> str:
    """The same with what ends a line, too."""
    return f"{nasty_word(what)}\n\n<img src=x onerror={RAN}=1>\tworse"


def run(*arguments: str) -> int:
    """As from a shell: pages tell the command line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["heddle", *arguments])
        return main.run(arguments)


def write_world(folder: Path) -> tuple[str, str]:
    """A workload and a cluster for it: queues, users, jobs, stages, labels, nodes, racks and a resource by such names.

    Some jobs would rather be alone, so that policies differ and there is somebody who got worse.
    """
    resource, label = nasty("resource"), nasty("label")
    jobs = []
    for number in range(24):
        use = ((10_000, (400 + 10 * number, 500, 1)),)
        tasks = [TaskSpec(20_000 + 3000 * (number % 5), use, prefers=nasty("node0")) for _ in range(4)]
        stages = [
            StageSpec(nasty("first"), (2048, 1000, 1), tasks),
            StageSpec(
                nasty("second"), (1024, 1000, 0), tasks[:2], after=(nasty("first"),), label=label * (number == 3)
            ),
        ]
        name, queue = nasty(f"job{number}"), f"root.{nasty_word(f'queue{number % 2}')}"
        jobs.append(
            JobSpec(name, 4000 * number, stages, am=(512, 1000, 0), queue=queue, user=nasty(f"user{number % 3}"))
        )
    workload = build(nasty("trace"), jobs, ("memory_mb", "vcores_milli", resource))
    trace, cluster = folder / "trace.parquet", folder / "cluster.yaml"
    write_parquet(replace(workload, name=nasty("trace")), trace)
    sizes = {"memory_mb": 16384, "vcores": 64, resource: 8}
    nodes = [
        {
            "name": nasty(f"node{number}"),
            "capacity": sizes,
            "rack": nasty("rack"),
            **({"label": label} if number else {}),
        }
        for number in range(2)
    ]
    queues = {nasty_word(f"queue{number}"): {"weight": 1} for number in range(2)}
    about = {"name": nasty("cluster"), "resources": {resource: "exclusive"}, "nodes": nodes, "queues": queues}
    cluster.write_text(yaml.safe_dump(about))
    return str(trace), str(cluster)


def write_pages(folder: Path) -> dict[str, Path]:
    """A page of every command that writes one of a trace or a cluster."""
    trace, cluster = write_world(folder)
    pages = {
        name: folder / f"{name}.html" for name in ("simulate", "compare", "waste", "ledger", "explain", "sweep", "tune")
    }
    report = {name: ["--report", str(page)] for name, page in pages.items()}
    record = str(folder / "run")
    on = ["--cluster", cluster]
    assert run("simulate", trace, *on, "-p", "fifo", "--record", record, *report["simulate"]) == 0
    compared = ["-p", "fifo", "-p", "capacity", "-p", "smallest-first", "--seeds", "1", "--on", "local:1"]
    assert run("compare", trace, *on, *compared, *report["compare"]) == 0
    assert run("efficiency", record, *report["waste"]) == 0
    assert run("ledger", record, *report["ledger"]) == 0
    assert run("explain", record, "20", "--versus", "capacity", *report["explain"]) == 0
    tuning = ["--trials", "1", "--on", "local:1", "--executor", "native", "--present", "fifo", "--block-s", "5"]
    assert run("tune", trace, *on, *tuning, *report["tune"]) == 0
    sweep = {
        "name": nasty("sweep"), "workloads": [trace], "policies": ["fifo", "capacity"], "clusters": [cluster],
        "loads": [1, 2], "seeds": 1,
    }  # fmt: skip
    (folder / "sweep.yaml").write_text(yaml.safe_dump(sweep))
    assert run("sweep", "run", str(folder / "sweep.yaml"), "-o", str(folder / "swept"), "--on", "local:1") == 0
    assert run("sweep", "show", str(folder / "swept"), *report["sweep"]) == 0
    return pages | {"check": write_check(folder / "check.html")}


def write_check(page: Path) -> Path:
    with FakeRm() as rm, pytest.MonkeyPatch.context() as patch:
        patch.setattr(policies, "SEEDS", {})
        patch.setattr(policies, "FEW", 1)
        rm.leaves = {"default": (50.0, 100.0), "batch": (25.0, 50.0), nasty_word("queue"): (25.0, 50.0)}
        for number in range(4):
            rm.add_node(f"n{number}:1", 16384, 16)
        for node in rm.nodes.values():  # whose own names can only be those of machines
            node.containers_memory_mb, node.rack = 2300, f"/{nasty('rack')}"
        for number, app in enumerate(add_past(rm, 40, minutes=100)):
            app.name, app.user = nasty(f"job{number % 4}"), nasty("user")
            app.queue = nasty_word("queue") if number % 2 else "default"
            if number % 3 == 0:
                app.final_status, app.diagnostics = "FAILED", nasty("because")
        waiting = rm.add_app(nasty_word("queue"), nasty("user"))
        waiting.name, waiting.submitted_at_ms, waiting.diagnostics = nasty("job"), rm.now_ms - 600_000, nasty("because")
        waiting.asks = [(0, 1024, 1, 1)]
        rm.instead["/conf"] = 403, nasty("refused")
        assert run("check", rm.address, "--max-calls-per-s", "1000", "--report", str(page)) == 1
    return page
