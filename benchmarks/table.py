"""The table of `heddle bench`: every target of speed and memory beside what was measured, in one run."""

import math
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import accasim_fifo, growth, heapq_fifo, plain_heapq, simpy_fifo
from benchmarks.bounds_cost import measure as measure_bounds
from benchmarks.bridge_latency import LOADS, PUT_APPS, measure_long_poll, measure_put
from benchmarks.bridge_latency import measure as measure_bridge
from benchmarks.flows import HOSTS, measure_flows
from benchmarks.heddle_run import SEED, BenchFailed, Measured, Wanted, make_file, measure
from benchmarks.imports import KINDS
from benchmarks.imports import make as make_trace
from benchmarks.imports import measured as measured_import
from benchmarks.knobs import POLICIES as BY_KNOBS
from benchmarks.knobs import measure as measure_knobs
from benchmarks.loaded_rm import NODES as RM_NODES
from benchmarks.loaded_rm import Load
from benchmarks.rival import Tasks
from benchmarks.storm_steps import measure as measure_storm
from benchmarks.workload import NODES
from heddle.model.errors import HeddleError

HEADINGS = ("what", "measured", "target", "")
RATIOS = {
    "fair": 2.5, "drf": 2.5, "capacity": 3.0, "ffd-dp": 4.0, "tetris": 4.0, "fifo+usage-feedback": 3.0,
    "haste": 5.0, "haste-a": 5.0, "dress": 5.0, "fifo+admission-control": 5.0,
    "fifo+network-aware": 5.0,
}  # fmt: skip
DEMO_POLICIES = ("fifo", "fair", "drf", "capacity", "ffd-dp", "tetris", "srpt", "fifo+usage-feedback")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """One line. `met` is None where there is no target, or nothing could be measured on purpose."""

    what: str
    value: float | None
    unit: str = ""
    target: str = ""
    met: bool | None = None
    note: str = ""

    def cells(self) -> tuple[str, str, str, str]:
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        shown = "-" if self.value is None else _figure(self.value)
        return (
            self.what,
            f"{shown} {self.unit}".strip() + (f" ({self.note})" if self.note else ""),
            self.target,
            verdict,
        )

    def as_json(self) -> dict[str, Any]:
        fields = ("what", "value", "unit", "target", "met", "note")
        return {field: getattr(self, field) for field in fields}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    tasks: int
    repeat: int
    simpy: int
    accasim: int
    growth: growth.Spans
    largest: int  # tasks of the second row of memory; 0: leave it out
    loads: tuple[float, ...]  # at which policies are compared with FIFO
    compared: int  # tasks of each run of a comparison with bounds
    flows: int
    cold: bool
    bridge: tuple[Load, ...]  # under which a ResourceManager is measured
    bridge_s: float  # for so long each


FULL = Sizes(
    tasks=1_000_000,
    repeat=5,
    simpy=20_000,
    accasim=2_000,
    growth=growth.FULL,
    largest=10_000_000,
    loads=(0.8, 1.5),
    compared=300_000,
    flows=100_000,
    cold=True,
    bridge=LOADS,
    bridge_s=30,
)
QUICK = Sizes(
    tasks=50_000,
    repeat=1,
    simpy=4_000,
    accasim=500,
    growth=growth.QUICK,
    largest=0,
    loads=(1.5,),
    compared=30_000,
    flows=10_000,
    cold=False,
    bridge=(),
    bridge_s=0,
)


def machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


def measure_all(*, quick: bool, say: Say) -> list[Row]:
    sizes = QUICK if quick else FULL
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            for row in _or_failure(part, sizes, Path(folder)):
                say("  ".join(cell for cell in row.cells() if cell))
                rows.append(row)
    return rows


def _or_failure(part: Callable[[Sizes, Path], Iterator[Row]], sizes: Sizes, folder: Path) -> Iterator[Row]:
    """The rows of a part; what fails is a missed row with its reason, not the end of the table."""
    rows = part(sizes, folder)
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except BenchFailed as failed:
            yield Row(part.__name__.strip("_").replace("_", " "), None, met=False, note=f"failed: {failed}")
            return


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _at_least(what: str, ratio: float, target: float, note: str = "") -> Row:
    return Row(what, ratio, "x", f">= {target:g}x", ratio >= target, note)


