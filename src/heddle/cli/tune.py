"""`heddle tune`: the best policy for one cluster, and whether it is worth changing anything."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heddle.cli.completion import workload_names
from heddle.cli.durations import seconds
from heddle.cli.engines import On, engine_on
from heddle.cli.inputs import ClusterOption, cluster_for, compile_with_message, read_all, workload_for
from heddle.cli.output import Json, print_json, print_line, print_paragraphs, print_tables, say, terminal_width
from heddle.cli.progress import run_with_progress
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.model.cluster import Cluster
    from heddle.tune.race import Race
    from heddle.tune.tuning import Tuned

_DEFAULT_BUDGET = "10m"
_MOST_CANDIDATES = 100_000  # a budget ends the search long before


def tune(
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD|RECORD",
            help="A built-in name, a .csv of tasks, a .parquet file, or a record of `heddle yarn observe`.",
            autocompletion=workload_names,
        ),
    ],
    cluster: ClusterOption = None,
    goal: Annotated[
        str, typer.Option(help="What to improve: jct.mean, jct.p95, makespan, wait.mean, slowdown.mean ...")
    ] = "jct.mean",
    keep: Annotated[
        list[str] | None,
        typer.Option(help='Repeatable: a limit, as in "root.prod jct.p95 <= +5%" [default: "crashed_pct <= 0.1"].'),
    ] = None,
    present: Annotated[
        str | None,
        typer.Option(
            help="The policy to start from [default: what the cluster runs, if its file says so; else capacity]."
        ),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="How long to search: 90s, 10m, 2h [default: 10m, unless --trials].")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="How many candidates to try at most.", min=1)] = None,
    executor: Annotated[
        Literal["native", "yarn-knobs", "bridge"],
        typer.Option(
            help="yarn-knobs: only what stock YARN can be steered to do. bridge: what YARN with the bridge can do. "
            "native: every lever."
        ),
    ] = "yarn-knobs",
    seed: Annotated[int, typer.Option(help="Seed of the search.", min=0)] = 0,
    block_s: Annotated[
        float | None, typer.Option(help="Length of time blocks in seconds [default: what the jobs suggest].", min=0.001)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Keep the trials here; the same command then continues from them."),
    ] = None,
    on: On = "local",
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json: Json = False,
) -> None:
    """Find the policy that suits this cluster's jobs best, and decide whether a change is worth it.

    The search uses every other time block of the trace; the report uses the others, so luck in the search does not
    look like a gain. If nothing beats today's policy with confidence, the answer is to keep it.
    The same seed and number of candidates give the same answer on any number of processes, interrupted or not.

    \b
    Examples:
      heddle tune trace.parquet --cluster cluster.yaml --keep "root.prod jct.p95 <= +5%" --budget 20m
      heddle tune trace.parquet -c cluster.yaml --goal makespan --trials 60 -o tuning --report tuning.html
      heddle tune monday/record --budget 10m -o tuning
      heddle tune mix --trials 30 --json
    """
    from heddle.policy.parse import parse_policy
    from heddle.policy.present import present_policy
    from heddle.report.page import write_page
    from heddle.run import check_executor, check_run
    from heddle.sim.memory.queue_tree import QueueTree
    from heddle.tune.aims import read_aims
    from heddle.tune.halves import halves_of
    from heddle.tune.journal import Journal
    from heddle.tune.page import tuning_html
    from heddle.tune.race import PRESENT
    from heddle.tune.space import space_around
    from heddle.tune.tuning import Bench
    from heddle.tune.tuning import tune as tune_policy
    from heddle.tune.words import verdict

    engine = engine_on(on)
    if Path(workload).is_dir():
        workload, cluster = _jobs_of(Path(workload), cluster, output)
    first, chosen = read_all(lambda: workload_for(workload, 0), lambda: cluster_for(workload, cluster))
    own = parse_policy(present) if present is not None else present_policy(chosen) or parse_policy("capacity")
    check_run(first, chosen, 0)
    check_executor([own], first, chosen, executor)
    how_long = "how long, as in 90s, 10m or 1.5h"
    budget_s = seconds(budget or _DEFAULT_BUDGET, "--budget", how_long) if budget or trials is None else None
    aims = read_aims(goal, keep or (), QueueTree.of(chosen, first).names)
    halves = halves_of(workload, first, chosen, block_s)
    space = space_around(own.name, first, chosen, executor)
    if not space.options:
        raise BadInput.of("--executor", f"nothing can be changed around {own.name} with {executor}")
    policies = [own, *(parse_policy(one.policy(own.name)) for one in space.single())]
    compile_with_message(policies, len(chosen.resources))
    command = shlex.join(["heddle", *sys.argv[1:]])

    def told(race: Race) -> None:
        best = next((one for one in race.elites()[:1] if one != PRESENT), None)
        words = f"none is better than {own.name} so far"
        if best is not None:
            change = race.change_pct(best)
            words = f"best so far: {best.policy(own.name)}" + ("" if change is None else f", {change:+.1f} %")
        say(f"{race.candidates} candidates; {words}")

    bench = Bench(
        halves, chosen, executor,
        lambda function, configurations: run_with_progress(engine, function, configurations),
        Journal(output),
    )  # fmt: skip
    found = tune_policy(
        space, aims, bench, seed=seed, most_candidates=trials or _MOST_CANDIDATES, budget_s=budget_s, command=command,
        complete=report is not None, present_is_known=present is not None or bool(chosen.policy), tell=told,
    )  # fmt: skip
    if report is not None:
        write_page(report, tuning_html(found, first.name, command))
        say(f"wrote {report}")
    if json:
        print_json(_document(found, first.name, chosen, verdict(found)))
    else:
        _print(found)


def _jobs_of(record: Path, cluster: str | None, folder: Path | None) -> tuple[str, str]:
    """The jobs of a record and their cluster, as files, since other processes read them."""
    from heddle.cli.yarn_workload import write_jobs_of

    if folder is None:
        raise BadInput.of("--output", "name a folder: the jobs of a record are kept there, beside the trials")
    folder.mkdir(parents=True, exist_ok=True)
    written = write_jobs_of(record, folder / "jobs.parquet", None, cluster)
    return written["out"], written["cluster"]


def _print(found: Tuned) -> None:
    from heddle.report.table import comparison_tables, notes
    from heddle.tune.words import flatness, kept_sentences, next_commands, searched, stop_at, verdict

    print_paragraphs([verdict(found)])
    if found.comparison is not None:
        print_tables(comparison_tables(found.comparison, terminal_width()))
    print_paragraphs([text for text in (searched(found), flatness(found), *kept_sentences(found)) if text])
    for what, how in next_commands(found):
        print_line(what)
        print_line(f"  {how}")
    if text := stop_at(found):
        print_paragraphs([text])
    for note in notes(found.comparison) if found.comparison is not None else ():
        say(note)


def _document(found: Tuned, workload: str, cluster: Cluster, said: str) -> dict[str, Any]:
    change, interval = found.change
    return {
        "verdict": said,
        "use": found.policy if found.use_it else None,
        "present": found.space.present,
        "best_of_search": found.policy,
        "workload": workload,
        "cluster": cluster.name,
        "goal": str(found.aims.goal),
        "change_pct": change,
        "ci95": interval,
        "search_change_pct": found.race.change_pct(found.best),
        "kept": [one.as_json() for one in found.kept],
        "candidates": found.race.candidates,
        "space": found.space.size,
        "trials": found.trials,
        "out_of_time": found.out_of_time,
        "tried": [
            {
                "policy": one.candidate.policy(found.space.present),
                "change_pct": found.race.change_pct(one.candidate),
                "seeds": len(one.tried),
                "dropped": one.dropped or None,
            }
            for one in found.race.standings.values()
        ],
        "not_searched": [{"lever": one.lever, "why": one.why} for one in found.space.not_searched],
        "comparison": None if found.comparison is None else found.comparison.as_json(),
    }
