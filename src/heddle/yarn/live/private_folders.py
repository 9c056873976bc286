"""Folders of state that nobody else can look into, write to, or put a link in the way of."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from heddle.model.access import PRIVATE, close_to_others, make_folders, why_not_ours
from heddle.model.errors import RunRefused


def state_folder() -> Path:
    """What must outlive a command: clusters, and what a controller has to put back."""
    return _state_home() / "heddle" / "yarn"


def private_folder(*parts: str) -> Path:
    """A folder below state_folder(), there if it can be. RunRefused where it, or heddle's own above it, is not ours.

    A folder that cannot be created is not reported here: the first write to it will fail with a message.
    """
    folder = state_folder().joinpath(*parts)
    for each in reversed((folder, *folder.parents)):
        if not each.is_relative_to(_state_home() / "heddle"):
            continue
        try:
            if why := why_not_ours(each):
                raise RunRefused(f"{each} {why}: what heddle keeps there could belong to someone else (XDG_STATE_HOME)")
            with suppress(OSError):  # a disk that has become read-only
                close_to_others(each)
        except FileNotFoundError:
            break
    with suppress(OSError):
        make_folders(folder, PRIVATE)
    return folder


def _state_home() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
