"""`heddle sweep run|show`: a cross product of everything, resumable, and what came out best."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.engines import On, engine_on
from heddle.cli.group import CommandGroup
from heddle.cli.inputs import compile_with_message
from heddle.cli.output import (
    DONE,
    FAILED,
    Json,
    print_json,
    print_line,
    print_paragraphs,
    print_tables,
    say,
    say_wrapped,
    table,
)
from heddle.cli.progress import attempts_with_progress
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.analysis.certainty.sampling import Sampling
    from heddle.analysis.comparison.best import Best
    from heddle.analysis.comparison.compare import ComparedMetric

_SHOWN = 10  # candidates of a scenario

app = typer.Typer(
    cls=CommandGroup,
    help="Run a cross product of policies, parameters, workloads, loads, clusters, executors and seeds.\n\n"
    "\b\nExamples:\n"
    "  heddle sweep run sizing.yaml -o results\n"
    "  heddle sweep show results --report sweep.html",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("run")
def run_sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .yaml or .toml file, see below.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the results: created, or continued.")],
    on: On = "local",
    json: Json = False,
) -> int:
    """Run a sweep, or continue one that was interrupted.

    heddle checks the whole file before anything runs. It stores each run as soon as it ends, so whatever stops the
    sweep, the same command continues where it left off. A failed run does not stop the others: its error goes to
    results/failed, the exit code is 1, and the same command retries it. The results are one Parquet data set for
    Polars, DuckDB and others: results/runs/*.parquet.

    \b
    The file:
      workloads: ["mix(jobs={jobs})"]
      policies: [fifo, "drf+n-sigma(n={n})"]
      clusters: [8x65536x24]            default: the built-in workload's own
      loads: [0.8, 1.0, 1.2]            how much faster jobs are submitted
      executors: [native, yarn-knobs]   or bridge; default: native
      parameters: {jobs: [20, 40], n: [2, 3, 5]}
      seeds: 5
    \b
    Examples:
      heddle sweep run sizing.yaml -o results
      heddle sweep run sizing.yaml -o results --on local:2 --json
      heddle sweep run sizing.yaml -o results --on dask://scheduler:8786
    """
    from heddle.experiments.attempts import Failed
    from heddle.experiments.sweep_file import read_sweep
    from heddle.experiments.sweep_run import run_row
    from heddle.experiments.sweep_store import FAILED_RUNS, SweepStore, parameter_types

    engine = engine_on(on)
    if not file.is_file():
        raise BadInput.of(str(file), "no such file")
    sweep = read_sweep(file)
    store = SweepStore(output)
    store.open_for(sweep, file.read_text())
    done = store.done()
    left = [one for one in sweep.runs if one.key not in done]
    before = len(sweep.runs) - len(left)
    others = len(done) - before
    say(
        f"{sweep.name}: {len(sweep.runs)} runs, {before} already "
        "done" + (f"; {others} from other sweeps" if others else "")
    )
    for n_resources in {len(one.cluster.resources) for one in left}:
        compile_with_message(sweep.policies, n_resources)
    types = parameter_types(sweep.runs)
    failed = 0
    for place, row in attempts_with_progress(engine, run_row, left, before):
        if isinstance(row, Failed):
            failed += 1
            store.put_failed(left[place], row)
            if failed <= _SHOWN:
                say(f"failed: {left[place].words}: {row.says}")
        else:
            store.put(row, types)
    ran = len(left) - failed
    if json:
        counts = {"runs": len(sweep.runs), "ran_now": ran, "failed": failed}
        print_json({"name": sweep.name, "folder": str(output), **counts})
    else:
        say(f"{ran} runs done; to see them: heddle sweep show {shlex.quote(str(output))}")
    if failed:
        say(f"{failed} runs failed; {output / FAILED_RUNS} says why; rerun the same command to retry them")
    return FAILED if failed else DONE


@app.command("show")
def show_sweep(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What `heddle sweep run` wrote.")],
    metric: Annotated[str, typer.Option(help="The metric that decides, as in the JSON of a run.")] = "jct_s.mean",
    report: Annotated[Path | None, typer.Option(help="Draw lines and heat maps into this HTML file.")] = None,
    json: Json = False,
) -> None:
    """Show which policy came out best, and how certain that is.

    In each scenario (workload, load, cluster, executor) the policies are compared on the same seeds. Intervals against
    the best are corrected for having looked at all pairs: with many candidates, some are good by luck.

    \b
    Examples:
      heddle sweep show results
      heddle sweep show results --metric makespan_s --report sweep.html
      heddle sweep show results --json
    """
    from rich.text import Text

    from heddle.analysis.comparison.sweep_axes import best_of, numeric_axes, sampling_in, scenarios
    from heddle.experiments.sweep_store import FAILED_RUNS, SweepStore
    from heddle.report.page import write_page
    from heddle.report.sweep import standing_cells, standings_scale, sweep_html

    chosen = _metric(metric)
    store = SweepStore(folder)
    name, keys = store.plan()
    rows = store.table(keys)
    if rows.height < len(keys):
        failed = len(store.failed() & set(keys))
        words = f", {failed} failed ({folder / FAILED_RUNS} says why)" if failed else ""
        say(f"{rows.height} of {len(keys)} runs are done{words}; `heddle sweep run` continues")
    if report is not None:
        write_page(report, sweep_html(name, rows, chosen, shlex.join(["heddle", *sys.argv[1:]])))
        say(f"wrote {report}")
    found = [(where, best_of(some, chosen), sampling_in(some)) for where, some in scenarios(rows)]
    if json:
        places = [_as_json(where, best, sampling) for where, best, sampling in found]
        print_json({"name": name, "runs": rows.height, "planned": len(keys), "metric": metric, "scenarios": places})
        return
    for where, best, _ in found:
        scale = standings_scale(best, chosen)
        title = chosen.title.lower() + (f" ({scale.unit})" if scale.unit else "")
        headings = ("policy", title, "against the best", "")
        cells = standing_cells(best, scale, _SHOWN)
        for left in best.left_out[:_SHOWN]:
            cells.append((left.name, "–", "", Text(left.why, style="red" if left.stalled else "")))
        print_paragraphs([best.sentence()])
        print_tables([table(headings, cells, title=where)])
        if more := sum(max(0, len(some) - _SHOWN) for some in (best.standings, best.left_out)):
            print_line(f"{more} more are not shown here.")
            print_line("")
    for caution in dict.fromkeys(sampling.caution for _, _, sampling in found):
        if caution:
            say_wrapped(caution)
    if report is None and numeric_axes(rows):
        say("--report FILE draws it over " + ", ".join(axis.removeprefix("param_") for axis in numeric_axes(rows)))


def _metric(name: str) -> ComparedMetric:
    from heddle.analysis.comparison.compare import COMPARED
    from heddle.model.suggestion import did_you_mean

    known = {metric.name: metric for metric in COMPARED if metric.better}
    if name not in known:
        raise BadInput.of(
            "--metric", f"{name} cannot decide{did_you_mean(name, known) or ''}; known: {', '.join(known)}"
        )
    return known[name]


def _as_json(where: str, best: Best, sampling: Sampling) -> dict[str, Any]:
    return {
        "scenario": where,
        "sampling": sampling.as_json(),
        "sentence": best.sentence(),
        "pairs": best.pairs,
        "left_out": [
            {"policy": one.name, "why": one.why, "stalled_runs": one.stalled, "all_runs": one.runs}
            for one in best.left_out
        ],
        "standings": [
            {
                "policy": one.name, "mean": one.mean, "ci95": one.interval, "behind_pct": one.behind_pct,
                "behind_ci": one.behind, "beaten": one.beaten,
            }
            for one in best.standings
        ],
    }  # fmt: skip
