"""The controller as its desk tells of it, and what a person may ask of it: only by way of the desk's files."""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from heddle.model.access import opened_to_append
from heddle.model.errors import HeddleError, RunRefused
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.showing import shown_on
from heddle.yarn.live.steering.watchdog import watchdog_lives

PAUSE, RESUME, END = "pause", "resume", "end"
ACTIONS: Final = (PAUSE, RESUME, END)


@dataclass(frozen=True)
class Controller:
    """What is known of it now."""

    about: dict[str, Any]  # for the page
    log: list[dict[str, Any]]
    session: str  # "": none runs

    @property
    def actions(self) -> list[str]:
        allowed: list[str] = self.about["actions"]
        return allowed


def look_at(desk: Desk) -> Controller:
    """No actions where no controller runs, or where its files are not ours."""
    found = shown_on(desk)
    shown, lives = found if found is not None else ({}, False)
    log = shown.pop("log", [])
    state = "running" if lives else "none" if not shown else "ended" if "ended_at" in shown else "died"
    about = {**shown, "state": state, "pausing": desk.paused, "actions": [], "why": ""}
    if not lives:
        about["left"] = _left_behind(desk)
        about["why"] = "no controller of this user is running on this machine"
        return Controller(about, log, "")
    session = str(shown["session"])
    about["ending"] = desk.is_to_end(session)
    if not _ours(desk):
        about["why"] = f"the controller is {shown['user']}'s: only that user can control it"
    elif not about["ending"]:
        about["actions"] = [RESUME if desk.paused else PAUSE, END]
    return Controller(about, log, session)


def ask(desk: Desk, action: str, session: str, by: str) -> str:
    """Asks the controller for something, and keeps a line of who did; what was asked, in words.

    RunRefused if it may not be asked for now: another session runs by now, or none does.
    """
    controller = look_at(desk)
    if not controller.session or controller.session != session:
        raise RunRefused("that controller is no longer running; the request was dropped")
    if action not in controller.actions:
        raise RunRefused(controller.about["why"] or f"{action} is not possible now")
    words = f"asked to {IN_WORDS[action]} by {getpass.getuser()}, from {by}"
    try:
        _note(desk, {"at": round(desk.world.clock.time(), 3), "session": session, "action": action, "from": by})
        _CALLS[action](desk, session)
    except OSError as error:
        raise RunRefused(
            f"{desk.folder}: cannot be written ({error.strerror or error}); the request was dropped"
        ) from None
    return words


IN_WORDS: Final = {
    PAUSE: "put everything back and pause",
    RESUME: "resume",
    END: "put everything back and end",
}
_CALLS: Final[dict[str, Callable[[Desk, str], None]]] = {
    PAUSE: lambda desk, _: desk.pause(True),
    RESUME: lambda desk, _: desk.pause(False),
    END: lambda desk, session: desk.ask_to_end(session),
}


def _note(desk: Desk, line: dict[str, Any]) -> None:
    """Before it is asked: what cannot be logged is not done."""
    with os.fdopen(opened_to_append(desk.folder / "actions.log"), "a") as log:
        log.write(json.dumps({**line, "user": getpass.getuser()}) + "\n")


def _ours(desk: Desk) -> bool:
    """Being able to write them is not enough: root can write everybody's."""
    try:
        return desk.folder.stat().st_uid == os.geteuid() and os.access(desk.folder, os.W_OK)
    except OSError:
        return False


def _left_behind(desk: Desk) -> str:
    """What a controller that is gone has not put back, in words; "": nothing."""
    if not desk.has_baseline:
        return ""
    try:
        left = desk.load()
    except HeddleError as error:
        return str(error)
    if left is None:
        return ""
    names = left.found.names()
    who = "the watchdog is restoring them" if watchdog_lives(desk) else "run `heddle yarn restore`"
    return f"{len(names)} nodes, queues or applications are not restored yet: {who}"
