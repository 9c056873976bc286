"""`heddle advise`: requests that would have been enough, and the policy that would help most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.inputs import cluster_for, compile_with_message, workload_for
from heddle.cli.output import Json, print_json, print_tables, say, say_wrapped, table
from heddle.model.errors import BadInput
from heddle.model.resources import MEMORY_MB
from heddle.report.amounts import hours

if TYPE_CHECKING:
    from rich.text import Text

    from heddle.analysis.trace_contents.advice import Advice
    from heddle.model.cluster import Cluster
    from heddle.model.workload import Workload
    from heddle.policy.policy import Policy

_POLICIES = ("fifo", "capacity", "drf")  # and usage feedback, on what the cluster runs


def advise(
    workload: Annotated[str, typer.Argument(metavar="OUT", help="An imported trace, a .csv, or a built-in name.")],
    percentile: Annotated[float, typer.Option(help="Percentile of the peaks seen so far.", min=1, max=100)] = 95.0,
    head_room: Annotated[float, typer.Option(help="Headroom added to it, as a share.", min=0, max=10)] = 0.1,
    top: Annotated[int, typer.Option(help="How many kinds of tasks to show.", min=1, max=1000)] = 15,
    policies: Annotated[list[str] | None, typer.Option("--policy", "-p", help="Policies to try. Repeatable.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline [default: the cluster's own policy if its file names one, else the first policy]."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", "-c", help="Cluster to try them on [default: the workload's own].")
    ] = None,
    windows: Annotated[
        int, typer.Option(help="Number of parts of the trace to try policies on; 0: no simulations.", min=0, max=100)
    ] = 5,
    tasks: Annotated[int, typer.Option(help="Maximum number of tasks per part.", min=1)] = 20_000,
    json: Json = False,
) -> None:
    """Advise on memory requests that would have been enough, with the risk, and on the policy that would help most.

    Each request is predicted only from the trace's past; a miss counts as a lost attempt. Policies are simulated
    on parts of the trace, paired, with 95 % intervals, against what the cluster runs today where its file says so.

    \b
    Examples:
      heddle advise trace.parquet --windows 0
      heddle advise trace.parquet --cluster 20x65536x24 -p capacity -p capacity+usage-feedback
    """
    from heddle.analysis.trace_contents.advice import Rule, advise_requests, document

    loaded = workload_for(workload)
    rule = Rule(percentile, head_room)
    found, left = advise_requests(loaded, rule)
    tried = _try(loaded, cluster_for(workload, cluster), policies, baseline, windows, tasks) if windows else []
    if json:
        print_json({**document(found, left, rule), "policies": tried})
        return
    if found:
        print_tables([_table(found[:top], rule)])
        _in_words(found)
    if left:
        say(f"{left} tasks get no advice: they recur too rarely, or their use was not recorded")
    if tried:
        rows = [(one["policy"], _change(one)) for one in tried]
        print_tables([table(("policy", "mean completion"), rows, title=f"policies on {windows} parts of the trace")])


def _table(found: list[Advice], rule: Any) -> Any:
    rows = [
        (
            one.kind,
            f"{one.tasks:,}",
            f"{one.reserved_mb:,}",
            f"{one.request_mb:,}",
            f"{hours(one.saved, MEMORY_MB):,.1f} of {hours(one.reserved, MEMORY_MB):,.1f}",
            f"{one.missed} of {one.predicted} ({100 * one.risk_low:.1f}-{100 * one.risk_high:.1f} %)",
        )
        for one in found
    ]
    title = f"requests by the {rule.percentile:g}th percentile of past peaks + {100 * rule.head_room:g} %"
    headings = ("kind", "tasks", "asked MB", "enough MB", "saved GB-h", "would have failed")
    return table(headings, rows, title=title)


def _in_words(found: list[Advice]) -> None:
    best = found[0]
    total, reserved = sum(max(0, one.saved) for one in found), sum(one.reserved for one in found)
    if best.saved <= 0 or not reserved:
        say("no saving: requests are already close to what tasks use")
        return
    share = (
        f"{hours(total, MEMORY_MB):,.0f} of {hours(reserved, MEMORY_MB):,.0f} GB-hours ({100 * total / reserved:.0f} %)"
    )
    say_wrapped(
        f"Smaller requests would have saved {share}, reruns included. The largest saving is {best.kind}: request "
        f"{best.request_mb:,} MB instead of {best.reserved_mb:,} MB; {best.missed} of {best.predicted} tasks would "
        "have needed a second attempt."
    )


def _chosen(on: Cluster, policies: list[str] | None, baseline: str | None) -> list[Policy]:
    """The policies to try, each once, the baseline first."""
    from heddle.experiments.plan import read_policies
    from heddle.policy.parse import parse_policy
    from heddle.policy.present import present_policy

    present = present_policy(on)
    base = parse_policy(baseline) if baseline is not None else present
    if policies is None:
        feedback = f"{present.name if present else 'fifo'}+usage-feedback"
        policies = [*_POLICIES, feedback]
    chosen = {str(one): one for one in ([base] if base else []) + read_policies(policies)}
    if base is not None and baseline is None:
        say(f"the baseline, {base.name}, is the policy that the cluster runs today")
    return list(chosen.values())


def _try(
    loaded: Workload, on: Cluster, policies: list[str] | None, baseline: str | None, windows: int, tasks: int
) -> list[dict[str, Any]]:
    """Each policy on the same parts of the trace: change of the mean completion against the first, with interval."""
    from heddle.analysis.certainty.sampling import SEEDS
    from heddle.analysis.comparison.paired import paired_change
    from heddle.analysis.measures.metrics import run_metrics
    from heddle.run import check_run, simulate

    chosen = _chosen(on, policies, baseline)
    if loaded.n_jobs < windows:
        raise BadInput.of("WORKLOAD", f"{loaded.n_jobs} jobs are too few for {windows} windows (--windows)")
    parts = _parts(loaded, windows, tasks)
    for part in parts:
        check_run(part, on, 0)
    compile_with_message(chosen, len(on.resources))
    means: list[dict[int, float]] = []
    for policy in chosen:
        runs = [run_metrics(simulate(part, on, policy)) for part in parts]
        means.append({n: one["jct_s"]["mean"] for n, one in enumerate(runs) if one["outcome"] == "finished"})
    found = []
    for policy, own in zip(chosen, means, strict=True):
        ended = len(own) == len(means[0]) == len(parts)  # of a policy that stalls no gain is told, nor against one
        change = paired_change(own if ended else {}, means[0], SEEDS)
        found.append(
            {
                "policy": policy.name,
                "baseline": policy is chosen[0],
                "mean_jct_change_pct": change.pct,
                "ci95": change.interval,
                "windows": len(parts),
                "stalled": len(parts) - len(own),
            }
        )
    return found


def _parts(loaded: Workload, windows: int, tasks: int) -> list[Workload]:
    """Windows of equally many jobs, each cut where it has enough tasks."""
    import numpy as np

    from heddle.traces.tools.select import select_jobs

    of_job = np.bincount(loaded.stages["job"], loaded.stages["n_tasks"], loaded.n_jobs)
    parts = []
    for numbers in np.array_split(np.arange(loaded.n_jobs), windows):
        enough = max(1, int(np.searchsorted(np.cumsum(of_job[numbers]), tasks, side="right")))
        mask = np.zeros(loaded.n_jobs, bool)
        mask[numbers[:enough]] = True
        parts.append(select_jobs(loaded, mask)[0])
    return parts


def _change(one: dict[str, Any]) -> str | Text:
    from rich.text import Text

    from heddle.report.wording import NO_DIFFERENCE, range_pct, signed_pct

    if one["stalled"]:
        return Text(("baseline, " if one["baseline"] else "") + f"stalled {one['stalled']} of {one['windows']}", "red")
    if one["baseline"]:
        return "baseline"
    if one["mean_jct_change_pct"] is None:
        return "not known"
    interval, change = one["ci95"], signed_pct(one["mean_jct_change_pct"])
    if interval is None:
        return f"{change} (no interval)"
    if interval[0] > 0 or interval[1] < 0:
        return f"{change} ({range_pct(interval)})"
    return f"{NO_DIFFERENCE} ({range_pct(interval)})"
