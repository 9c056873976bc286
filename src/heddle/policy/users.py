"""Levers from a user's own file: `./mine.py:shortest_first`. What is wrong with one is told with its line, at once."""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from heddle.model.errors import BadInput, Problem
from heddle.model.suggestion import did_you_mean
from heddle.model.whereabouts import lies_at
from heddle.policy.checking import unknown_names
from heddle.policy.declaration import Lever
from heddle.policy.declared_reads import seen_when_loaded
from heddle.policy.refused import Refused, in_a_file


def own_lever_files(policy: str) -> tuple[str, ...]:
    """The files of levers that the text of a policy names."""
    return tuple(part.partition(".py:")[0] + ".py" for part in policy.split("+") if ".py:" in part)


def load_user_lever(text: str) -> Lever:
    """The lever that the file declares under this name, compiled to see whether it can be right."""
    file, _, name = text.rpartition(":")
    path = lies_at(file)
    if not path.is_file():
        raise BadInput.of(file, "no such file")
    stat = path.stat()
    module = _loaded(str(path), stat.st_mtime_ns, stat.st_size)
    levers = {key: value for key, value in vars(module).items() if isinstance(value, Lever | Refused)}
    if name not in levers:
        has = f"; it has: {', '.join(levers)}" if levers else ""
        what = f"declares no lever {name!r}{did_you_mean(name, levers)}{has}"
        raise BadInput.of(file, what + " (decorate a function with heddle.policy.lever.ordering(), for example)")
    lever = levers[name]
    if isinstance(lever, Refused):
        raise BadInput(lever.why.problems)
    _refuse_unknown_names(lever)
    _refuse_what_the_compiler_shows(lever)
    return replace(lever, name=text)  # so that the policy's string names the file again


@lru_cache(maxsize=64)
def _loaded(file: str, _changed_ns: int, _size: int) -> ModuleType:
    path = Path(file)
    module_name = f"heddle_user_{path.stem}_{abs(hash(path.resolve())):x}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        with in_a_file():
            spec.loader.exec_module(module)
    except BadInput:
        raise
    except SyntaxError as error:
        raise BadInput.of(file, f"cannot be loaded: {error.msg}", row=error.lineno) from error
    except Exception as error:  # whatever a user's file raises is theirs to see, in one line
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
        what = f"cannot be loaded: {type(error).__name__}: {error}{_what_there_is(error)}"
        raise BadInput.of(file, what, row=lines[-1] if lines else None) from error
    return module


def _what_there_is(error: Exception) -> str:
    """After a name of heddle's that cannot be imported: those that begin like it."""
    missing = re.match(r"cannot import name '(\w+)' from '(heddle[\w.]*)'", str(error))
    if not missing or missing[2] not in sys.modules:
        return ""
    known = [name for name in vars(sys.modules[missing[2]]) if not name.startswith("_")]
    alike = [name for name in known if name.partition("_")[0] == missing[1].partition("_")[0]]
    return (did_you_mean(missing[1], known) or ";") + (f" it has: {', '.join(alike)}" if alike else "")


def _refuse_unknown_names(lever: Lever) -> None:
    problems: list[Problem] = [problem for hook in lever.hooks.values() for problem in unknown_names(hook)]
    if problems:
        raise BadInput(problems)


def _refuse_what_the_compiler_shows(lever: Lever) -> None:
    """A fraction, or nothing, where a whole number is due; the time read by a key that is asked for once.

    (heddle's own levers are looked at in a test.)
    """
    from heddle.policy.hooks import ready_hook  # needs LLVM, which built-in policies do not until they run

    problems: list[Problem] = []
    for hook in lever.hooks:
        try:
            compiled = ready_hook(lever, hook, N_RESOURCES)
        except BadInput as error:
            problems += error.problems
            continue
        for read, line in compiled.reads.items():
            if what := seen_when_loaded(lever, hook, read):
                problems.append(Problem(lever.hooks[hook].__code__.co_filename, f"{lever.name}: {what}", row=line))
    if problems:
        raise BadInput(problems)


N_RESOURCES = 2  # memory and vcores, as most clusters have
