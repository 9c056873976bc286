"""Levers from a user's own file: `./mine.py:shortest_first`."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

from heddle.model.errors import BadInput
from heddle.policy.lever import Lever


def load_user_lever(text: str) -> Lever:
    """The lever that the file declares under this name."""
    file, _, name = text.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise BadInput.of(file, "no such file")
    module_name = f"heddle_user_{path.stem}_{abs(hash(path.resolve())):x}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a user's file raises is theirs to see, in one line
        raise BadInput.of(file, f"cannot be loaded: {type(error).__name__}: {error}") from error
    lever = getattr(module, name, None)
    if not isinstance(lever, Lever):
        levers = [key for key, value in vars(module).items() if isinstance(value, Lever)]
        what = f"declares no lever {name!r}" + (f"; it has: {', '.join(levers)}" if levers else "")
        raise BadInput.of(file, what + " (decorate a function with heddle.policy.lever.ordering(), for example)")
    return replace(lever, name=text)  # so that the policy's string names the file again
