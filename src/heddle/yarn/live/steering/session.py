"""One controller at work on one cluster: what it changes is leased, and is put back however it ends.

Live, before the first change of anything: what was found is on disk and a watchdog is on guard. Every step renews the
lease. The end of the session puts everything back and proves it; if the process dies instead, the watchdog does so; if
both die, the next session or `restore` does. A session that was out of action for longer than its lease (stopped, or
without an answer of the ResourceManager) puts everything back and begins anew, because nobody knows what was missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from heddle.model.errors import CheckFailed, RunRefused
from heddle.policy.policy import Policy
from heddle.yarn.live.applying.applier import Applier
from heddle.yarn.live.applying.ownership import Ownership
from heddle.yarn.live.applying.putting_back import HEARD_S, PutBack, in_words, put_ours_back, still_owed
from heddle.yarn.live.applying.rm_knobs import RmKnobs, missing_knobs
from heddle.yarn.live.applying.standing import Standing
from heddle.yarn.live.applying.table_knob import TableKnob
from heddle.yarn.live.applying.turn import Verdict
from heddle.yarn.live.bridge.listening import NewRequest
from heddle.yarn.live.client import RmClient
from heddle.yarn.live.controller import Controller, Settings, Step
from heddle.yarn.live.declared_data import DeclaredData
from heddle.yarn.live.files import OutOfFiles
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.metrics_age import MetricsAge
from heddle.yarn.live.nodemanagers import sizes_of_nodemanagers
from heddle.yarn.live.rm_answers import read_nodes, read_queues
from heddle.yarn.live.steering.desk import Baseline, Desk
from heddle.yarn.live.steering.left_behind import put_back_left
from heddle.yarn.live.steering.rehearsing import rehearse
from heddle.yarn.live.steering.watchdog import start_watchdog, watchdog_lives
from heddle.yarn.live.things_seen import NodeSeen, Size
from heddle.yarn.live.wire import YarnError

LAST_TRIES: Final = 3

Say = Callable[[str], None]


@dataclass(frozen=True)
class Terms:
    """How a session holds what it changes."""

    lease_s: float = 60.0
    user: str | None = None
    accept_sizes: bool = False  # take nodes as they are, although their NodeManagers say otherwise


class Session:
    """Use it in a `with`; call step() in a loop."""

    def __init__(
        self,
        client: RmClient,
        policy: Policy,
        settings: Settings,
        desk: Desk,
        terms: Terms,
        say: Say,
        bridge: TableKnob | None = None,
        others: Sequence[Policy] = (),
        declared: DeclaredData | None = None,
    ) -> None:
        """`others`: policies that look and learn beside the first, and may take its place. `declared`: what is known of
        the applications' data; None: nothing."""
        self._declared = declared
        self._client, self._policies, self._settings = client, (policy, *others), settings
        self._in_force = 0
        self._desk, self._terms, self._say = desk, terms, say
        self._live = not settings.shadow
        self._clock = desk.world.clock
        self._ownership, self._ages = Ownership(), MetricsAge()
        self._saved: Baseline | None = None  # as it is on disk
        self._owed = Standing()  # to be put back as soon as it can be
        self._knobs = RmKnobs(client)
        self._applier = Applier(
            self._knobs, self._ownership, settings.dead_band, self._remember, self._release, bridge=bridge
        )
        self._controller: Controller | None = None  # None: the RM was away for too long
        self._beat_s = self._answered_s = self._now_s()
        self._paused = False
        self._pause_untold = False
        self._begun = False
        self._has_looked = False  # in the last step
        self.trouble = ""  # why the last step that failed did

    @contextmanager
    def at_work(self) -> Iterator[Session]:
        """Holds the cluster's lock if live, and leaves everything as it was."""
        for policy in self._policies:
            rehearse(policy, self._settings, self._applier.bridge is not None, self._declared)
        if not self._live:
            self._begin()
            yield self
            return
        with self._desk.lock():
            self._beat()  # a watchdog that puts back what the last one left stops here: from now on that is up to us
            self._mend_what_was_left()
            self._begin()
            try:
                yield self
            finally:
                self._end()

    def step(self) -> Step | None:
        """One step; None if the ResourceManager did not answer, or no file could be opened.

        Raises only what makes going on senseless.
        """
        if self._now_s() - self._beat_s > self._terms.lease_s and self._controller is not None:
            self._say("inactive for longer than the lease: restoring everything and starting over")
            self._controller = None
        if self._now_s() - self._answered_s > self._terms.lease_s:
            self._controller = None
        self._has_looked = False
        try:
            step = self._guarded_step()
        except (YarnError, OutOfFiles) as error:
            self.trouble = str(error)
            if self._controller is not None:
                self._say(f"{error}; retrying")
            return None
        self._answered_s, self._has_looked = self._now_s(), True
        return step

    def _guarded_step(self) -> Step:
        self._beat()
        try:
            controller = self._controller or self._anew()
            self._heed_pause(controller)
            self._try_what_is_owed()
            self._tell_pause()
            return controller.step()
        finally:
            self._guard()

    def name_newcomers(self, new: Sequence[NewRequest]) -> bool:
        """Whether the bridge now knows these requests, by the last look and what was told of them; else it takes a
        step. A look that failed, or that is older than a pause, is none to go by."""
        if self._controller is None or not self._has_looked or not self._live or self._paused or self._desk.paused:
            return False
        try:
            turn = self._controller.name_newcomers(new)
        except (YarnError, OutOfFiles):
            return False
        return turn is not None and turn.verdict is Verdict.POSTED

    def put_in_force(self, number: int) -> None:
        """The policy of this number acts from the next step on; 0 is the first."""
        self._in_force = number
        if self._controller is not None:
            self._controller.put_in_force(number)

    @property
    def live(self) -> LiveView | None:
        """The cluster as levers see it; None: not since the ResourceManager was away for too long."""
        return None if self._controller is None else self._controller.live

    @property
    def found(self) -> Standing:
        """What may have been changed, as it was found."""
        return self._ownership.found

    @property
    def paused(self) -> bool:
        """Whether it has put everything back, and waits."""
        return self._paused

    def _now_s(self) -> float:
        return self._clock.monotonic()

    # Beginning and ending.

    def _begin(self) -> Controller:
        controller = Controller(
            self._client,
            self._policies[0],
            self._own_size,
            self._settings_now(),
            self._applier,
            self._clock,
            self._own_size,
            self._ages,
            self._policies[1:],
            self._declared,
        )
        controller.put_in_force(self._in_force)
        nodes = read_nodes(self._client.nodes(), self._client.address)
        if not self._begun:
            self._check_knobs()
        if self._live:
            if not self._begun:
                self._refuse_strange_sizes(nodes)
            # A node that is known keeps its size as first known: after a restart of the RM it comes back as we made it.
            self._ownership.find(Standing(sizes={node.id: node.total for node in nodes.values() if node.resizable}))
            self._save()
        self._beat()
        self._guard()
        self._controller, self._begun = controller, True
        self._answered_s = self._now_s()
        return controller

    def _settings_now(self) -> Settings:
        return replace(self._settings, shadow=self._paused or not self._live)

    def _mend_what_was_left(self) -> None:
        left = self._desk.load()
        if left is not None:
            self._say("an earlier controller left changes behind: undoing them first")
            ownership = left.ownership()
            done = put_back_left(self._knobs, ownership, self._clock, self._say)
            _prove(done)
            # Nodes that are away are still owed their size.
            self._owed = still_owed(done)
            self._ownership.owe(ownership, self._owed)

    def _check_knobs(self) -> None:
        """Live, a YARN without the knobs that the policy turns is refused; in shadow mode it is said."""
        queues = read_queues(self._client.scheduler(), self._client.address)
        for policy in self._policies:
            if missing := missing_knobs(self._client, policy, queues, self._applier.bridge is not None):
                if self._live:
                    raise RunRefused(missing)
                self._say(f"note: live mode would be refused: {missing}")

    def _refuse_strange_sizes(self, nodes: dict[str, NodeSeen]) -> None:
        if self._terms.accept_sizes:
            return
        # One that is being decommissioned has the size of what it holds.
        own = sizes_of_nodemanagers(self._client, {name: node for name, node in nodes.items() if node.resizable})
        strange = [
            f"{node} has {nodes[node].total}, not {size}" for node, size in own.items() if nodes[node].total != size
        ]
        if strange:
            raise RunRefused(
                "nodes do not have the size that their NodeManagers were configured with: " + "; ".join(strange)
                + ". `heddle yarn restore --from-nodes` restores them; --accept-sizes accepts them as they are"
            )  # fmt: skip

    def _drop_table(self) -> None:
        """Now, rather than when its lease is over; if nobody answers, then."""
        if self._applier.bridge is not None:
            try:
                self._applier.bridge.drop()
            except YarnError as error:
                self._say(f"the bridge's table could not be removed ({error}); it expires with its lease")

    def _end(self) -> None:
        self._drop_table()
        for _ in range(LAST_TRIES):
            try:
                done = self._put_ours_back()
            except (YarnError, RunRefused) as error:
                self._say(f"cannot restore everything now: {error}")
                self._clock.sleep(1)
                continue
            # A node that went away as it was is owed nothing, and may never come back.
            turned = self._ownership.turned
            owed = [one for one in done if not one.proven and (not one.away or (one.what, one.name, "") in turned)]
            if not owed and any(one.resized for one in done):
                self._clock.sleep(HEARD_S)
                continue
            if not owed:
                self._forget()
                self._say(f"restored and verified: {in_words([one for one in done if one.proven])}")
                return
            break
        self._say("the watchdog keeps restoring what is left; `heddle yarn restore` does so too")

    def _forget(self) -> None:
        try:
            self._desk.forget()
        except RunRefused as refused:  # all is back: whoever reads it later finds nothing to do
            self._say(str(refused))

    def _put_ours_back(self, only: Standing | None = None) -> list[PutBack]:
        """Everything but what is somebody else's by now."""
        return put_ours_back(self._knobs, self._ownership, self._clock, self._release, only)

    def _anew(self) -> Controller:
        """Everything back, then a fresh start. Raises YarnError as long as the ResourceManager does not answer."""
        self._owed = self._ownership.found if self._live else Standing()
        self._put_back_owed()
        controller = self._begin()
        self._say("began anew")
        return controller

    def _put_back_owed(self) -> None:
        """A restarted RM learns of its nodes one by one, and they come as we made them."""
        if self._owed:
            self._owed = still_owed(self._put_ours_back(self._owed))

    def _try_what_is_owed(self) -> None:
        """What the ResourceManager refuses is tried again with every step, and keeps nobody from steering the rest."""
        try:
            self._put_back_owed()
        except YarnError as error:
            if error.status is None:
                raise
            self._say(f"cannot restore yet what an earlier controller left: {error}")

    # While it runs.

    def _beat(self) -> None:
        now_s = self._now_s()
        if self._live:
            self._desk.beat()
        self._beat_s = now_s

    def _guard(self) -> None:
        """What was changed is on disk and a watchdog lives, whoever removed the one or killed the other."""
        if self._saved is not None and self._saved.kill_below != self._ownership.kill_below:
            self._save()
        if self._live and not (self._desk.has_baseline and watchdog_lives(self._desk)):
            self._save()
            start_watchdog(self._desk, self._terms.lease_s)

    def _heed_pause(self, controller: Controller) -> None:
        """From here on nothing is changed but to put it back, however often the ResourceManager refuses that."""
        if self._desk.paused == self._paused:
            return
        self._paused, self._pause_untold = not self._paused, True
        controller.settings = self._settings_now()
        if self._paused and self._live:
            self._owed = self._ownership.found
            self._drop_table()

    def _tell_pause(self) -> None:
        if self._pause_untold:
            self._pause_untold = False
            self._say("paused: everything is restored, and nothing will change" if self._paused else "resumed")

    def _own_size(self, node: NodeSeen) -> Size:
        return self._ownership.found.sizes.get(node.id, node.total)

    def _remember(self) -> None:
        """Before a change of anything: how it was found must be on disk, and somebody on guard.

        After more than the lease the watchdog has put everything back, or is about to: nothing more may be changed.
        """
        if self._now_s() - self._beat_s > self._terms.lease_s:
            raise YarnError(self._client.address, "a step took longer than the lease and was abandoned")
        if self._baseline() != self._saved:
            self._save()
        self._guard()

    def _release(self, theirs: Standing) -> None:
        """What somebody else has changed since is theirs, and not to be put back."""
        self._say(f"changed by someone else and left alone from now on: {', '.join(theirs.names())}")
        if self._live:
            self._save()

    def _save(self) -> None:
        now = self._baseline()
        self._desk.save(now)
        self._saved = now

    def _baseline(self) -> Baseline:
        owned = self._ownership
        asked = None if owned.anywhere else dict(owned.asked)
        return Baseline(self._client.address, self._terms.user, owned.found, asked, owned.kill_below)


def restore(client: RmClient, desk: Desk, *, from_nodes: bool, say: Say = lambda _: None) -> list[PutBack]:
    """Puts everything back from whatever state, and proves it. Needs that no controller is at work."""
    with desk.lock():
        left = desk.load() if not from_nodes else None
        if from_nodes:
            sizes = sizes_of_nodemanagers(client, read_nodes(client.nodes(), client.address))
            left = Baseline(client.address, None, Standing(sizes))
        if left is None:
            return []
        knobs, ownership, clock = RmKnobs(client), left.ownership(), desk.world.clock
        done = now = put_back_left(knobs, ownership, clock, say)
        _prove(done)
        if any(one.resized for one in done):
            clock.sleep(HEARD_S)
            now = put_back_left(knobs, ownership, clock, say)
            _prove(now)
        if all(one.proven for one in now):
            desk.forget()
    return done


def _prove(done: list[PutBack]) -> None:
    wrong = [f"{one.name} has {one.now}, not {one.wanted}" for one in done if not one.away and not one.proven]
    if wrong:
        raise CheckFailed(wrong)