def _at_most(what: str, value: float, target: float, unit: str = "x", note: str = "") -> Row:
    return Row(what, value, unit, f"<= {target:g}{'' if unit == 'x' else ' '}{unit}", value <= target, note)


def _same_tasks(load: float, count: int) -> Tasks:
    """heddle's own benchmark workload as lists for the rivals."""
    from heddle.model.resources import MILLI
    from heddle.traces.catalogue import make_workload

    workload = make_workload(Wanted(count, load).workload(), SEED)
    memory_mb, millicores = workload.shapes[workload.stages["shape"]].T
    return Tasks(
        workload.jobs["submit_at_ms"].tolist(),
        workload.tasks["duration_ms"].tolist(),
        (millicores // MILLI).tolist(),
        memory_mb.tolist(),
    )


def _rival_speed(rival: Any, tasks: Tasks, repeat: int) -> tuple[float, float] | None:
    """Tasks per CPU second and the makespan in seconds; None where the rival cannot run."""
    outcomes = [rival.run(tasks, NODES) for _ in range(repeat)]
    if outcomes[0] is None:
        return None
    return len(tasks) / min(one.cpu_s for one in outcomes), outcomes[0].makespan_ms / 1000


def _speed(wanted: Wanted, measured: Measured) -> float:
    return wanted.tasks / measured.cpu_s


def _against_rivals(sizes: Sizes, folder: Path) -> Iterator[Row]:
    times = {}
    for load, target in ((0.8, 15.0), (1.5, 50.0)):
        words = f"at {load:.0%} load"
        wanted = Wanted(sizes.tasks, load, repeat=sizes.repeat)
        fifo = measure(wanted)
        times[load] = fifo.cpu_s
        yield Row(f"heddle FIFO, {sizes.tasks:,} tasks {words}", _speed(wanted, fifo), "tasks/s")
        tasks = _same_tasks(load, sizes.tasks)
        plain, plain_makespan_s = _rival_speed(plain_heapq, tasks, sizes.repeat) or (math.nan, math.nan)
        yield Row(f"  plain heapq script {words}", plain, "tasks/s")
        yield _at_least(f"  heddle / plain heapq {words}", _speed(wanted, fifo) / plain, target)
        tuned, _ = _rival_speed(heapq_fifo, tasks, sizes.repeat) or (math.nan, math.nan)
        yield Row(
            f"  tuned heapq script {words}", tuned, "tasks/s", note=f"heddle is {_speed(wanted, fifo) / tuned:.3g}x"
        )
        for name, rival, count in (("SimPy", simpy_fifo, sizes.simpy), ("AccaSim", accasim_fifo, sizes.accasim)):
            found = _rival_speed(rival, _same_tasks(load, count), 1)
            if found is None:
                yield Row(f"  {name} {words}", None, note=rival.why_not())
                continue
            ratios = f"heddle is {_speed(wanted, fifo) / found[0]:,.0f}x, plain heapq {plain / found[0]:.3g}x"
            note = f"{count:,} tasks; {ratios}"
            yield Row(f"  {name} {words}", found[0], "tasks/s", note=note)
        first_fit = measure(Wanted(sizes.tasks, load, policy="fifo+first-fit", repeat=1))
        off = abs(first_fit.makespan_s / plain_makespan_s - 1) * 100
        yield _at_most(f"  makespan, first-fit, against heapq {words}", off, 0.5, "%")
        if load == 0.8:
            file = folder / "bench.parquet"
            make_file(wanted, file)
            read = measure(Wanted(sizes.tasks, load, repeat=sizes.repeat, file=str(file)))
            whole = sizes.tasks / (read.cpu_s + read.read_cpu_s)
            yield _at_least(
                "  heddle with reading Parquet / plain heapq", whole / plain, 10.0, f"{_figure(whole)} tasks/s"
            )
    yield _at_most("FIFO at 150% / at 80% load", times[1.5] / times[0.8], 3.0)


def _everything_on(sizes: Sizes, folder: Path) -> Iterator[Row]:
    plain = measure(Wanted(sizes.tasks, repeat=sizes.repeat))
    alone = {
        nodes: measure(Wanted(sizes.tasks, nodes=nodes, repeat=sizes.repeat, everything=True, record=False))
        for nodes in (150, 1_500)
    }
    yield _at_most("everything on, 150 nodes, engine alone / plain FIFO", alone[150].cpu_s / plain.cpu_s, 2.0)
    yield _at_most("everything on, 1,500 nodes / 150 nodes, engine alone", alone[1_500].cpu_s / alone[150].cpu_s, 1.4)
    for policy, words, most in (
        ("fifo", "nobody reads the reports", 3.5),
        ("fifo+usage-feedback", "sizing reads the reports", 6.0),
    ):
        wanted = Wanted(sizes.tasks, policy=policy, repeat=sizes.repeat, everything=True)
        full = measure(wanted)
        what = f"everything on: AMs, heartbeats, reports, contention, record; {words}"
        yield Row(what, _speed(wanted, full), "tasks/s")
        yield _at_most("  time / plain FIFO", full.cpu_s / plain.cpu_s, most)
        if policy == "fifo":
            yield _at_most("  wall time / plain FIFO: a second core writes", full.wall_s / plain.wall_s, 3.0)


def _policies(sizes: Sizes, folder: Path) -> Iterator[Row]:
    for load in sizes.loads:
        fifo = measure(Wanted(sizes.tasks, load, repeat=sizes.repeat))
        for policy, target in RATIOS.items():
            what = f"{policy} / FIFO at {load:.0%} load"
            try:
                took = measure(
                    Wanted(sizes.tasks, load, policy=policy, repeat=sizes.repeat, with_use="usage" in policy)
                )
            except BenchFailed as failed:
                yield Row(what, None, "", f"<= {target:g}x", False, f"failed: {failed}")
            else:
                yield _at_most(what, took.cpu_s / fifo.cpu_s, target)


def _bounds(sizes: Sizes, folder: Path) -> Iterator[Row]:
    cost = measure_bounds(sizes.compared, sizes.repeat)
    what = f"compare with bounds, 4 policies x 2 seeds x {sizes.compared:,} tasks / its runs alone"
    yield _at_most(what, cost.ratio, 1.3)


def _knobs(sizes: Sizes, folder: Path) -> Iterator[Row]:
    for policy in BY_KNOBS:
        cost = measure_knobs(policy, sizes.repeat)
        yield _at_most(f"{policy} by knobs / native, mix", cost.ratio, 5.0, note=f"{_figure(cost.knobs_ms)} ms")
        yield _at_most("  a tick at 6 nodes", cost.tick_ms, 0.15, "ms")


def _storm(sizes: Sizes, folder: Path) -> Iterator[Row]:
    steps = measure_storm(sizes.repeat)
    yield Row("storm: steps of the live controller", steps, "steps/s", ">= 300 steps/s", steps >= 300)


def _bridge(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Inside a real ResourceManager with 1,000 simulated nodes: needs Java and, the first time, Maven."""
    if not sizes.bridge:
        return
    try:
        for load in sizes.bridge:
            cost = measure_bridge(load, sizes.bridge_s)
            what = f"bridge: added to a decision, {load.waiting:,} requests of {load.apps:,} applications wait"
            note = f"p99 below {_figure(cost.p99_us)}, slowest {_figure(cost.slowest_us)}"
            yield (
                _at_most(what, cost.mean_us, 50.0, "us", note)
                if load.waiting == 1000
                else Row(what, cost.mean_us, "us", note=note)
            )
            times = f"{_figure(cost.stock.cpu_us)} and {_figure(cost.bridged.cpu_us)} us of CPU"
            yield _at_most("  a node update, bridged / stock", cost.ratio, 1.5, note=times)
        put = measure_put()
        what = f"bridge: a table for {PUT_APPS:,} applications and {RM_NODES:,} nodes"
        yield _at_most(what, put.bytes / (1 << 20), 4.0, "MB", f"written and signed in {put.writing_ms:.0f} ms")
        yield _at_most("  put", put.putting_ms, 100.0, "ms", f"slowest {put.slowest_ms:.0f}")
        named = measure_long_poll(sizes.bridge_s)
        what = f"bridge: from asked to a table that names it, {RM_NODES:,} nodes, p50"
        yield _at_most(what, named.p50_ms, 30.0, "ms", f"{named.requests} requests")
        yield _at_most("  p99", named.p99_ms, 200.0, "ms")
    except HeddleError as refused:
        yield Row("bridge", None, note=f"not measured: {refused}")


def _network(sizes: Sizes, folder: Path) -> Iterator[Row]:
    flows = measure_flows(sizes.flows)
    what = f"network: {flows.count:,} flows between {HOSTS} hosts"
    yield _at_most(what, flows.cpu_s, 10.0, "s", f"{_figure(flows.count / flows.cpu_s)} flows/s")


def _memory(sizes: Sizes, folder: Path) -> Iterator[Row]:
    for count, target in ((sizes.tasks, 500.0), (sizes.largest, 3000.0)):
        if count:
            file = folder / "memory.parquet"
            make_file(Wanted(count), file)
            peak = measure(Wanted(count, repeat=1, file=str(file))).peak_rss_mb
            yield _at_most(f"peak memory, {count:,} tasks", peak, target, "MB")


def _imports(sizes: Sizes, folder: Path) -> Iterator[Row]:
    for kind in KINDS:
        path = make_trace(kind, sizes.tasks, folder)
        ours, pandas = measured_import("heddle", path), measured_import("pandas", path)
        path.unlink()
        if ours.failed:
            raise BenchFailed(ours.failed)
        read = f"not run: {pandas.failed}" if pandas.failed else f"{pandas.cpu_s:.3g} s, {pandas.peak_mb:,.0f} MB"
        what = f"import of {sizes.tasks:,} tasks, {kind}"
        yield _at_most(what, ours.cpu_s, 10.0, "s", f"pandas, only reading: {read}")
        yield _at_most(f"  its peak memory, {kind}", ours.peak_mb, 1000.0, "MB")


def _growth(sizes: Sizes, folder: Path) -> Iterator[Row]:
    def repeats(count: int) -> int:
        return 1 if count > sizes.tasks else sizes.repeat

    spans = sizes.growth
    by_tasks = [measure(Wanted(count, repeat=repeats(count))).cpu_s for count in spans.tasks]
    span = f"{spans.tasks[0]:,} to {spans.tasks[-1]:,}"
    yield _at_most(f"growth of time with tasks, {span}", growth.exponent(spans.tasks, by_tasks), 1.1, "exponent")
    by_nodes = [measure(Wanted(sizes.tasks, nodes=count, repeat=sizes.repeat)).cpu_s for count in spans.nodes]
    span = f"{spans.nodes[0]:,} to {spans.nodes[-1]:,}"
    yield _at_most(f"growth of time with nodes, {span}", growth.exponent(spans.nodes, by_nodes), 0.4, "exponent")
    for growing in growth.all_growing(spans):
        yield _at_most(growing.name, growing.exponent(), growing.most, "exponent")


def _start(sizes: Sizes, folder: Path) -> Iterator[Row]:
    help_code = "import sys; from heddle.cli.main import run; sys.exit(run(['--help']))"
    taken = [_wall_s(help_code, os.environ) for _ in range(5)]
    yield _at_most("heddle --help", statistics.median(taken), 0.4, "s")
    for words, most_s in (("policies", 0.35), ("simulate mix", 0.8)):
        code = f"import sys; from heddle.cli.main import run; sys.exit(run({words.split()!r}))"
        taken = [_cpu_s(code) for _ in range(6)][1:]  # the first may have to compile
        yield _at_most(f"heddle {words}, CPU", statistics.median(taken), most_s, "s")
    if sizes.cold:
        compile_code = (
            "from heddle.run import prepare_engine\nfrom heddle.policy.parse import parse_policy\n"
            f"prepare_engine([parse_policy(text) for text in {DEMO_POLICIES!r}], 2)"
        )
        cache = folder / "cache"
        cold_s = _wall_s(compile_code, os.environ | {"NUMBA_CACHE_DIR": str(cache)})
        shutil.rmtree(cache, ignore_errors=True)
        yield _at_most("cold compile for the demo's policies", cold_s, 20.0, "s")


def _cpu_s(code: str) -> float:
    def of_children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = of_children()
    _wall_s(code, os.environ)
    return of_children() - before


def _wall_s(code: str, environment: Any) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchFailed((done.stderr.strip().splitlines() or ["no message"])[-1])
    return time.perf_counter() - began


PARTS = (
    _against_rivals, _everything_on, _policies, _bounds, _knobs, _storm, _bridge, _network, _memory, _imports, _growth,
    _start,
)  # fmt: skip
