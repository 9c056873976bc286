"""Records larger than memory: everything that is read off a record in pieces is what it is of all of it at once."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from heddle.analysis.measures import numbers_in_pieces
from heddle.analysis.measures.curves import run_curves
from heddle.analysis.measures.edges import Edges
from heddle.analysis.measures.metrics import run_metrics
from heddle.analysis.waiting.detail import detail
from heddle.analysis.waiting.explain import explain, find_job, most_delayed
from heddle.analysis.waste import group_sums
from heddle.analysis.waste.efficiency import GROUPS, containers_of_run, document, efficiency, received
from heddle.analysis.waste.ledger import ledger_and_course
from heddle.analysis.waste.node_map import node_map
from heddle.record import parts
from heddle.record import run as record_run
from heddle.record.files import read_record
from heddle.record.run import Run
from heddle.record.stored import StoredTable
from heddle.record.writing import RecordFolder
from heddle.run import simulate
from heddle.traces.catalogue import make_workload, suggested_cluster

RUNS = (  # how many rows a part of the record has, and after how many parts of attempts the run is killed; 0: it is not
    ("mix(jobs=12)", "capacity+usage-feedback+admission-control", 150, 0),
    ("am-storm", "fifo", 11, 0),  # stalls
    ("network-dags", "fifo+network-aware", 200, 0),
    ("phases", "dress", 90, 0),
    ("mix(jobs=30)", "fair", 25, 20),
)


class Both:
    """A run in memory, and the same from disk, where everything is cut into pieces and hardly anything is held."""

    def __init__(self, name: str, policy: str, rows: int, killed_after: int, folder: Path) -> None:
        self._rows, self.killed = rows, killed_after > 0
        workload, cluster = make_workload(name, 1), suggested_cluster(name)
        left = folder.with_name("left")
        with self._small(), copied_after(killed_after, left):
            simulate(workload, cluster, policy, seed=1, record=folder)
            self.stored = read_record(left if killed_after else folder)
        if killed_after:  # tests/test_streaming.py compares its rows with those of a run that was not killed
            self.whole = Run(manifest=self.stored.manifest, **read_record(left).tables())
        else:
            self.whole = simulate(workload, cluster, policy, seed=1, record=True)

    def of(self, analysis: Callable[[Run], Any]) -> tuple[Any, Any]:
        """What it says of both. It must not have read a long table of the second one as a whole."""
        whole = analysis(self.whole)
        with self._small():
            stored = analysis(self.stored)
        for table in ("attempts", "events"):
            assert isinstance(vars(self.stored)[table], StoredTable), table
        return whole, stored

    @contextmanager
    def _small(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parts, "PART_ROWS", self._rows)
            patch.setattr(record_run, "PIECE_ROWS", self._rows)
            patch.setattr(numbers_in_pieces, "MOST_HELD", 5)
            patch.setattr(group_sums, "MOST_HELD", 6)
            yield


@contextmanager
def copied_after(parts_of_attempts: int, place: Path) -> Iterator[None]:
    """What a run that is killed then would leave of its record."""
    add_part = RecordFolder.add_part

    def add(self: RecordFolder, table: str, frame: pl.DataFrame) -> None:
        add_part(self, table, frame)
        if table == "attempts" and len(self.part_files(table)) == parts_of_attempts:
            shutil.copytree(self.place, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordFolder, "add_part", add)
        yield


@pytest.fixture(scope="module", params=RUNS, ids=lambda one: f"{one[0]}{', killed' if one[3] else ''}")
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(*request.param, tmp_path_factory.mktemp("both") / "record")


def same(one: Any, other: Any) -> None:
    """To the last bit, but for fractions that are added up in another order."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, yours in zip(one, other, strict=True):
            same(mine, yours)
    elif isinstance(one, np.ndarray | float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    else:
        assert one == other


def test_what_a_killed_run_left_is_partial_and_its_jobs_stay_on_disk_too(both: Both) -> None:
    assert (both.stored.manifest["outcome"] == "partial") == both.killed
    if both.killed:
        assert "known up to" in both.stored.manifest["reason"]
        assert isinstance(vars(both.stored)["jobs"], StoredTable)
        assert 0 < both.whole.jobs["ended_at_ms"].null_count() < both.whole.jobs.height


TOOK = ("wall_s", "simulate_s", "peak_rss_mb", "compile_s", "tasks_per_s")


@pytest.mark.parametrize("edges", [Edges(), Edges(warm_up_s=20, cool_down_s=30)], ids=["all", "within edges"])
def test_metrics_and_curves(both: Both, edges: Edges) -> None:
    whole, stored = both.of(lambda run: run_metrics(run, edges))
    same(*({key: one[key] for key in one if key not in TOOK} for one in (whole, stored)))
    assert whole["jct_s"] == stored["jct_s"]  # whole numbers: to the last bit
    same(*both.of(lambda run: asdict(run_curves(run, edges))))


def test_the_ledger_is_the_same_to_the_last_unit(both: Both) -> None:
    (ledger, course), (other, other_course) = both.of(lambda run: ledger_and_course(run, 20))
    assert ledger == other
    same(course.shares, other_course.shares)
    same(*both.of(lambda run: asdict(node_map(run))))


@pytest.mark.parametrize("by", GROUPS)
def test_efficiency_in_every_grouping(both: Both, by: str) -> None:
    def told(run: Run) -> dict[str, object]:
        containers = containers_of_run(run)
        return document(efficiency(containers, by), received(containers, by), by)

    whole, stored = both.of(told)
    assert whole == stored


def test_jobs_are_explained_alike(both: Both) -> None:
    delayed = both.of(lambda run: most_delayed(run, 10))
    assert delayed[0] == delayed[1]
    for job in range(0, both.whole.jobs.height, 5):
        name = both.whole.jobs["name"][job]
        found = both.of(lambda run, name=name: explain(run, find_job(run, name)))
        assert found[0] == found[1]
        for span in found[0].spans[:3]:
            said = both.of(lambda run, life=found[0], span=span: detail(run, life, span))
            assert said[0] == said[1]
