"""`heddle yarn trial`: policies against each other on a real YARN."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.output import DONE, FAILED, Json, print_json, print_line, print_tables, say, table
from heddle.cli.yarn_cluster import interruptible
from heddle.cli.yarn_run import workplace_of
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.analysis.best_possible.steady_gain import SteadyGain
    from heddle.analysis.comparison.real_trial import PolicyShown, Spread
    from heddle.yarn.testbed.trial import TrialRun


def trial(
    workload: Annotated[
        str | None,
        typer.Argument(metavar="[WORKLOAD]", help="As for `heddle yarn run` [default: a burst that over-reserves]."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            help="stock, stock(order=fair), a policy, or choose(POLICY) to let the twin choose; @NAME: on that cluster."
            " Repeatable.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Number of runs per policy; fixed in advance.")] = 3,
    times: Annotated[int, typer.Option(min=1, help="Default workload: how many times its use it reserves.")] = 4,
    task_s: Annotated[int, typer.Option(min=1, help="Default workload: seconds per task.")] = 30,
    jobs: Annotated[int, typer.Option(min=1, help="Default workload: number of jobs in the burst.")] = 6,
    am_memory_mb: Annotated[int, typer.Option(min=64, help="Default workload: memory of each AM.")] = 256,
    queue: Annotated[str, typer.Option(help="Default workload: queue that jobs are submitted to.")] = "root.default",
    give_up_s: Annotated[
        float, typer.Option("--give-up", min=1, help="Seconds after which a run that has not ended counts as stuck.")
    ] = 3600,
    name: Annotated[str, typer.Option("--name", help="Name of the local cluster.")] = "local",
    out: Annotated[Path, typer.Option(help="Folder for the results; an interrupted trial continues there.")] = Path(
        "yarn-trial"
    ),
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of a built-in workload.", min=0)] = 0,
    json: Json = False,
) -> int:
    """Run the same real workload under each policy in turn and compare.

    The first policy is the baseline; changes are against it in the same round. Name `stock` twice for the noise floor
    (A/A). On a cluster with the bridge policies decide through it, and network-aware is told what
    the workload declares. The folder keeps the record of every run; the same
    command with --report later only writes the report. Exit code 1 means that a job failed.

    \b
    Examples:
      heddle yarn trial --policy stock --policy usage-feedback --rounds 3 --report trial.html
      heddle yarn trial tasks.csv --policy stock --policy "usage-feedback(damping=0.25)" --out quick
      heddle yarn trial --policy stock --policy admission-control --jobs 12 --am-memory-mb 1024 --give-up 300
      heddle yarn trial memory-and-cpu -p stock -p "stock(order=fair)" -p haste -p stock@drf
      heddle yarn trial examples/yarn/data-dags.csv -p stock -p capacity+network-aware
    """
    from heddle.analysis.comparison.real_trial import shown_jobs, shown_policies
    from heddle.report.page import write_page
    from heddle.report.real_trial import trial_html
    from heddle.yarn.observe.journal import Journal
    from heddle.yarn.testbed.alternatives import alternative
    from heddle.yarn.testbed.mixture import load_real_jobs
    from heddle.yarn.testbed.trial import over_reserved, run_trial

    policies = _distinct(policy or ["stock", "usage-feedback"])
    if workload is None:
        work = over_reserved(jobs, times=times, task_s=task_s, am_memory_mb=am_memory_mb, queue=queue)
        what = f"{jobs} jobs over-reserved {times} times, tasks of {task_s} s, AMs of {am_memory_mb} MB"
    else:
        work, notes = load_real_jobs(workload, seed)
        what = workload
        for note in notes:
            say(f"note: {note}")
    declared = _declared(workload, seed, policies, out)
    plan = {
        "workload": what,
        "seed": seed,
        "policies": policies,
        "rounds": rounds,
        "jobs": len(work),
        "give_up_s": give_up_s,
    }
    with interruptible(), ExitStack() as opened:
        places = {
            cluster: opened.enter_context(workplace_of(None, cluster or name, None))
            for cluster in {alternative(one).cluster for one in policies}
        }
        runs = run_trial(
            work, policies, rounds, places, Journal(out / "trial.jsonl", say), plan, say, give_up_s, declared
        )
    summary = shown_policies(runs, policies)
    idle = _idle_reduces(out, runs)
    expected = [] if workload else _expected(summary, runs, out, times, task_s)
    if report is not None:
        command = shlex.join(["heddle", *sys.argv[1:]])
        write_page(report, trial_html(what, rounds, summary, shown_jobs(runs), _running(out, runs), command))
        say(f"wrote {report}")
    if json:
        document = {**plan, "expected": [asdict(one) for one in expected]}
        shown = [{**asdict(one), "idle_reduces_gb_min": idle.get(one.policy)} for one in summary]
        print_json({**document, "summary": shown, "runs": [asdict(run) for run in runs]})
    else:
        links = any(one.moved_mb for one in summary)  # elsewhere there are columns enough
        rows = [
            (
                one.policy, _mean(one.makespan_s), _change(one.makespan_change_pct), _mean(one.jct_mean_s),
                str(one.failed_jobs), str(one.stuck_jobs), f"{100 * one.peak_used_share:.0f} %",
                _mean_of(idle.get(one.policy, [])),
                *((_moved(one.moved_mb), _percent(one.cpu_share)) if links else ()),
            )
            for one in summary
        ]  # fmt: skip
        headings = (
            "policy", "makespan", "change", "completion", "failed", "stuck", "peak use", "idle reduces",
            *(("moved", "CPU use") if links else ()),
        )  # fmt: skip
        print_tables([table(headings, rows, title=f"{what}, {rounds} rounds on a real YARN")])
        for one in expected:
            print_line(one.sentence)
    return FAILED if any(run.failed_jobs for run in runs) else DONE


def _declared(workload: str | None, seed: int, policies: list[str], out: Path) -> Path | None:
    """The workload as a file, for controllers whose placement reads what it declares; None: there are none."""
    from heddle.policy.parse import parse_policy
    from heddle.traces.load import load_workload
    from heddle.traces.parquet import write_parquet
    from heddle.yarn.testbed.alternatives import alternative
    from heddle.yarn.testbed.mixture import SUFFIXES

    steered = (alternative(policy).policy for policy in policies)
    readers = [policy for policy in steered if policy is not None and parse_policy(policy).placement.reads_declared]
    if not readers or workload is None:
        return None
    if Path(workload).suffix in SUFFIXES:
        raise BadInput.of(workload, f"{readers[0]} needs declared data, which only a workload of tasks has")
    out.mkdir(parents=True, exist_ok=True)
    write_parquet(load_workload(workload, seed), out / "declared.parquet")
    return out / "declared.parquet"


def _distinct(policies: list[str]) -> list[str]:
    """Stock may stand beside itself; anything else twice is a mistake."""
    from heddle.yarn.testbed.alternatives import STOCK

    if policies.count(STOCK[0]) == len(STOCK):
        second = len(policies) - 1 - policies[::-1].index(STOCK[0])
        policies = [*policies[:second], STOCK[1], *policies[second + 1 :]]
    if repeated := [policy for policy in policies if policies.count(policy) > 1]:
        raise BadInput.of("--policy", f"{repeated[0]!r} is named twice")
    if len(policies) < 2:
        raise BadInput.of("--policy", "name at least two, such as --policy stock --policy usage-feedback")
    return policies


def _running(out: Path, runs: list[TrialRun]) -> dict[str, Any]:
    """Containers over time in the last round, by policy; a run whose record is gone is left out."""
    from heddle.analysis.comparison.real_trial import running_over_time
    from heddle.record.files import read_record
    from heddle.yarn.testbed.trial import run_name

    last = max(run.round for run in runs)
    records = {run.policy: out / run_name(run.round, run.policy) / "record" for run in runs if run.round == last}
    return {policy: running_over_time(read_record(path)) for policy, path in records.items() if path.exists()}


def _idle_reduces(out: Path, runs: list[TrialRun]) -> dict[str, list[float]]:
    """GB times minutes that reduces held before their maps had ended, by policy, round by round."""
    from heddle.analysis.measures.idle_reduces import idle_reduces_gb_h
    from heddle.record.files import read_record
    from heddle.yarn.testbed.trial import run_name

    found: dict[str, list[float]] = {}
    for run in runs:
        record = out / run_name(run.round, run.policy) / "record"
        if record.exists():
            found.setdefault(run.policy, []).append(60 * idle_reduces_gb_h(read_record(record)))
    return found


def _expected(summary: list[PolicyShown], runs: list[TrialRun], out: Path, times: int, task_s: int) -> list[SteadyGain]:
    """What usage feedback should gain on the built-in workload, which is as the algebra has it."""
    from heddle.analysis.best_possible.steady_gain import SteadyGain, steady_gain
    from heddle.policy.lever import Question
    from heddle.policy.levers.usage_feedback import USAGE_FEEDBACK
    from heddle.policy.parse import parse_policy
    from heddle.yarn.testbed.alternatives import alternative
    from heddle.yarn.testbed.trial import counted_in_full_s, run_name

    found = []
    for one in summary[1:]:
        steered = alternative(one.policy).policy
        lever = None if steered is None else parse_policy(steered).by_question[Question.SIZING]
        if lever is None or lever.name != USAGE_FEEDBACK.name or one.makespan_change_pct is None:
            continue
        fixed_s = float(lever.parameter("young_reports"))  # a report a second
        learnt = [counted_in_full_s(out / run_name(run.round, run.policy)) for run in runs if run.policy == one.policy]
        in_full_s = fmean(fixed_s if each is None else each for each in learnt)
        gain = steady_gain(times, task_s, float(lever.parameter("damping")), in_full_s)
        found.append(SteadyGain(one.policy, in_full_s, gain, -one.makespan_change_pct.mean / 100))
    return found


def _percent(share: Spread | None) -> str:
    return "" if share is None else f"{100 * share.mean:.2f} %"


def _moved(value: Spread | None) -> str:
    return "" if value is None else f"{value.mean:.0f} MB"


def _mean_of(values: list[float]) -> str:
    return f"{fmean(values):.1f} GB min" if values else ""


def _mean(value: Spread) -> str:
    shown = f"{value.mean:.1f} s"
    return shown if value.ci95 is None else f"{shown} [{value.ci95[0]:.1f}, {value.ci95[1]:.1f}]"


def _change(value: Spread | None) -> str:
    if value is None:
        return ""
    shown = f"{value.mean:+.1f} %"
    return shown if value.ci95 is None else f"{shown} [{value.ci95[0]:+.1f}, {value.ci95[1]:+.1f}]"
