"""A real cluster that `heddle yarn observe` or `heddle yarn twin` has watched, cut at any instant since then."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

from heddle.check.present import Present
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput
from heddle.run import Executor
from heddle.twin.known import Snapshot
from heddle.twin.watched import Totals, Watched
from heddle.yarn.observe.history import MAPREDUCE
from heddle.yarn.observe.journal import read_lines
from heddle.yarn.observe.live_record import Kind, stage_name
from heddle.yarn.observe.merging import with_histories
from heddle.yarn.observe.seen import Seen, read_seen

JOURNAL: Final = "journal.jsonl"
_SMALLEST_MB: Final = 1024


class Observed:
    """Instants count from when somebody began to look."""

    executor: Executor = "native"  # YARN's own scheduler, by whatever it was set

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        if not cluster.policy:
            raise BadInput.of("--cluster", "does not say which scheduler the cluster has (policy)")
        seen = read_seen(read_lines(folder / JOURNAL), str(folder / JOURNAL))
        self._began_ms = seen.began_ms
        self._watched = Watched(seen, Present(cluster, _SMALLEST_MB, ()), _told_by_masters(seen))
        ended = {app.id: app.ended_at_ms for app in seen.apps.values()}
        self.ended_ms = {app: None if ms is None else ms - self._began_ms for app, ms in ended.items()}

    @property
    def last_ms(self) -> int:
        return max((ended for ended in self.ended_ms.values() if ended is not None), default=0)

    def at(self, at_ms: int) -> Snapshot:
        return self._watched.at(self._began_ms + at_ms)


def _told_by_masters(seen: Seen) -> Totals:
    """What MapReduce's AMs would have told all along: the tasks that their jobs came to have."""
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for life in with_histories(seen).containers.values():
        app = seen.apps.get(life.app)
        if app is not None and app.kind == MAPREDUCE and not life.is_am:
            totals[app.id][stage_name(Kind(app.id, False, life.priority, life.size), app)] += 1
    return totals
