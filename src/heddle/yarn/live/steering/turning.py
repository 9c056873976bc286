"""Turns the knobs of a live YARN beside sizes of nodes: queues' shares and AM shares, applications' queue and priority.

Only what differs is changed, after what was found has been remembered. What somebody else changed since we did is
theirs from then on: it is neither changed again nor put back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from heddle.policy.lever import Question
from heddle.policy.policy import Policy
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.knobs import HIGHEST_PRIORITY, Turns, has_opinion, pool_leaves
from heddle.yarn.live.snapshot import QueueSeen, Snapshot
from heddle.yarn.live.steering.desk import Found
from heddle.yarn.live.steering.putting_back import settings_of_queues
from heddle.yarn.live.verdicts import Verdict
from heddle.yarn.live.wire import YarnError

AM_SHARE: Final = "maximum-am-resource-percent"
GUARANTEE: Final = "capacity"
MAXIMUM: Final = "maximum-capacity"
_PRIORITIES: Final = "yarn.cluster.max-application-priority"
_STORE: Final = "yarn.scheduler.configuration.store.class"

QueueSettings = dict[str, dict[str, str | None]]


@dataclass(frozen=True)
class Turn:
    """A knob: where it was, where it should be, what became of it."""

    what: str  # as in Found: queues, priorities, leaves
    name: str
    before: Any
    wanted: Any
    verdict: Verdict
    problem: str = ""


def missing_knobs(client: RmClient, policy: Policy, queues: tuple[QueueSeen, ...]) -> str:
    """Which knobs that the policy turns this YARN does not have, and what would give it them; empty: it has them."""
    levers = policy.by_question
    missing = []
    if has_opinion(levers[Question.ADMISSION]) or has_opinion(levers[Question.PARTITION]):
        try:
            client.scheduler_settings()
        except YarnError as error:
            missing.append(
                f"queues cannot be changed live ({error}): it needs the Capacity scheduler and, in yarn-site.xml,"
                f" {_STORE}=memory"
            )
    if has_opinion(levers[Question.ORDERING]) and not _most_priority(client):
        missing.append(f"applications have no priorities: set {_PRIORITIES} to {HIGHEST_PRIORITY} in yarn-site.xml")
    pools = pool_leaves(policy)
    below_root = {queue.name for queue in queues if queue.name.count(".") == 1}
    if pools and below_root != set(pools):
        missing.append(
            f"{levers[Question.PARTITION].name} shares the cluster between {' and '.join(pools)}: these, and no others,"
            f" must be the queues below root in capacity-scheduler.xml (there are {', '.join(sorted(below_root))})"
        )
    return "; ".join(missing)


def _most_priority(client: RmClient) -> int:
    try:
        return int(client.setting(_PRIORITIES) or 0)
    except (YarnError, ValueError):  # an RM that does not show its configuration
        return 0


class Turner:
    """`remember` is called with what was found before anything of it is changed for the first time."""

    def __init__(self, client: RmClient, remember: Callable[[Found], None], forget: Callable[[Found], None]) -> None:
        self._client, self._remember, self._forget = client, remember, forget
        # By us: what was there and what was asked for. A change that was refused, or is yet to come true, leaves the
        # one, otherwise the other is there; anything else is somebody's.
        self._set_queues: dict[str, dict[str, tuple[str | None, ...]]] = {}
        self._found_queues: QueueSettings = {}
        self._set: dict[str, dict[str, tuple[Any, ...]]] = {"leaves": {}, "priorities": {}}
        self._found: dict[str, dict[str, Any]] = {"leaves": {}, "priorities": {}}
        self._foreign: set[tuple[str, str]] = set()
        self._said: QueueSettings = {}  # in shadow mode, where settings cannot be read: what was last decided

    def found_priorities(self) -> Mapping[str, int]:
        """Of the applications whose priority we have set, the one that they had."""
        return self._found["priorities"]

    def turn(self, turns: Turns, snapshot: Snapshot, shadow: bool) -> list[Turn]:
        """What differs from where it should be, and what was done about it."""
        apps = snapshot.apps.values()
        done = self._turn_queues(wanted_settings(turns), shadow)
        done += self._turn_apps("leaves", turns.leaves, {app.id: app.queue for app in apps}, shadow)
        done += self._turn_apps("priorities", turns.priorities, {app.id: app.priority for app in apps}, shadow)
        return done

    def _turn_queues(self, wanted: QueueSettings, shadow: bool) -> list[Turn]:
        """In one change of the configuration: shares of neighbours must add up at every moment."""
        if not wanted:
            return []
        now = self._settings_now(wanted, shadow)
        self._leave_to_others(now)
        changes = {
            queue: {key: value for key, value in settings.items() if _differs(now[queue][key], value)}
            for queue, settings in wanted.items()
            if ("queues", queue) not in self._foreign
        }
        changes = {queue: settings for queue, settings in changes.items() if settings}
        verdict, problem = Verdict.SHADOW, ""
        if changes and not shadow:
            first = {q: {key: now[q][key] for key in keys} for q, keys in changes.items()}
            for queue, settings in first.items():
                self._found_queues[queue] = {**settings, **self._found_queues.get(queue, {})}
            self._remember(Found(queues=first))
            verdict, problem = self._try(lambda: self._client.change_queues(changes))
            for queue, settings in changes.items():
                either = {key: (now[queue][key], value) for key, value in settings.items()}
                self._set_queues.setdefault(queue, {}).update(either)
        return [
            Turn("queues", queue, {key: now[queue][key] for key in settings}, settings, verdict, problem)
            for queue, settings in changes.items()
        ]

    def _settings_now(self, wanted: QueueSettings, shadow: bool) -> QueueSettings:
        """As the RM says. One that does not let us read them (no mutable store, no right to) is no reason not to show
        decisions: then they are compared with the last ones."""
        try:
            return settings_of_queues(self._client, wanted)
        except YarnError as error:
            if not shadow or error.status is None:
                raise
        now = {queue: {key: self._said.get(queue, {}).get(key) for key in keys} for queue, keys in wanted.items()}
        self._said = wanted
        return now

    def _leave_to_others(self, now: QueueSettings) -> None:
        """A restarted RM has what its file says, which is what we found; anything else is somebody's."""
        for queue, settings in self._set_queues.items():
            found = self._found_queues[queue]
            strange = [
                key
                for key, either in settings.items()
                if key in now.get(queue, {})
                and all(_differs(now[queue][key], value) for value in (*either, found[key]))
            ]
            if strange and ("queues", queue) not in self._foreign:
                self._foreign.add(("queues", queue))
                self._forget(Found(queues={queue: {key: found[key] for key in settings}}))

    def _turn_apps(self, what: str, wanted: Mapping[str, Any], now: Mapping[str, Any], shadow: bool) -> list[Turn]:
        done = []
        for app, value in wanted.items():
            if app not in now or _same(now[app], value):
                continue
            if shadow:
                done.append(Turn(what, app, now[app], value, Verdict.SHADOW))
                continue
            done.append(self._turn_app(what, app, value, now[app]))
        return done

    def _turn_app(self, what: str, app: str, value: Any, now: Any) -> Turn:
        ours, found = self._set[what], self._found[what]
        strange = app in ours and not any(_same(now, value) for value in (*ours[app], found[app]))
        if strange and (what, app) not in self._foreign:
            self._foreign.add((what, app))
            self._forget(Found(**{what: {app: found[app]}}))
        if (what, app) in self._foreign:
            return Turn(what, app, now, value, Verdict.LEFT_ALONE)
        found.setdefault(app, now)
        self._remember(Found(**{what: {app: found[app]}}))
        change = self._client.move if what == "leaves" else self._client.set_priority
        verdict, problem = self._try(lambda: change(app, value))
        ours[app] = now, value
        return Turn(what, app, now, value, verdict, problem)

    def _try(self, change: Callable[[], object]) -> tuple[Verdict, str]:
        try:
            change()
        except YarnError as error:
            return Verdict.FAILED, str(error)
        return Verdict.POSTED, ""


def wanted_settings(turns: Turns) -> QueueSettings:
    """Turns in the words of capacity-scheduler.xml: shares of AMs are parts of 1, shares of queues percent."""
    wanted: QueueSettings = {}
    for queue, (guarantee, maximum) in turns.queue_permille.items():
        wanted.setdefault(queue, {}).update({GUARANTEE: f"{guarantee / 10:g}", MAXIMUM: f"{maximum / 10:g}"})
    for queue, permille in turns.am_share_permille.items():
        wanted.setdefault(queue, {})[AM_SHARE] = f"{permille / 1000:g}"
    return wanted


def _differs(one: str | None, other: str | None) -> bool:
    """Numbers are compared as numbers: 50 and 50.0 are the same."""
    if one is None or other is None:
        return one is not other
    try:
        return abs(float(one) - float(other)) > 1e-6
    except ValueError:
        return one != other


def _same(one: Any, other: Any) -> bool:
    """The RM may give a queue by the last part of its name."""
    if isinstance(one, str):
        return one == other or one == str(other).rpartition(".")[2]
    return bool(one == other)
