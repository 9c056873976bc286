"""One cycle of the twin of a live cluster: look, and forecast from all that was seen until now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from heddle.check.policies import CANDIDATES
from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.stock_yarn.outside import refuse_without_knobs
from heddle.twin.forecast import Forecast, forecast
from heddle.twin.futures import Futures
from heddle.twin.keeping import FILE, Kept, calibration, entries, read_kept
from heddle.twin.known import Snapshot, check_snapshot
from heddle.twin.looking import Looking
from heddle.twin.rollouts import Candidate
from heddle.yarn.live.client import RmClient
from heddle.yarn.observe.journal import Journal
from heddle.yarn.observe.observer import Observer

# Acts on what containers use alone, which a forecast does not know; of weave the other levers can be judged.
_USES: Final = "usage-feedback"


class Living:
    """`folder`: where the observer's journal is, and forecasts are kept."""

    def __init__(self, client: RmClient, observer: Observer, folder: Path, conf: Path | None) -> None:
        self._client, self._observer = client, observer
        self._looking = Looking(client, observer, conf)
        self._file = Journal(folder / FILE)
        self._kept: list[Kept] = read_kept(self._file.read(), str(folder / FILE))

    def look(self) -> tuple[Snapshot, int]:
        """What is known now, and when that is by the ResourceManager's clock. The observer has polled before."""
        return self._looking.look()

    def forecast(
        self, horizon_ms: int, n_draws: int, seconds: float | None, candidates: Sequence[str] | None
    ) -> tuple[Forecast, dict[str, str]]:
        """And which candidates cannot be brought about here, with the reason. None: those that are usual."""
        snapshot, now_ms = self.look()
        chosen, refused = self.candidates(snapshot, horizon_ms, candidates)
        ended = {app.id: app.ended_at_ms for app in self._observer.seen.apps.values()}
        known = calibration(self._kept, ended, now_ms)
        found = forecast(snapshot, chosen, horizon_ms, self._client.address, n_draws, seconds, calibration=known)
        lines = list(entries(found, snapshot.policy, now_ms))
        self._kept += read_kept(lines, FILE)
        for line in lines:
            self._file.add(line)
        self._file.flush()
        return found, refused

    def candidates(
        self, snapshot: Snapshot, horizon_ms: int, named: Sequence[str] | None
    ) -> tuple[list[Candidate], dict[str, str]]:
        """The present policy first; and why others cannot be brought about here."""
        check_snapshot(snapshot, self._client.address)
        chosen, refused = [Candidate.of(snapshot.policy, "native")], {}
        usual = [f"{snapshot.policy}+{name}" for name in CANDIDATES if name != _USES]
        some = Futures(snapshot, horizon_ms, 1).future(0).workload
        for name in named if named is not None else usual:
            try:
                refuse_without_knobs(parse_policy(name), some, snapshot.cluster)
            except RunRefused as error:
                refused[name] = str(error)
                continue
            chosen.append(Candidate.of(name, "yarn-knobs"))
        return chosen, refused
