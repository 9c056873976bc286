"""docs/levers-reference.md, made of the declarations themselves and the comments beside them:

python -m heddle.policy.reference > docs/levers-reference.md
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from types import ModuleType
from typing import Any, Final

from heddle.model import view, workload
from heddle.model.reasons import Reason
from heddle.policy import declaration, lever, policy
from heddle.policy.delivery import DELIVERY, LOOK_AGAIN, NEW_KEYS, OF_TRUTH
from heddle.policy.question import HOOKS, Question

KINDS: Final = (lever.Queues, lever.Ordering, lever.Admission, lever.Sizing, lever.Partition, lever.Placement)
ONE_MEANS: Final = {
    LOOK_AGAIN: "requests that were held back are looked at again",
    NEW_KEYS: "all keys are asked for again",
}
RULES: Final = """\
Written by `python -m heddle.policy.reference` from the declarations in `src/heddle/policy/` and
`src/heddle/model/`. The [guide](guide.md#a-lever-of-your-own) tells how to use them. All numbers are whole:
milliseconds, MB, millicores.

- Columns are read field first: `view.node["allocated"][node, r]` where the column is *per resource* (r = 0 is
  memory, 1 vcores), `view.job["held"][job]` where it is not, `view.clock["now_ms"][0]` of the clock, which has one
  row. Hooks cannot write to the view.
- A row of `view.container` is free where its `stage` is -1; its other columns then say what was there before. To
  see those of a node, begin at `view.node["first_container"][node]` and go on with `view.container["next"]` until
  -1.
- A job was submitted at `view.job_spec["submit_at_ms"][job]` and came at `view.job["arrived_at_ms"][job]`: later,
  if it had to wait for another job.
- A container ends with *either* EVENT_FINISHED *or* EVENT_STOPPED: listen to both to see every end.
- `node["used"]` and `node["containers_used"]` are filled where sizing depends on reports, or sizing or partition
  listens to them; `container["used"]` only where sizing says `reads_containers=True`. A live cluster refuses such a
  lever, because no ResourceManager tells the use of single containers.
- `on_event` returns 1 when an answer that the lever gave before may be another by now. Without that a host keeps
  keys until what they depend on (`depends_on`) happens, and may not look again at requests that admission, a pool
  or a veto held back. Sizing is asked again after each event of a node in any case.
- No host goes on after an answer that it cannot use: a pool outside 0 to n_pools - 1, a number that is no Reason,
  an index out of bounds. The error names the function and what it was asked.
- A truth of sizing alone is `truth=("future_peak",)`: `state.truth["future_peak"][node, r]` is what those on the node
  will use at most. It needs `depends_on="time"`.
- `print()` works in compiled hooks, of numbers and of words that are constants.
"""


def page() -> str:
    """The whole page."""
    parts = ["# Levers: reference\n", RULES, *_hooks(), *_traits(), *_events(), *_view(), *_reasons(), *_prepare()]
    return "\n".join(parts)


def _hooks() -> Iterator[str]:
    yield "## Hooks\n"
    block = inspect.cleandoc(lever.__doc__ or "").partition("\n\n")[2].partition("\n\n")[2]
    yield f"```\n{inspect.cleandoc(block)}\n```\n"
    yield "The first of each question is the function that its decorator stands before, the others are given to it:"
    yield "`@partition(limit=limit, n_pools=2)`.\n"


def _traits() -> Iterator[str]:
    yield "## What a declaration may say\n"
    common = {one.name for one in fields(declaration.Lever)}
    given = {name: what for name, what in _comments(declaration).items() if name in common}
    yield from _table_of_traits(
        "Every lever", declaration.Lever, common - {"name", "summary", "on_event", "values"}, given
    )
    for kind in KINDS:
        own = {one.name for one in fields(kind)} - common - set(HOOKS[kind.question])
        if own:
            yield from _table_of_traits(f"`@{kind.question}()`", kind, own, _comments(kind))


def _table_of_traits(title: str, kind: type[Any], names: set[str], meanings: Mapping[str, str]) -> Iterator[str]:
    yield f"### {title}\n\n| | unless you say | |\n|---|---|---|"
    for one in fields(kind):
        if one.name in names:
            default = "nothing" if one.default is MISSING or one.name == "state" else repr(one.default)
            words = re.findall(r"'([\w-]+)'", str(one.type))
            choices = f" (one of: {', '.join(words)})" if words else ""
            yield f"| `{one.name}` | `{default}` | {meanings.get(one.name, '')}{choices} |"
    yield ""


def _events() -> Iterator[str]:
    yield "## Events\n\n`from heddle.model.view import EVENT_ARRIVED`, and so on.\n\n| | | heard by |\n|---|---|---|"
    for name, meaning in _comments(view).items():
        if name.startswith("EVENT_") and name != "EVENT_NAMES":
            kind = getattr(view, name)
            hearers = [str(question) for question, one in DELIVERY.items() if kind in one.kinds]
            who = "all" if len(hearers) == len(Question) else " and ".join(hearers)
            yield f"| `{name}` | {meaning} | {'levers with a truth' if kind in OF_TRUTH else who} |"
    yield "\n| what 1 returned by `on_event` means | |\n|---|---|"
    for question, one in DELIVERY.items():
        yield f"| {question} | {ONE_MEANS.get(one.one_means, 'nothing more: the host asks again in any case')} |"
    yield ""


def _view() -> Iterator[str]:
    yield "## The view\n"
    dtypes = {**view.view_dtypes(2)._asdict(), "job_spec": workload.JOB, "stage_spec": workload.STAGE}
    told = _comments(view.View)
    for table in view.View._fields:
        of = workload if table.endswith("_spec") else view.view_dtypes
        comments = _columns(of, table)
        about = f": {told[table]}" if told.get(table) else ""
        yield f"### `view.{table}`{about}\n\n| column | |\n|---|---|"
        for name in dtypes[table].names or ():
            several = "per resource. " if dtypes[table][name].shape else ""
            yield f"| `{name}` | {several}{comments.get(name, '')} |"
        yield ""


def _reasons() -> Iterator[str]:
    yield "## Reasons\n\n`from heddle.model.reasons import Reason`; before the hook, `VETO = int(Reason.VETO)`.\n"
    yield "| | | |\n|---|---|---|"
    for reason in Reason:
        yield f"| {int(reason)} | `{reason.name}` | {reason.phrase if reason else 'yes'} |"
    yield ""


def _prepare() -> Iterator[str]:
    yield "## What `prepare(setup)` gets\n\n| | |\n|---|---|"
    comments = _comments(policy.Setup)
    yield from (f"| `setup.{name}` | {comments.get(name, '')} |" for name in policy.Setup._fields)
    yield ""


def _comments(of: Any) -> dict[str, str]:
    """What stands behind each declared name, or above it."""
    found: dict[str, str] = {}
    above: list[str] = []
    for line in inspect.getsource(of).splitlines():
        declared = re.match(r"\s*(\w+): [^#]*(?:#\s*(.*))?$", line)
        if comment := re.match(r"\s*#\s?(.*)", line):
            above.append(comment[1])
            continue
        if declared:
            found.setdefault(declared[1], (declared[2] or " ".join(above)).strip())
        above = []
    return found


def _columns(of: ModuleType | Any, table: str) -> dict[str, str]:
    """The same for the columns of one table."""
    mark = {"job_spec": "JOB: Final = np.dtype(", "stage_spec": "STAGE: Final = np.dtype("}.get(
        table, f"{table}=np.dtype("
    )
    text = inspect.getsource(of).partition(mark)[2].partition("np.dtype(")[0]
    return {
        name: (comment or "").strip()
        for name, comment in re.findall(r'(?:\(|vector\()"(\w+)"[^#\n]*(?:#\s*(.*))?', text)
    }


if __name__ == "__main__":
    print(page(), end="")
