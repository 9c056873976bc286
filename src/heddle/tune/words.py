"""What a tuning says: to people on the terminal and in the report alike."""

from __future__ import annotations

import shlex
from typing import Final

from heddle.analysis.comparison.compare import COMPARED
from heddle.report.wording import number, range_pct, signed_pct
from heddle.tune.race import BEHIND, PRESENT
from heddle.tune.tuning import Kept, Tuned

_TITLES: Final = {one.name: one.title.lower() for one in COMPARED}
_FLAT_PCT: Final = 1.0


def goal_title(tuned: Tuned) -> str:
    return _TITLES[tuned.aims.goal.metric]


def verdict(tuned: Tuned) -> str:
    """The answer in a sentence or two."""
    keep = f"Keep what you have ({tuned.space.present})"
    many = f"{tuned.race.candidates} candidate{'s' if tuned.race.candidates != 1 else ''}"
    if tuned.best == PRESENT:
        return f"{keep}: of {many} none was better in the search."
    change, interval = tuned.change
    figure = "" if change is None else signed_pct(change)
    spread = "" if interval is None else f" ({range_pct(interval)})"
    unseen = "on jobs that the search has not seen"
    if tuned.use_it:
        return f"Use {tuned.policy}: {goal_title(tuned)} {figure}{spread} {unseen}, against {tuned.space.present}."
    best = f"{keep}: the best of {many}, {tuned.policy},"
    if tuned.stalled:
        return f"{best} stalls {unseen}."
    if broken := [one for one in tuned.kept if not one.held]:
        said = "; ".join(f"{one.keep}, and it is {_figure(one)}" for one in broken)
        return f"{best} breaks what must be kept {unseen}: {said}."
    return f"{best} is not shown to be better {unseen}: {goal_title(tuned)} {figure}{spread}."


def kept_sentences(tuned: Tuned) -> list[str]:
    """How what must be kept stands on the unseen half."""
    found = []
    for one in tuned.kept:
        if one.value is None:
            found.append(f"{one.keep}: not known on the unseen half.")
        else:
            found.append(f"{one.keep}: {_figure(one)} on the unseen half, {'held' if one.held else 'broken'}.")
    return found


def _figure(one: Kept) -> str:
    if one.value is None:
        return "not known"
    if not one.keep.relative:
        spread = f" ({number(one.interval[0])} to {number(one.interval[1])})" if one.interval else ""
        return f"{number(one.value)}{spread}"
    return signed_pct(one.value) + (f" ({range_pct(one.interval)})" if one.interval else "")


def flatness(tuned: Tuned) -> str:
    """How much it matters to hit the best exactly; empty where there is nothing to say."""
    near, own = tuned.near(), tuned.race.change_pct(tuned.best)
    if tuned.best == PRESENT or not near or own is None:
        return ""
    close = [change for _, change in near if abs(change - own) <= _FLAT_PCT]
    return (
        f"Of {len(near)} candidates that differ from it in one lever or one step of a parameter, {len(close)} came "
        f"within {_FLAT_PCT:g} % of it in the search."
    )


def searched(tuned: Tuned) -> str:
    """What was tried."""
    dropped = [one.dropped for one in tuned.race.standings.values() if one.dropped]
    behind = dropped.count(BEHIND)
    parts = [f"{tuned.race.candidates} of {tuned.space.size:,} candidates were tried in {tuned.trials:,} runs"]
    if behind:
        parts.append(f"{behind} were clearly behind and stopped early")
    parts += [f"{dropped.count(why)} left the race: {why}" for why in sorted(set(dropped) - {BEHIND})]
    text = "; ".join(parts) + "."
    if tuned.out_of_time:
        text += f" The budget ended the search; --trials {tuned.race.candidates} gives the same answer again."
    return text


def next_commands(tuned: Tuned) -> list[tuple[str, str]]:
    """What to do, and the command for it; none where nothing is to be changed."""
    if not tuned.use_it:
        return []
    steer = ["heddle", "yarn", "steer", "--rm", "http://RM:8088", "--policy", tuned.policy]
    live = [*steer, "--mode", "live"]
    return [
        ("Watch what it would do for a day; nothing is changed:", shlex.join([*steer, "--record", "shadow.jsonl"])),
        (
            "Then on a few nodes, or AM shares and priorities in one queue:",
            shlex.join([*live, "--node", "WORKER:8041"]),
        ),
        ("Then everywhere:", shlex.join(live)),
    ]


def stop_at(tuned: Tuned) -> str:
    """The figure at which to stop; empty where nothing is to be changed."""
    _, interval = tuned.change
    if not tuned.use_it or interval is None:
        return ""
    higher = tuned.aims.goal.higher_is_better
    least = abs(interval[0] if higher else interval[1])
    moves = "rises" if higher else "falls"
    text = f"Stop (Ctrl-C puts everything back) if {goal_title(tuned)} {moves} by less than {least:.2g} % over a day"
    limits = [str(one.keep) for one in tuned.kept]
    return f"{text} like those before, or if one of these breaks: {'; '.join(limits)}."
