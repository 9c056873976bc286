"""`heddle traces describe|slice|scale|sample|repeat|export|fit|share`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.inputs import workload_for
from heddle.cli.output import Json, counted, print_json, print_tables, say, table
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.model.workload import Workload

Spec = Annotated[str, typer.Argument(metavar="WORKLOAD", help="An imported trace, a .csv, or a built-in name.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The .parquet file to write.")]


def describe(workload: Spec, json: Json = False) -> None:
    """Show what a trace contains, what it lacks for which policy, and which cluster it would load to 80 %.

    \b
    Examples:
      heddle traces describe trace.parquet
      heddle traces describe mix --json
    """
    from heddle.analysis.trace_contents.facts import trace_facts
    from heddle.report.wording import write_s

    facts = trace_facts(workload_for(workload))
    if json:
        print_json(facts)
        return
    use = facts["use"]
    how = ", over time" if use["over_time"] else ", one level for each task" if use["tasks_with_use"] else ""
    rows = [
        ("jobs", f"{facts['jobs']:,} of {counted(facts['users'], 'user')} in {counted(facts['queues'], 'queue')}"),
        ("tasks", f"{facts['tasks']:,} in {counted(facts['stages'], 'stage')}"),
        ("span", write_s(facts["span_s"])),
        ("between jobs", _spread(facts["gap_s"], " s")),
        ("tasks per job", _spread(facts["tasks_per_job"], "")),
        ("durations", _spread(facts["duration_s"], " s")),
        *(
            (f"reserved {name}", _spread(points, " MB" if name == "memory" else ""))
            for name, points in facts["reservation"].items()
        ),
        ("use", f"recorded for {use['tasks_with_use']:,} of {use['tasks']:,} tasks{how}"),
        *((f"arriving {name}", _sparkline(levels)) for name, levels in facts["load"]["busy"].items()),
    ]
    print_tables([table(("", ""), [row for row in rows if row[1]], title=f"trace {facts['name']}")])
    for what in facts["missing"]:
        say(f"note: {what}")
    suggested = facts["cluster"]
    loads = ", ".join(f"{name} {100 * value:.0f} %" for name, value in suggested["load"].items())
    say(f"a cluster that it loads to 80 % at most: --cluster {suggested['text']} (mean load: {loads})")


def slice_trace(
    workload: Spec,
    output: Output,
    begin: Annotated[
        float, typer.Option("--from", help="First submission, in seconds from the trace's start.", min=0)
    ] = 0.0,
    end: Annotated[float | None, typer.Option("--to", help="End of submissions (not included), in seconds.")] = None,
    json: Json = False,
) -> None:
    """Keep only the jobs submitted in a time window.

    \b
    Example:
      heddle traces slice trace.parquet --from 3600 --to 7200 -o hour.parquet
    """
    import numpy as np

    loaded = workload_for(workload)
    at = loaded.jobs["submit_at_ms"] / 1000
    _write(loaded, (at >= begin) & (at < (np.inf if end is None else end)), workload, output, json)


def scale(
    workload: Spec,
    output: Output,
    load: Annotated[float, typer.Option(help="Factor on the submission rate.", min=0.0001)] = 1.0,
    duration: Annotated[float, typer.Option(help="Factor on all durations.", min=0)] = 1.0,
    memory: Annotated[float, typer.Option(help="Factor on reserved and used memory.", min=0)] = 1.0,
    vcores: Annotated[float, typer.Option(help="Factor on reserved and used vcores.", min=0)] = 1.0,
    json: Json = False,
) -> None:
    """Make a trace denser, longer or larger.

    \b
    Example:
      heddle traces scale trace.parquet --load 1.5 -o busy.parquet
    """
    from heddle.traces.tools.scale import Factors, scaled

    _store(scaled(workload_for(workload), Factors(load, duration, memory, vcores)), workload, output, json)


def sample(
    workload: Spec,
    output: Output,
    fraction: Annotated[float | None, typer.Option(help="Share of the jobs.", min=0, max=1)] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of jobs.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.", min=0)] = 0,
    json: Json = False,
) -> None:
    """Draw a sample of the jobs, at their original times.

    \b
    Example:
      heddle traces sample trace.parquet --jobs 1000 --seed 7 -o small.parquet
    """
    import numpy as np

    if (fraction is None) == (jobs is None):
        raise BadInput.of("traces sample", "say either --fraction or --jobs")
    loaded = workload_for(workload)
    wanted = jobs if jobs is not None else round((fraction or 0.0) * loaded.n_jobs)
    if wanted > loaded.n_jobs:
        raise BadInput.of("--jobs", f"the trace has only {loaded.n_jobs}")
    chosen = np.zeros(loaded.n_jobs, bool)
    chosen[np.random.default_rng(seed).choice(loaded.n_jobs, wanted, replace=False)] = True
    _write(loaded, chosen, workload, output, json)


def export(
    workload: Spec,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv, .parquet, or .json (SLS) file.")],
    json: Json = False,
) -> None:
    """Write a workload for other tools: a CSV of tasks, heddle's Parquet, or YARN's scheduler load simulator (SLS).

    heddle lists what the format cannot express; nothing is dropped silently.

    \b
    Examples:
      heddle traces export trace.parquet -o trace.csv
      heddle traces export mix -o sls-jobs.json
    """
    from heddle.model.whole_files import write_whole
    from heddle.traces.formats.sls import write_sls
    from heddle.traces.parquet import write_parquet
    from heddle.traces.tools.export_csv import write_csv

    loaded = workload_for(workload)
    lost: list[str] = []
    if output.suffix == ".parquet":
        write_parquet(loaded, output)
    elif output.suffix in (".csv", ".json"):
        text, lost = (write_csv if output.suffix == ".csv" else write_sls)(loaded)
        write_whole(output, text)
    else:
        raise BadInput.of(str(output), "the name must end in .csv, .parquet or .json (SLS)", field="--output")
    for what in lost:
        say(f"left out: {what}")
    if json:
        print_json({"out": str(output), "jobs": loaded.n_jobs, "tasks": loaded.n_tasks, "left_out": lost})
    else:
        say(f"wrote {output}: {loaded.n_jobs} jobs, {loaded.n_tasks} tasks")


def fit(
    workload: Spec,
    output: Output,
    jobs: Annotated[int | None, typer.Option(help="Number of jobs [default: as many as the trace has].", min=2)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 0,
    json: Json = False,
) -> None:
    """Fit a synthetic workload to a trace, and say how well it fits (two-sample tests).

    \b
    Example:
      heddle traces fit trace.parquet -o like-it.parquet
    """
    from heddle.analysis.trace_contents.fit import fit as compute
    from heddle.traces.parquet import write_parquet

    fitted, report = compute(workload_for(workload), jobs, seed)
    _must_be_parquet(output)
    write_parquet(fitted, output)
    if json:
        print_json({"out": str(output), "jobs": fitted.n_jobs, "tasks": fitted.n_tasks, **report})
        return
    rows = [(name, f"{one['distance']:.3f}", f"{one['p']:.3g}", _verdict(one)) for name, one in report["tests"].items()]
    print_tables(
        [table(("quantity", "distance", "p", ""), rows, title="fitted against the trace (Kolmogorov-Smirnov)")]
    )
    say(f"wrote {output}: {fitted.n_jobs} jobs, {fitted.n_tasks} tasks")


def share(
    workload: Spec,
    output: Output,
    salt_file: Annotated[
        Path | None,
        typer.Option(help="A file with a secret, to give the same names again [default: a new one, forgotten]."),
    ] = None,
    round_s: Annotated[float, typer.Option(help="Round times to multiples of this many seconds.", min=0)] = 0.0,
    json: Json = False,
) -> None:
    """Write a trace that can be shared: hashed names, coarser times, and a manifest of what was done.

    \b
    Examples:
      heddle traces share trace.parquet -o public.parquet
      heddle traces share trace.parquet --round-s 60 --salt-file secret.txt -o public.parquet
    """
    import json as json_module
    import secrets

    from heddle.model.access import read_by_others
    from heddle.model.whole_files import write_whole
    from heddle.traces.imports.store import beside
    from heddle.traces.parquet import write_parquet
    from heddle.traces.tools.share import anonymised

    _must_be_parquet(output)
    try:
        salt = secrets.token_bytes(32) if salt_file is None else salt_file.read_bytes()
    except OSError as error:
        raise BadInput.of(str(salt_file), f"cannot be read: {error.strerror or error}", field="--salt-file") from None
    if salt_file is not None and read_by_others(salt_file):
        say(f"note: {salt_file} can be read by others than its owner, who could try names out with it: chmod 600")
    if len(salt) < 8:
        raise BadInput.of(str(salt_file), "a secret of less than 8 bytes can be guessed", field="--salt-file")
    shared, manifest = anonymised(workload_for(workload), salt, round(1000 * round_s))
    write_whole(beside(output, "manifest.json"), json_module.dumps(manifest, indent=1) + "\n")
    write_parquet(shared, output)
    if json:
        print_json({"out": str(output), **manifest})
    else:
        say(f"wrote {output} and {beside(output, 'manifest.json').name}: {shared.n_jobs} jobs, {shared.n_tasks} tasks")


def repeat(
    workload: Spec,
    output: Output,
    times: Annotated[int, typer.Option(help="How many times.", min=1)],
    every: Annotated[
        float | None,
        typer.Option(metavar="S", help="Seconds from start to start [default: its span plus a mean gap].", min=0),
    ] = None,
    json: Json = False,
) -> None:
    """Write a trace many times in a row, such as a day for a year. The file may be larger than memory.

    Jobs of the second repetition get `~2` appended to their names, and so on. `heddle simulate FILE --blocks` runs it.

    \b
    Example:
      heddle traces repeat day.parquet --times 365 --every 86400 -o year.parquet
    """
    from heddle.traces.tools.repeat import period_of, write_repeated

    _must_be_parquet(output)
    loaded = workload_for(workload)
    _copy_cluster(workload, output)
    rows = write_repeated(loaded, times, period_of(loaded) if every is None else round(1000 * every), output)
    if json:
        print_json({"out": str(output), "jobs": rows["job"], "tasks": times * loaded.n_tasks})
    else:
        say(f"wrote {output}: {rows['job']} jobs, {times * loaded.n_tasks} tasks")


def _must_be_parquet(output: Path) -> None:
    if output.suffix != ".parquet":
        raise BadInput.of(str(output), "the name must end in .parquet", field="--output")


def _write(loaded: Workload, chosen: Any, spec: str, output: Path, json: bool) -> None:
    from heddle.traces.tools.select import select_jobs

    made, dropped = select_jobs(loaded, chosen)
    if dropped:
        say(f"note: {dropped} dependencies on jobs that are not in it were dropped")
    _store(made, spec, output, json)


def _store(made: Workload, spec: str, output: Path, json: bool) -> None:
    """Write it, with the cluster of the trace it was made from."""
    from heddle.traces.parquet import write_parquet

    _must_be_parquet(output)
    _copy_cluster(spec, output)
    write_parquet(made, output)
    if json:
        print_json({"out": str(output), "jobs": made.n_jobs, "tasks": made.n_tasks})
    else:
        say(f"wrote {output}: {made.n_jobs} jobs, {made.n_tasks} tasks")


def _copy_cluster(spec: str, output: Path) -> None:
    from heddle.model.whole_files import write_whole
    from heddle.traces.imports.store import beside, cluster_beside

    if (cluster := cluster_beside(Path(spec))) is not None and cluster != beside(output, "cluster.yaml"):
        write_whole(beside(output, "cluster.yaml"), cluster.read_text(encoding="utf-8"))


def _verdict(one: dict[str, float]) -> str:
    return "no difference shown" if one["p"] > 0.05 else "differs"


def _spread(points: dict[str, float], unit: str) -> str:
    return ", ".join(f"{name} {value:,.4g}{unit}" for name, value in points.items())


def _sparkline(levels: list[float]) -> str:
    marks = " ▁▂▃▄▅▆▇█"
    most = max(levels, default=0.0) or 1.0
    return "".join(marks[min(8, round(8 * level / most))] for level in levels)
