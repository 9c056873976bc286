"""`heddle twin`: what will happen next, from a recorded or simulated cluster; and how good that would have been."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from heddle.cli.completion import policy_names
from heddle.cli.durations import seconds
from heddle.cli.inputs import ClusterOption, cluster_for, compile_with_message, read_all, workload_for
from heddle.cli.output import Json, print_json, print_line, print_tables, say, table
from heddle.cli.records import recorded_run
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heddle.twin.backtest import Backtest, Source
    from heddle.twin.deadlock import Deadlock
    from heddle.twin.eta import Eta
    from heddle.twin.forecast import Forecast
    from heddle.twin.scoring import Score

_NAMED = 5  # applications in a warning
_CLOCK = re.compile(r"(\d+):([0-5]\d)(?::([0-5]\d))?")


def twin(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RECORD|WORKLOAD",
            help="What `heddle simulate --record` or `heddle yarn observe` wrote; or a workload, simulated first.",
        ),
    ],
    at: Annotated[
        str | None, typer.Option("--at", help="The instant, from the record's start: 10:15 (hours and minutes) or 90m.")
    ] = None,
    score: Annotated[
        bool, typer.Option("--score", help="Forecast at many instants and say how good that was, beside a naive guess.")
    ] = False,
    instants: Annotated[int, typer.Option(min=1, help="With --score: how many, evenly over the run.")] = 20,
    horizon: Annotated[str, typer.Option(help="How far to look ahead, as 30m or 2h.")] = "30m",
    candidate: Annotated[
        list[str] | None,
        typer.Option(help="Another policy to look ahead with; repeatable.", autocompletion=policy_names),
    ] = None,
    executor: Annotated[
        Literal["native", "yarn-knobs"], typer.Option(help="Who would bring candidates about.")
    ] = "yarn-knobs",
    rollouts: Annotated[int, typer.Option(min=2, help="Futures that are rolled out for each policy, at most.")] = 20,
    policy: Annotated[
        str | None,
        typer.Option("--policy", "-p", help="Of a WORKLOAD's run [default: capacity].", autocompletion=policy_names),
    ] = None,
    workload: Annotated[str | None, typer.Option(help="Of a RECORD: where its workload is, if it has moved.")] = None,
    cluster: ClusterOption = None,
    seed: Annotated[int, typer.Option(help="Of a WORKLOAD's run, and of the futures.", min=0)] = 0,
    json: Json = False,
) -> None:
    """Look ahead: when will each application end, from nothing but what is known at an instant?

    How long tasks will take is drawn from what finished ones took, who will come from who came lately; each future is
    then simulated. Shown are the median and an interval that should hold 80 % of the time. Where application masters
    fill the cluster in some futures, so that no task fits, a line says so; in three quarters or more, it is an alarm.

    \b
    Examples:
      heddle simulate mix --policy capacity --record my-run
      heddle twin my-run --at 5m
      heddle twin my-run --at 5m --candidate capacity+smallest-first
      heddle twin "mix(jobs=120)" --score
    """
    from heddle.twin.backtest import backtest
    from heddle.twin.backtest import instants as evenly
    from heddle.twin.forecast import forecast
    from heddle.twin.rollouts import Candidate

    if score == (at is not None):
        raise BadInput.of("--at", "say either --at, for a forecast of that instant, or --score")
    if score and candidate:
        raise BadInput.of("--candidate", "only what really ran can be scored")
    horizon_ms = round(1000 * seconds(horizon, "--horizon", "30m or 2h"))
    at_ms = None if at is None else _instant_ms(at)
    cutting = _cutting(run, policy, workload, cluster, seed)
    if at_ms is None:
        made = backtest(cutting, run, evenly(cutting, instants), horizon_ms, rollouts)
        _show_scores(made, json)
        return
    if at_ms > cutting.last_ms:
        raise BadInput.of("--at", f"{at} is after the end of the run, which is at {_s(cutting.last_ms)}")
    snapshot = cutting.at(at_ms)
    candidates = [Candidate.of(snapshot.policy, cutting.executor)]
    candidates += [Candidate.of(name, executor) for name in candidate or ()]
    found = forecast(snapshot, candidates, horizon_ms, f"{run} at {at}", rollouts, seed=seed)
    show_forecast(found, json)


def _instant_ms(text: str) -> int:
    """10:15 and 10:15:30 are hours, minutes and seconds; else a length of time."""
    if (read := _CLOCK.fullmatch(text.strip())) is not None:
        return 1000 * (3600 * int(read[1]) + 60 * int(read[2]) + int(read[3] or 0))
    return round(1000 * seconds(text, "--at", "10:15, 90s, 30m or 2h"))


def _cutting(run: str, policy: str | None, workload: str | None, cluster: str | None, seed: int) -> Source:
    from heddle.cli.rerun import inputs_of, queues_for
    from heddle.policy.parse import parse_policy
    from heddle.record_workload import is_real
    from heddle.run import simulate
    from heddle.traces.align import in_resources_of
    from heddle.twin.cutting import Cutting
    from heddle.twin.observed import JOURNAL, Observed

    if (Path(run) / JOURNAL).is_file():
        where = queues_for(Path(run) / "record", cluster)
        if where is None:
            raise BadInput.of("--cluster", f"{run} does not tell the queues of its cluster: say them here")
        return Observed(Path(run), where)
    if Path(run).is_dir():
        if policy is not None:
            raise BadInput.of("--policy", "a record has its own; --candidate names others")
        record = recorded_run(Path(run))
        if is_real(record):
            raise BadInput.of(run, "is the record of a real YARN: name the folder that it is in, which has the journal")
        loaded, on = inputs_of(record, workload, cluster)
        compile_with_message([parse_policy(record.manifest["policy"])], len(on.resources))
    else:
        if workload is not None:
            raise BadInput.of("--workload", "only a RECORD has one that can have moved")
        chosen, loaded, on = read_all(
            lambda: parse_policy(policy or "capacity"),
            lambda: workload_for(run, seed),
            lambda: cluster_for(run, cluster),
        )
        compile_with_message([chosen], len(on.resources))
        record = simulate(loaded, on, chosen, seed=seed, record=True)
    return Cutting(record, in_resources_of(loaded, on), on)


def show_forecast(found: Forecast, json: bool) -> None:
    if json:
        print_json(forecast_json(found))
        return
    policies = list(found.rollouts)
    rows = [
        (told.app.name, told.app.queue, _s(-told.app.submitted_at_ms), told.basis or "-",
         *([eta_words(told.etas[name], found.horizon_ms) for name in policies] if told.etas else [told.why_not]))
        for told in found.applications
    ]  # fmt: skip
    headings = ("application", "queue", "age", "judged by", *(f"ends in, under {name}" for name in policies))
    drains = [
        (queue, *(eta_words(found.drains[name][queue], found.horizon_ms) for name in policies))
        for queue in found.drains[policies[0]]
    ]
    tables = [
        table(
            headings,
            [_padded(row, len(headings)) for row in rows],
            title="when applications end: median (80 % interval)",
        )
    ]
    if drains:
        tables.append(table(("queue", *policies), drains, title="when those that are in a queue now have all ended"))
    print_tables(tables)
    counted = ", ".join(f"{name} {count}" for name, count in found.rollouts.items())
    say(f"looked ahead {_s(found.horizon_ms)}, having watched {_s(found.snapshot.watched_ms)}; rollouts: {counted}")
    for name, stuck in found.deadlocks.items():
        print_line(_warning(name, stuck, name == policies[0]))
    for name in found.dropped:
        say(f"{name} was clearly worse and was not rolled out any further")


def _warning(policy: str, stuck: Deadlock, is_present: bool) -> str:
    """An alarm is for the policy in force alone: no other brings anything about."""
    who = f", with {', '.join(stuck.applications[:_NAMED])}" if stuck.applications else ""
    more = f" and {len(stuck.applications) - _NAMED} more" if len(stuck.applications) > _NAMED else ""
    share = (
        "no AM share that was tried prevents it"
        if stuck.share_permille is None
        else f"an AM share of {stuck.share_permille / 10:g} % prevents it"
    )
    alarm = "Alarm: under" if is_present and stuck.alarms else "Under"
    return (
        f"{alarm} {policy} application masters fill the cluster and no task fits in"
        f" {100 * stuck.probability:.0f} % of the futures, after {_s(stuck.at_ms)}{who}{more}; {share}."
    )


def forecast_json(found: Forecast) -> dict[str, Any]:
    nodes = [node.name for node in found.snapshot.cluster.nodes]
    return {
        "horizon_s": found.horizon_ms / 1000,
        "watched_s": found.snapshot.watched_ms / 1000,
        "policies": [
            {
                "policy": name,
                "rollouts": count,
                "dropped": name in found.dropped,
                "deadlock": found.deadlocks[name].as_json() if name in found.deadlocks else None,
                "queues": [{"queue": queue, **eta.as_json()} for queue, eta in found.drains[name].items()],
                "nodes": [
                    {"node": node, "held_mb": round(held)}
                    for node, held in zip(nodes, found.held_mb[name], strict=True)
                ],
            }
            for name, count in found.rollouts.items()
        ],
        "applications": [
            {
                "id": told.app.id,
                "name": told.app.name,
                "queue": told.app.queue,
                "user": told.app.user,
                "age_s": -told.app.submitted_at_ms / 1000,
                "judged_by": told.basis or None,
                "why_not": told.why_not or None,
                "ends_in": [{"policy": name, **eta.as_json()} for name, eta in told.etas.items()],
            }
            for told in found.applications
        ],
    }


def _show_scores(made: Backtest, json: bool) -> None:
    from heddle.twin.scoring import scores

    if not made.cases:
        raise BadInput.of(made.source, "no forecast could be scored: no application with a forecast ended in time")
    found = scores(made.cases)
    if json:
        counts = {name: getattr(made, name) for name in ("instants", "no_eta", "later", "told_later")}
        print_json({"source": made.source, **counts, "scores": [one.as_json() for one in found]})
        return
    print_tables([scores_table(found, f"{made.source}: forecasts of {made.instants} instants")])
    say(f"{made.no_eta} times an application could not be told of")
    if made.later:
        say(
            f"{made.later} forecasts were of applications that ended after the horizon;"
            f" the intervals of {made.told_later} reached that far"
        )


def scores_table(found: Sequence[Score], title: str) -> Any:
    from heddle.report.wording import write_s

    rows = []
    for one in found:
        low, high = one.coverage_interval
        held = f"{100 * one.coverage:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
        times = (one.error_s, one.naive_error_s, one.pinball_s, one.naive_pinball_s)
        rows.append((one.bucket, f"{one.cases}", held, f"{100 * one.naive_coverage:.0f} %", *map(write_s, times)))
    headings = (
        "before the end",
        "cases",
        "80 % interval held",
        "naive",
        "median error",
        "naive",
        "pinball loss",
        "naive",
    )
    return table(headings, rows, title=title)


def eta_words(eta: Eta, horizon_ms: int) -> str:
    low, median, high = (_s(ms) if ms <= horizon_ms else "later" for ms in (eta.low_ms, eta.median_ms, eta.high_ms))
    return f"{median} ({low} to {high})" if low != "later" else f"later than {_s(horizon_ms)}"


def _padded(row: Sequence[str], width: int) -> Sequence[str]:
    return [*row, *[""] * (width - len(row))]


def _s(ms: float) -> str:
    from heddle.report.wording import write_s

    return write_s(ms / 1000)
