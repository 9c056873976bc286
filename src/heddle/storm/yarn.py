"""A simulated YARN: the engine with stock scheduling, advanced as time goes on, its knobs turned by whoever asks.

What YARN does beside scheduling is here too: nodes that register, are lost or decommissioned, figures that stand
still, and what a ResourceManager does to containers on a node that is made smaller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from random import Random
from typing import Final

from heddle.model.resources import MEMORY, VCORES
from heddle.model.view import JOB_FINISHED
from heddle.policy.parse import parse_policy
from heddle.sim.codes import FOREVER, LOOK, TIMER_NODE_LOSS, TIMER_NODE_RETURN
from heddle.sim.memory.queue_tree import QueueTree
from heddle.sim.run import Run
from heddle.stock_yarn.levers import posted, stock_policy
from heddle.stock_yarn.sight import Sight, app_id, app_number, node_id, node_number
from heddle.stock_yarn.turning import SimulatedKnobs
from heddle.storm.drawn_world import draw_cluster, draw_workload
from heddle.storm.truth import By, Place, Truth
from heddle.yarn.live.applying.standing import (
    AM_SHARE,
    GUARANTEE,
    LEAVES,
    MAXIMUM,
    PRIORITIES,
    QUEUES,
    SIZES,
    Part,
    Standing,
)
from heddle.yarn.live.snapshot import Snapshot
from heddle.yarn.live.things_seen import NodeSeen, Size

PREFIX: Final = "yarn.scheduler.capacity"
WITHOUT_LIMIT: Final = "100"  # a queue that has no maximum
EPOCH_MS: Final = 1_700_000_000_000  # of the simulation's 0
TICK_MS: Final = 100  # reports about the cluster are at most this old
HEARTBEAT_S: Final = 1.0  # a NodeManager hears of its size with the next one


@dataclass
class NodeState:
    """What the ResourceManager and its NodeManager know of a node, beside its size."""

    own: Size
    registered: bool = True
    decommissioning: bool = False
    was_decommissioned: bool = False  # ever
    registered_s: float = 0.0  # with a ResourceManager that was started anew
    kills_below: bool = False  # an overcommit timeout >= 0 was given once, and sticks
    told: bool = False  # and a controller that steers has had the chance to know
    frozen: NodeSeen | None = None  # its figures, if its NodeManager hangs
    frozen_at_s: float = 0.0
    froze_until_s: float = 0.0
    resized_s: float = -inf  # when the ResourceManager was last told another size
    known: Place | None = None  # the size that the NodeManager knew before that, until its next heartbeat

    @property
    def may_kill(self) -> bool:
        """As far as steering knows: a ResourceManager that starts anew has forgotten the timeout, and tells nobody."""
        return self.kills_below or self.told


@dataclass
class Life:
    """Of a container, give or take a second; `gone_ms`: None while it is there."""

    job: int
    size: Size
    began_ms: int
    gone_ms: int | None = None


class SimulatedYarn:
    """`leaves`: its queues, with equal shares. `now_ms`: since the storm began. `killed`: containers that YARN kills
    since somebody made their node smaller."""

    def __init__(
        self, random: Random, leaves: Sequence[str], lasts_s: int, now_ms: Callable[[], int], preempts: bool
    ) -> None:
        self._now_ms, self.leaves = now_ms, tuple(leaves)  # of which the engine knows
        self.empty_leaves: list[str] = []  # that a person has added: nobody uses them
        self.stopped: set[str] = set()  # queues
        self._lost_at_ms: set[int] = set()  # when applications were forgotten
        self.workload, self.cluster = draw_workload(random, leaves, lasts_s), draw_cluster(random, leaves, preempts)
        stock = stock_policy(parse_policy("capacity+usage-feedback"))
        self._queues = queues = QueueTree.of(self.cluster, self.workload)
        self._run = Run(self.workload, self.cluster, stock, random.randrange(1 << 30), False, self.leaves)
        self._sight = Sight(self.workload, self.cluster, queues, (), posted)
        self._knobs = SimulatedKnobs(queues, stock.queues)
        self._run.sim.control["look_at_ms"] = 0
        self._run.engine.start(self._run.handle)
        self.nodes = {
            node_id(n): NodeState((node.allowance[MEMORY], node.allowance[VCORES]))
            for n, node in enumerate(self.cluster.nodes)
        }
        self.settings = {f"{PREFIX}.{leaf}.{GUARANTEE}": f"{100 / len(leaves):g}" for leaf in leaves}
        self.truth = Truth()
        for name, state in self.nodes.items():
            self.truth.begin((SIZES, name, ""), state.own)
        for leaf in leaves:
            for key in (AM_SHARE, GUARANTEE, MAXIMUM):
                self.truth.begin((QUEUES, leaf, key), self.setting(leaf, key))
        self._configured: list[tuple[float, Part, Place]] = []  # when a setting was changed, and how it was before
        self.killed: list[str] = []
        self._seen: Snapshot | None = None
        self._known_jobs: set[int] = set()
        self._epoch = 1
        self._numbers: Counter[tuple[int, int, int]] = Counter()  # by epoch, job and attempt: the last container's
        self._container_ids: dict[tuple[int, int], str] = {}  # by task and attempt
        self._there: set[tuple[int, int]] = set()
        self.lives: dict[str, Life] = {}  # by container
        self._ams: dict[int, tuple[int, str]] = {}  # by job: which attempt it is, and its container
        self.am_ids: set[str] = set()  # of all that there ever were

    def look(self) -> Snapshot:
        """The cluster as it is, give or take a tick."""
        at_ms = self._now_ms() // TICK_MS * TICK_MS
        if self._seen is None or at_ms > self._seen.at_ms:
            self._advance(at_ms)
            self._run.engine.report(self._run.handle)
            self._seen = replace(self._sight.snapshot(self._run.handle), at_ms=at_ms)
            self._note_apps(self._seen)
            self._note_containers(self._seen)
        return self._seen

    def _advance(self, at_ms: int) -> None:
        if int(self._run.sim.shown.clock["now_ms"][0]) < at_ms or self._seen is None:
            self._run.sim.control["look_at_ms"] = at_ms
            status = self._run.go_on(int(FOREVER))
            assert status == LOOK, status
            self._run.drain()

    def _note_apps(self, seen: Snapshot) -> None:
        for job in set(seen.columns.apps["app"].tolist()) - self._known_jobs:
            self._known_jobs.add(job)
            name, at_s = app_id(job), seen.at_ms / 1000
            self.truth.begin((PRIORITIES, name, ""), int(self.workload.jobs["priority"][job]), at_s)
            self.truth.begin((LEAVES, name, ""), self.queue_of(job), at_s)
        for name in seen.ended:
            self.truth.forget((PRIORITIES, name, ""))
            self.truth.forget((LEAVES, name, ""))

    def _note_containers(self, seen: Snapshot) -> None:
        """A ResourceManager numbers the containers of an attempt as it gives them out, from 1 again once restarted."""
        held = seen.columns.containers
        now = [*zip(*(held[name].tolist() for name in ("app", "number", "attempt", "is_am", "size")), strict=True)]
        there = {(task, attempt) for _, task, attempt, _, _ in now}
        for gone in self._there - there:
            self.lives[self._container_ids[gone]].gone_ms = seen.at_ms
        self._there = there
        for job, task, attempt, is_am, size in sorted(one for one in now if one[1:3] not in self._container_ids):
            of_app = attempt + 1 if is_am else self._ams[job][0]
            self._numbers[self._epoch, job, of_app] += 1
            number = self._numbers[self._epoch, job, of_app]
            name = f"container_e{self._epoch:02d}_0_{job:04d}_{of_app:02d}_{number:06d}"
            self._container_ids[task, attempt] = name
            self.lives[name] = Life(job, (size[MEMORY], size[VCORES]), seen.at_ms)
            if is_am:
                self._ams[job] = of_app, name
                self.am_ids.add(name)

    # What is told.

    def container_id(self, task: int, attempt: int) -> str:
        return self._container_ids[task, attempt]

    def am_of(self, job: int) -> str:
        """The container of its AM; empty: it has had none."""
        return self._ams.get(job, (0, ""))[1]

    def priority(self, app: str) -> int:
        return int(self._run.sim.shown.job["priority"][app_number(app)])

    def queue_of(self, job: int) -> str:
        return self._queues.names[int(self._run.sim.shown.job["queue"][job])]

    def setting(self, leaf: str, key: str) -> str | None:
        return self.settings.get(f"{PREFIX}.{leaf}.{key}")

    def held_by_queue(self, leaf: str) -> Size:
        if leaf in self.empty_leaves:
            return 0, 0
        rows = self._run.sim.shown.queue["allocated"][self._queues.names.index(leaf)]
        return int(rows[MEMORY]), int(rows[VCORES])

    def ended_at_ms(self, job: int) -> int:
        return int(self._run.sim.job_run["ended_at_ms"][job])

    def has_succeeded(self, job: int) -> bool:
        return bool(self._run.sim.shown.job["state"][job] == JOB_FINISHED)

    def ended_apps(self) -> list[int]:
        """Those that the ResourceManager knows of."""
        ends_ms = {job: self.ended_at_ms(job) for job in range(len(self.workload.jobs))}
        return [job for job, at_ms in ends_ms.items() if at_ms >= 0 and at_ms not in self._lost_at_ms]

    def node(self, name: str) -> NodeSeen | None:
        """As the ResourceManager lists it; None if it does not."""
        seen, state = self.look().nodes[name], self.nodes[name]
        if not state.registered or not seen.alive:
            return None
        frozen = state.frozen
        seen = replace(frozen, total=seen.total, allocated=seen.allocated) if frozen else self._with_figures(seen)
        return replace(seen, state="DECOMMISSIONING", total=seen.allocated) if state.decommissioning else seen

    def _with_figures(self, seen: NodeSeen) -> NodeSeen:
        """Figures of a live machine never stand quite still."""
        used_mb = seen.used_memory_mb + self.look().at_ms // 1000 * 7 % 13
        return replace(seen, used_memory_mb=used_mb, memory_share=used_mb / self.nodes[seen.id].own[MEMORY])

    # What is done to it.

    def start_anew(self) -> None:
        """Its ResourceManager does, or another one takes over."""
        self._epoch += 1

    def lose_applications(self) -> None:
        """Those with an AM are gone, as if nobody had ever heard of them; who waits for one is submitted again."""
        look, job_run = self.look(), self._run.sim.job_run
        jobs = [app_number(name) for name in look.apps]
        job_run["am_losses"][jobs] = self.cluster.physics.am_max_attempts - 1
        at_ms = int(self._run.sim.shown.clock["now_ms"][0]) + 1
        self._lost_at_ms.add(at_ms)
        for name in self.nodes:
            if self.is_alive(name):
                self._run.engine.plan_timer(self._run.handle, at_ms, TIMER_NODE_LOSS, node_number(name))
                self._run.engine.plan_timer(self._run.handle, at_ms + 1, TIMER_NODE_RETURN, node_number(name))
                self._registers(name)
        for job, name in zip(jobs, look.apps, strict=True):
            self.prioritise(name, int(self.workload.jobs["priority"][job]), By.YARN)
            self.move(name, self.workload.queues[int(self.workload.jobs["queue"][job])], By.YARN)

    def add_queue(self, leaf: str, share: int) -> None:
        self.empty_leaves.append(leaf)
        self._begin_queue(leaf)
        self.configure(leaf, GUARANTEE, f"{share}", By.PERSON)

    def remove_queue(self, leaf: str) -> None:
        """With all of its settings. YARN takes those of a queue that is not there; steering must not leave any."""
        self.empty_leaves.remove(leaf)
        for key in (AM_SHARE, GUARANTEE, MAXIMUM):
            self.configure(leaf, key, None, By.PERSON)
        self._begin_queue(leaf)

    def _begin_queue(self, leaf: str) -> None:
        for key in (AM_SHARE, GUARANTEE, MAXIMUM):
            self.truth.begin((QUEUES, leaf, key), None, self._now_ms() / 1000)

    def resize(self, name: str, size: Size, timeout: int, by: By) -> None:
        """As UpdateNodeResource does: a timeout >= 0 sticks, and with one a node that is made too small kills."""
        state, seen = self.nodes[name], self.look().nodes[name]
        state.kills_below = state.kills_below or timeout >= 0
        if by is By.US and state.kills_below and state.told and size != seen.total and _is_below(size, seen.allocated):
            self.killed.append(f"{name} was made {size}, and holds {seen.allocated}")
        now_s, place = self._now_ms() / 1000, self.truth.places[SIZES, name, ""]
        if size != place.now:
            if now_s - state.resized_s >= HEARTBEAT_S:
                state.known = replace(place)
            state.resized_s = now_s
        self._set(Standing(sizes={name: size}))
        self.truth.put((SIZES, name, ""), size, by, now_s)

    def configure(self, leaf: str, key: str, value: str | None, by: By) -> None:
        part, now_s = (QUEUES, leaf, key), self._now_ms() / 1000
        self._configured.append((now_s, part, replace(self.truth.places[part])))
        self._set_setting(leaf, key, value or None)
        self.truth.put(part, value or None, by, now_s)

    def forget_settings_since(self, at_s: float) -> None:
        """A standby takes over whose store lags: queues are as they were then, whoever has changed them since."""
        then = {part: before for since_s, part, before in reversed(self._configured) if since_s > at_s}
        for part, known in then.items():
            _, leaf, key = part
            self._set_setting(leaf, key, known.now)
            self.truth.fall_back(part, known, self._now_ms() / 1000)

    def _set_setting(self, leaf: str, key: str, value: str | None) -> None:
        full = f"{PREFIX}.{leaf}.{key}"
        if value is None:
            self.settings.pop(full, None)
        else:
            self.settings[full] = value
        means = WITHOUT_LIMIT if value is None and key == MAXIMUM else value
        if leaf in self.leaves:
            self._set(Standing(queues={leaf: {key: means}}))

    def prioritise(self, app: str, priority: int, by: By) -> None:
        self._set(Standing(priorities={app: priority}))
        self.truth.put((PRIORITIES, app, ""), priority, by, self._now_ms() / 1000)

    def move(self, app: str, leaf: str, by: By) -> None:
        self._set(Standing(leaves={app: leaf}))
        self.truth.put((LEAVES, app, ""), leaf, by, self._now_ms() / 1000)

    def lose(self, name: str) -> None:
        self._plan(TIMER_NODE_LOSS, name)

    def bring_back(self, name: str) -> None:
        """A NodeManager starts anew: it registers with its own size."""
        self._plan(TIMER_NODE_RETURN, name)
        self._registers(name)

    def resized_unheard(self) -> dict[str, Place]:
        """Nodes whose NodeManagers have not heard of their last size, and what they take for it."""
        now_s = self._now_ms() / 1000
        return {
            name: state.known
            for name, state in self.nodes.items()
            if state.known is not None and now_s - state.resized_s < HEARTBEAT_S
        }

    def register_as_known(self, name: str, known: Place) -> None:
        """A NodeManager that goes on tells a ResourceManager that was restarted what it had heard from the last one."""
        self._set(Standing(sizes={name: known.now}))
        self.nodes[name].resized_s, self.nodes[name].known = -inf, None
        self.truth.fall_back((SIZES, name, ""), known, self._now_ms() / 1000)

    def register_anew(self, name: str) -> None:
        """A NodeManager that goes on with its containers, and tells its own size again."""
        self._set(Standing(sizes={name: self.nodes[name].own}))
        self._registers(name)

    def _registers(self, name: str) -> None:
        state = self.nodes[name]
        state.registered_s = self._now_ms() / 1000
        state.kills_below = state.told = state.decommissioning = False
        self.thaw(name)
        state.registered, state.known = True, None
        self.truth.put((SIZES, name, ""), state.own, By.YARN, self._now_ms() / 1000)

    def decommission(self, name: str) -> None:
        """Gracefully: the ResourceManager gives nothing more out on it, by a size with a timeout of 0."""
        state = self.nodes[name]
        state.decommissioning = state.was_decommissioned = state.kills_below = True

    def recommission(self, name: str) -> None:
        self.nodes[name].decommissioning = False

    def freeze(self, name: str, now_s: float) -> None:
        """Its NodeManager hangs: it stays in the list with its last figures."""
        state = self.nodes[name]
        state.frozen, state.frozen_at_s = self._with_figures(self.look().nodes[name]), now_s

    def thaw(self, name: str) -> None:
        self.nodes[name].frozen, self.nodes[name].froze_until_s = None, self._now_ms() / 1000

    def is_alive(self, name: str) -> bool:
        return self.look().nodes[name].alive

    def _plan(self, kind: int, name: str) -> None:
        self.look()
        at_ms = int(self._run.sim.shown.clock["now_ms"][0]) + 1
        self._run.engine.plan_timer(self._run.handle, at_ms, kind, node_number(name))

    def _set(self, change: Standing) -> None:
        self.look()
        self._knobs.at(self._run.engine, self._run.handle).set(change)
        self._knobs.settle()
        self._knobs.log(0)  # nobody keeps it here
        seen = self.look()
        if change.sizes:
            nodes = seen.columns.nodes.copy()
            for name, size in change.sizes.items():
                nodes["total"][node_number(name)] = size
            self._seen = replace(seen, columns=seen.columns._replace(nodes=nodes))


def _is_below(size: Size, held: Size) -> bool:
    return size[MEMORY] < held[MEMORY] or size[VCORES] < held[VCORES]
