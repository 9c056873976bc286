"""A whole tuning, on built-in workloads and on a recorded trace: halves, interruption, the answer, the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.schemas import valid
from heddle.cli.main import run
from heddle.experiments.engines import LocalProcesses
from heddle.model.errors import BadInput
from heddle.policy.lever import Question
from heddle.traces.catalogue import suggested_cluster
from heddle.traces.clusters import uniform_cluster
from heddle.traces.load import load_workload
from heddle.traces.parquet import write_parquet
from heddle.tune.aims import Aims, Keep, Measure, read_aims
from heddle.tune.halves import halves_of
from heddle.tune.journal import TRIALS, Journal
from heddle.tune.page import tuning_html
from heddle.tune.race import PRESENT
from heddle.tune.space import Option, space_around
from heddle.tune.tuning import Bench, Kept, Tuned, tune
from heddle.tune.words import next_commands, verdict

WORKLOAD = "mix(jobs=20)"
IN_PROCESS = LocalProcesses(1).run
OPTIONS = {
    Question.SIZING: (Option("usage-feedback", {"damping": (0.125, 0.25)}),),
    Question.ADMISSION: (Option("am-share", {"percent": (0.1, 0.5)}),),
}


SPACE = space_around("capacity", load_workload(WORKLOAD), suggested_cluster(WORKLOAD), "native", OPTIONS)


def tuned(
    folder: Path | None = None,
    aims: Aims | None = None,
    runner: Callable[..., Iterator[tuple[int, Any]]] = IN_PROCESS,
    **more: Any,
) -> Tuned:
    cluster = suggested_cluster(WORKLOAD)
    halves = halves_of(WORKLOAD, load_workload(WORKLOAD), cluster, None)
    chosen = {"seed": 0, "most_candidates": 6, "budget_s": None, "command": "heddle tune", "complete": False} | more
    wanted = aims or read_aims("jct.mean", ["crashed_pct <= 100"], ())
    return tune(SPACE, wanted, Bench(halves, cluster, "native", runner, Journal(folder)), **chosen)


@pytest.fixture(scope="module")
def found() -> Tuned:
    return tuned()


def test_what_helps_is_found_and_shown_on_unseen_jobs(found: Tuned) -> None:
    assert "usage-feedback" in found.policy
    assert found.use_it
    change, interval = found.change
    assert change is not None
    assert interval is not None
    assert interval[1] < 0
    assert found.comparison is not None
    assert found.comparison.baseline == "capacity"
    assert verdict(found).startswith(f"Use {found.policy}: mean completion")
    assert [how.count("--mode live") for _, how in next_commands(found)] == [0, 1, 1]


def test_search_and_report_share_no_jobs(found: Tuned) -> None:
    halves = halves_of(WORKLOAD, load_workload(WORKLOAD), suggested_cluster(WORKLOAD), None)
    tasks = [half.jobs(0).tasks["duration_ms"] for half in (halves.search, halves.report)]
    assert not np.array_equal(*tasks)


def test_an_interrupted_search_ends_with_the_same_answer(found: Tuned, tmp_path: Path) -> None:
    """Interrupted after every few runs, with a torn last line: no run is computed twice, and nothing else comes out."""
    computed: list[str] = []

    class Interrupted(Exception):
        pass

    def stops_soon(function: Callable[[Any], Any], configurations: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for count, (place, result) in enumerate(IN_PROCESS(function, configurations)):
            if count == 7:
                raise Interrupted
            computed.append(getattr(result, "key", ""))
            yield place, result

    again: Tuned | None = None
    for _ in range(8):
        try:
            again = tuned(tmp_path, runner=stops_soon)
        except Interrupted:
            with (tmp_path / TRIALS).open("a") as journal:
                journal.write('{"key": "torn')
        else:
            break
    assert again is None  # the last comparison alone is longer than seven runs
    again = tuned(tmp_path)
    trials = [key for key in computed if key]
    assert len(trials) == len(set(trials)) > 7
    assert again.policy == found.policy
    assert again.change == found.change
    assert list(again.race.standings) == list(found.race.standings)


def test_several_processes_find_the_same(found: Tuned) -> None:
    def reversed_order(function: Callable[[Any], Any], configurations: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        yield from reversed([(place, function(one)) for place, one in enumerate(configurations)])

    again = tuned(runner=reversed_order)
    assert (again.policy, again.change) == (found.policy, found.change)


def test_a_budget_ends_between_rounds_and_its_number_of_candidates_repeats_it() -> None:
    ticks = iter(range(1000))
    hurried = tuned(most_candidates=100, budget_s=0.5, clock=lambda: float(next(ticks)))
    assert hurried.out_of_time
    again = tuned(most_candidates=hurried.race.candidates)
    assert not again.out_of_time
    assert (again.policy, list(again.race.standings)) == (hurried.policy, list(hurried.race.standings))


def test_where_nothing_keeps_the_limits_the_answer_is_to_keep_what_there_is() -> None:
    keep = Keep(Measure("makespan_s"), -99.0, relative=True, at_least=False)
    strict = tuned(aims=Aims(Measure("jct_s.mean"), (keep,)))
    assert strict.best == PRESENT
    assert verdict(strict).startswith("Keep what you have (capacity): of ")
    assert next_commands(strict) == []


def test_what_breaks_a_limit_on_unseen_jobs_only_is_not_recommended(found: Tuned) -> None:
    broken = Kept(Keep(Measure("jct_s.p95", "root.prod"), 5.0, relative=True, at_least=False), 9.0, (7.0, 11.0))
    other = replace(found, kept=(broken,))
    assert not other.use_it
    assert "breaks what must be kept on jobs that the search has not seen: root.prod jct_s.p95 <= +5%" in verdict(other)
    assert next_commands(other) == []


def test_the_report_says_the_verdict_first_and_shows_the_search(found: Tuned) -> None:
    page = tuning_html(found, "mix", "heddle tune ...")
    assert page.index("Use capacity+") < page.index("What to do next") < page.index("The search")
    assert "How flat the optimum is" in page
    assert "On jobs that the search has not seen" in page
    assert page.count("<h1>") == 1


def trace(tmp_path: Path) -> Path:
    """Jobs of a recorded kind: a file, twenty short ones in each of 40 minutes."""
    file = tmp_path / "trace.parquet"
    write_parquet(load_workload("over-reserved-day(tasks=400)"), file)
    return file


def test_halves_of_a_trace_are_every_other_block(tmp_path: Path) -> None:
    file = trace(tmp_path)
    whole = load_workload(str(file))
    span_s = int(np.ptp(whole.jobs["submit_at_ms"])) / 1000
    halves = halves_of(str(file), whole, uniform_cluster(8, 28672, 18), span_s / 20)
    search, report = halves.search.jobs(0), halves.report.jobs(0)
    names = [set(half.job_names.to_list()) for half in (search, report) if half.job_names is not None]
    assert len(names) == 2
    assert not names[0] & names[1]
    assert search.n_jobs + report.n_jobs == whole.n_jobs
    drawn = halves.report.jobs(3).job_names
    assert drawn is not None
    assert {name.partition("~")[0] for name in drawn.to_list()} <= names[1]
    assert halves.sampling.kind == "blocks"
    assert halves.sampling.blocks == 10


def test_a_trace_that_is_too_short_is_refused(tmp_path: Path) -> None:
    file = trace(tmp_path)
    whole = load_workload(str(file))
    span_s = int(np.ptp(whole.jobs["submit_at_ms"])) / 1000
    with pytest.raises(BadInput, match="10 are needed"):
        halves_of(str(file), whole, uniform_cluster(8, 28672, 18), span_s / 6)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "tuning.html"
    arguments = ["tune", WORKLOAD, "--trials", "2", "--on", "local:1", "--executor", "native"]
    assert run([*arguments, "--report", str(report), "--json"]) == 0
    document = valid("tune", json.loads(capsys.readouterr().out))
    assert document["candidates"] == 2
    assert len(document["tried"]) == 3
    assert document["use"] in (None, document["best_of_search"])
    assert report.read_text().count("<h1>") == 1
    assert run(["tune", WORKLOAD, "--goal", "jct.men"]) == 2
    assert run(["tune", WORKLOAD, "--budget", "soon"]) == 2
    assert "as in 90s, 10m or 1.5h" in capsys.readouterr().err
