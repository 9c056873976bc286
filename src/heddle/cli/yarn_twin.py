"""`heddle yarn twin` and `heddle yarn why`: what will happen next on a live cluster, and what would change it."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.durations import For, seconds
from heddle.cli.output import DONE, Json, print_json, print_json_line, print_line, print_tables, say, table
from heddle.cli.twin import eta_words, forecast_json, scores_table, show_forecast
from heddle.cli.yarn_cluster import MAX_CALLS, MaxCalls, Name, Rm, client_of, until_told
from heddle.cli.yarn_trace import Away
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heddle.twin.changes import Tried
    from heddle.twin.eta import Eta
    from heddle.twin.living import Living
    from heddle.yarn.live.client import RmClient
    from heddle.yarn.observe.observer import Observer

POLL_S = 1.0


@contextmanager
def _observing(
    rm: str | None, name: str | None, journal: Path | None, max_calls_per_s: int
) -> Iterator[tuple[Path, RmClient, Observer]]:
    """The folder of the journal, without one a passing one; the ResourceManager, recognised; who looks at it."""
    from heddle.yarn.live.recognising import recognise
    from heddle.yarn.observe.journal import Journal
    from heddle.yarn.observe.observer import Observer

    with ExitStack() as opened:
        folder = journal or Path(opened.enter_context(TemporaryDirectory()))
        client = opened.enter_context(client_of(rm, name, max_calls_per_s=max_calls_per_s))
        recognise(client)
        yield folder, client, Observer(client, Journal(folder / "journal.jsonl", say))


def twin(
    rm: Rm = None,
    name: Name = None,
    every_s: Annotated[float, typer.Option("--every", min=1, help="Seconds between two forecasts.")] = 30.0,
    horizon: Annotated[str, typer.Option(help="How far to look ahead, as 30m or 2h.")] = "30m",
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Of `heddle yarn observe`, to begin with what it saw; forecasts are kept there [default: forgotten].",
        ),
    ] = None,
    history: Annotated[str | None, typer.Option(help="Address of the MapReduce history server.")] = None,
    conf: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with the scheduler's XML, for settings that the ResourceManager does not expose.",
        ),
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(help="A policy to look ahead with; repeatable [default: levers that have knobs]."),
    ] = None,
    only_present: Annotated[
        bool, typer.Option("--only-present", help="Look ahead with the policy in force alone.")
    ] = False,
    rollouts: Annotated[int, typer.Option(min=2, help="Futures that are rolled out for each policy, at most.")] = 20,
    for_s: For = None,
    score: Annotated[
        bool, typer.Option("--score", help="Say how good the forecasts kept in --journal were; asks nobody.")
    ] = False,
    max_calls_per_s: MaxCalls = MAX_CALLS,
    json: Json = False,
) -> int:
    """Look ahead on a live cluster: when will each application end? Reads only.

    It watches until interrupted and forecasts every so often; a forecast takes at most half of that time, and shows how
    many futures it reached. The ResourceManager does not list containers that have ended: the longer it has watched,
    the more it can tell. With --json each forecast is a line. In an alarm, application masters fill the cluster in
    three quarters of the futures or more, so that no task fits.

    \b
    Examples:
      heddle yarn twin --rm http://rm.example:8088 --journal monday
      heddle yarn twin --journal monday --score
    """
    from heddle.model.errors import HeddleError
    from heddle.twin.living import Living
    from heddle.yarn.live.client import RmClient
    from heddle.yarn.live.pace import Pace
    from heddle.yarn.observe.history import TIMEOUT_S, History, history_address

    if score:
        return _score(journal, json)
    if only_present and candidate:
        raise BadInput.of("--only-present", "and --candidate exclude each other")
    horizon_ms = round(1000 * seconds(horizon, "--horizon", "30m or 2h"))
    with ExitStack() as opened:
        folder, client, observer = opened.enter_context(_observing(rm, name, journal, max_calls_per_s))
        told_past = None
        if history is not None:
            server = opened.enter_context(RmClient(history_address(history), timeout_s=TIMEOUT_S, pace=Pace()))
            told_past = History(server, observer.journal, observer.seen)
        living = Living(client, observer, folder, conf)
        told = opened.enter_context(until_told())
        masters, histories = Away("the ResourceManager"), Away("the history server")
        began_s = time.monotonic()
        next_s = began_s
        while not told and (for_s is None or time.monotonic() - began_s < for_s):
            answered = masters.ask(observer.poll)
            if told_past is not None:
                histories.ask(told_past.poll)
            if answered and time.monotonic() >= next_s:
                next_s = time.monotonic() + every_s
                try:
                    _cycle(living, horizon_ms, rollouts, every_s / 2, [] if only_present else candidate, json)
                except HeddleError as error:  # nothing runs, or the answers contradict each other: the next may do
                    say(f"no forecast: {error}")
            time.sleep(POLL_S)
    return DONE


def _cycle(
    living: Living, horizon_ms: int, rollouts: int, most_s: float, candidates: Sequence[str] | None, json: bool
) -> None:
    found, refused = living.forecast(horizon_ms, rollouts, most_s, candidates)
    if json:
        print_json_line(forecast_json(found))
        return
    show_forecast(found, json)
    for policy, why in refused.items():
        say(f"{policy} cannot be brought about here: {why}")


def why(
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="Its id.")],
    rm: Rm = None,
    name: Name = None,
    journal: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Of `heddle yarn observe` or `twin`: what is known of the past."),
    ] = None,
    horizon: Annotated[str, typer.Option(help="How far to look ahead, as 30m or 2h.")] = "30m",
    conf: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with the scheduler's XML, for settings that the ResourceManager does not expose.",
        ),
    ] = None,
    rollouts: Annotated[int, typer.Option(min=2, help="Futures in which each change is tried.")] = 10,
    max_calls_per_s: MaxCalls = MAX_CALLS,
    json: Json = False,
) -> int:
    """Why does an application wait now, and what would change it? Reads only.

    Another queue, half the memory, a larger AM share and other policies are tried in the same futures; nothing is
    killed in any of them. Without a journal of the past there is little to look ahead by.

    \b
    Example:
      heddle yarn why application_1700000000000_0042 --rm http://rm.example:8088 --journal monday
    """
    from heddle.check.now import why_one_waits
    from heddle.twin.changes import try_changes, usual_changes
    from heddle.twin.living import Living

    horizon_ms = round(1000 * seconds(horizon, "--horizon", "30m or 2h"))
    with ExitStack() as opened:
        folder, client, observer = opened.enter_context(_observing(rm, name, journal, max_calls_per_s))
        observer.poll()
        living = Living(client, observer, folder, conf)
        snapshot, _ = living.look()
        app = next((one for one in snapshot.live if one.id == application), None)
        if app is None:
            raise BadInput.of("APPLICATION", f"{application} neither runs nor waits")
        waits = why_one_waits(client, application)
    candidates, _ = living.candidates(snapshot, horizon_ms, None)
    found = try_changes(snapshot, app, usual_changes(snapshot, app, candidates[1:]), horizon_ms, rollouts)
    if json:
        document = {"application": app.id, "name": app.name, "queue": app.queue, "waits_because": waits or None}
        print_json(document | {"ends_in": found and found[0].as_json(), "changes": _changes_json(found)})
        return DONE
    print_line(f"{app.name} waits: {waits}." if waits else f"{app.name} does not wait: all that it asked for runs.")
    if found is None:
        print_line(
            "What would change it cannot be tried: nobody tells how many tasks it has, or none has finished yet."
        )
        return DONE
    rows = [("none", eta_words(found[0], horizon_ms), "", "")]
    for one in found[1]:
        low, middle, high = (f"{ms / 1000:,.0f} s" for ms in one.sooner_ms)
        sooner = f"{middle} ({low} to {high})"
        rows.append((one.what, eta_words(one.eta, horizon_ms), sooner, "yes" if one.helps else ""))
    headings = ("change", "ends in", "sooner by", "helps")
    print_tables([table(headings, rows, title="what would change when it ends: medians (10 % to 90 % of the futures)")])
    return DONE


def _changes_json(found: tuple[Eta, list[Tried]] | None) -> list[dict[str, Any]]:
    return [
        {
            "change": one.what,
            "ends_in": one.eta.as_json(),
            "sooner_s": [round(ms / 1000, 1) for ms in one.sooner_ms],
            "helps": one.helps,
        }
        for one in (found[1] if found else ())
    ]


def _score(journal: Path | None, json: bool) -> int:
    from heddle.twin.keeping import FILE, cases, read_kept
    from heddle.twin.scoring import scores
    from heddle.yarn.observe.journal import read_lines
    from heddle.yarn.observe.seen import read_seen

    if journal is None or not (journal / FILE).is_file():
        raise BadInput.of("--journal", "name the folder in which `heddle yarn twin` has kept its forecasts")
    seen = read_seen(read_lines(journal / "journal.jsonl"), str(journal / "journal.jsonl"))
    kept = read_kept(read_lines(journal / FILE), str(journal / FILE))
    made = cases(kept, {app.id: app.ended_at_ms for app in seen.apps.values()}, journal.name)
    if not made:
        raise BadInput.of(str(journal), "no forecast can be scored yet: none of its applications ended in time")
    found = scores(made)
    if json:
        print_json({"source": journal.name, "forecasts": len(kept), "scores": [one.as_json() for one in found]})
    else:
        print_tables([scores_table(found, f"{len(kept)} forecasts kept in {journal.name}")])
    return DONE
