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
from heddle.policy.delivery import ARGUMENTS, DELIVERY, LOOK_AGAIN, NEW_KEYS, NOTHING, OF_TRUTH
from heddle.policy.question import HOOKS, Question

KINDS: Final = (lever.Queues, lever.Ordering, lever.Admission, lever.Sizing, lever.Partition, lever.Placement)
ONE_MEANS: Final = {
    NOTHING: "nothing: `depends_on` says when totals are asked for again",
    LOOK_AGAIN: "requests that were held back are looked at again",
    NEW_KEYS: "all keys are asked for again",
}
_OF_ADMISSION, _OF_VETOES = "`admits`", "`allows` of a placement"
SUITS: Final = {
    Reason.NONE: "all",
    Reason.NOT_ADMITTED: _OF_ADMISSION,
    Reason.AM_SHARE: _OF_ADMISSION,
    Reason.MAX_RUNNING: _OF_ADMISSION,
    Reason.QUEUE_LIMIT: "`allows` of queues",
    Reason.USER_LIMIT: "`allows` and `user_allows` of queues",
    Reason.LOCALITY: _OF_VETOES,
    Reason.VETO: _OF_VETOES,
}
RULES: Final = """\
For authors of levers; `heddle policies` lists the built-in ones. The [guide](guide.md#a-lever-of-your-own) tells how to
write one. All numbers are whole: milliseconds, MB, millicores. (Written by `python -m heddle.policy.reference` from the
declarations in `src/heddle/policy/` and `src/heddle/model/`.)

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
  or a veto held back.
- Totals are asked for again whatever `on_event` returns: in the simulator when a container is allocated, starts or ends
  on the node, when the node is lost or returns and when its background load changes; with `depends_on="reports"` also
  at each of its reports, with `depends_on="time"` also whenever requests are about to be placed. EVENT_STARTED is told
  after that, and other events (EVENT_ARRIVED, EVENT_FETCHED, EVENT_TICK) have no total asked for again. The live host
  asks for all totals at each poll.
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
    yield "`@partition(limit=limit, n_pools=2)`. Who hears which event: [Events](#events).\n"


def _traits() -> Iterator[str]:
    yield "## What a declaration may say\n"
    common = {one.name for one in fields(declaration.Lever)}
    given = {name: what for name, what in _comments(declaration).items() if name in common}
    given["listens"] = given["listens"].replace("the table of events", "[the table of events](#events)")
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
    yield "\nWhat `on_event` gets with each, and what the view says by then. Events of one instant come one at a time:"
    yield "the view may not show yet what the next one tells.\n"
    yield "| | `node` | `stage` | `container` | `value` | the view |\n|---|---|---|---|---|---|"
    for kind, given in ARGUMENTS.items():
        cells = ["yes" if name in given.names else "-1" for name in ("node", "stage", "container")]
        yield f"| `{view.event_constant(kind)}` | {' | '.join(cells)} | {given.value or '0'} | {given.view} |"
    yield "\n| what 1 returned by `on_event` means | |\n|---|---|"
    for question, one in DELIVERY.items():
        yield f"| {question} | {ONE_MEANS[one.one_means]} |"
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
    yield "Hosts look only at whether it is 0; which one it is, records, `heddle explain` and reasons of stalls tell.\n"
    yield "| | | | suits |\n|---|---|---|---|"
    for reason in Reason:
        phrase = reason.phrase if reason else "yes"
        yield f"| {int(reason)} | `{reason.name}` | {phrase} | {SUITS.get(reason, 'the host says it')} |"
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
