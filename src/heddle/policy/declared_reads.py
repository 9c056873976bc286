"""Which columns of the view a hook may read, by what its lever says that it depends on.

A host asks again for a key, a total or a score only when something happened that it was told to look for. A hook that
reads what moves at other times has answers that go stale, and nobody notices.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from heddle.model.view import EVENT_TICK
from heddle.policy.declaration import Lever
from heddle.policy.lever import Ordering, Placement, Sizing


class Read(NamedTuple):
    """A column of the view; `others`: in a row that is not of the job (of its stages) that the hook was asked about."""

    table: str
    column: str
    others: bool = False

    def __str__(self) -> str:
        return f'view.{self.table}["{self.column}"]' + (" of another job" if self.others else "")


# Columns that stay as they are from the arrival of a job on, or whose change makes hosts ask again in any case.
FIXED: Final = {
    "clock": {"seed", "allowance", "increment", "report_ms", "counts", "exclusive", "labels_apart"},
    "node": {"capacity", "allowance", "rack", "label"},
    "queue": {
        "min_share", "weight_milli", "am_share_permille", "user_limit_percent", "user_limit_factor_milli",
        "max_running_jobs", "parent", "first_child", "next_sibling", "order",
    },
    "member": {"queue", "user"},
    "job": {"number", "arrived_at_ms", "queue", "member", "priority", "pool"},
    "stage": {"asked_at_ms", "queue", "member"},
}  # fmt: skip
SPECS: Final = {"job_spec", "stage_spec", "shape"}
OF_THE_JOB: Final = {"job": {"allocated", "waiting", "held", "state"}, "stage": {"waiting", "held", "done"}}
OF_CONTAINERS: Final = Read("container", "used")
OF_TIME: Final = Read("clock", "now_ms")
REPORTED: Final = {"node": {"used", "containers_used", "reported_at_ms"}, "container": {"used"}}


def undeclared(lever: Lever, hook: str, read: Read) -> str | None:
    """What is wrong with this hook's reading this column, in words; None if nothing is."""
    why = None
    if read == OF_CONTAINERS and not (isinstance(lever, Sizing) and lever.trait(lever.reads_containers)):
        why = "which is 0 unless a sizing lever says reads_containers=True"
    elif isinstance(lever, Ordering) and hook in ("key", "term"):
        why = _of_key(lever, read)
    elif isinstance(lever, Sizing) and hook == "total":
        why = _of_total(lever, read)
    elif isinstance(lever, Placement) and hook == "score" and lever.score_by == "node":
        why = _of_score(read)
    return f"{hook} reads {read}, {why}" if why else None


def seen_when_loaded(lever: Lever, hook: str, read: Read) -> str | None:
    """The same, of what makes a run silently wrong, or never end, whatever else the policy has.

    The rest waits for certification: on_event may have the host ask again, another lever may have use collected.
    """
    of_time = read == OF_TIME and EVENT_TICK not in lever.listens
    of_containers = read == OF_CONTAINERS and isinstance(lever, Sizing) and not lever.reads_containers
    return undeclared(lever, hook, read) if of_time or of_containers else None


def _is(read: Read, columns: dict[str, set[str]]) -> bool:
    return read.column in columns.get(read.table, set())


def _is_fixed(read: Read) -> bool:
    return read.table in SPECS or _is(read, FIXED)


def _of_key(lever: Ordering, read: Read) -> str | None:
    if lever.depends_on == "time" or _is_fixed(read):
        return None
    if read == OF_TIME:
        return "but nobody asks for the key again as time passes: say depends_on='time' and every_ms"
    if _is(read, OF_THE_JOB) and not read.others:
        if lever.depends_on == "allocations":
            return None
        return "but the key is asked for once: say depends_on='allocations'"
    return (
        "which changes without the key being asked for again: say depends_on='time' and every_ms, or keep it in state"
    )


def _of_total(lever: Sizing, read: Read) -> str | None:
    if lever.depends_on == "time" or _is_fixed(read):
        return None
    if read == OF_TIME:
        return "but totals are not asked for again as time passes: say depends_on='time'"
    if _is(read, REPORTED):
        return None if lever.depends_on == "reports" else "but nobody collects reports for it: say depends_on='reports'"
    return None


def _of_score(read: Read) -> str | None:
    if _is_fixed(read) or read.table == "node":
        return None
    return "but says score_by='node': it is asked for again only when the node changes"
