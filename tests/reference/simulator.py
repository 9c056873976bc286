"""The clock and its phases: one instant after another, each phase by phase as the page lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from heddle.model.cluster import Cluster
from heddle.model.draw import STREAM_NODE_HEARTBEAT, STREAM_USAGE_REPORT, draw
from heddle.model.reasons import Outcome
from heddle.model.resources import MEMORY
from heddle.model.workload import AM, EXECUTORS, INNER, Workload

from . import physics
from .admissions import make_admission
from .bridge import Bridge, has_use_for_bridge, tabled_ordering
from .early_stages import EarlyStages
from .every_ordering import make_ordering
from .every_placement import make_placement
from .jobs import Lives, StalledRunError
from .knobs import Knobs, PostedSize, stock
from .loading import load
from .network import Network
from .offers import Offers
from .partitions import make_partition
from .preemption import Preemption
from .promises import Promises
from .queues import make_queues
from .reports import Reports
from .sizings import Sizing, make_sizing
from .state import Job, Node, Run
from .trace import EXACT, Observation, Policy, Running, Trace

HOUR_MS = 3_600_000


def simulate(
    workload: Workload,
    cluster: Cluster,
    policy: Policy,
    seed: int,
    until_ms: int | None = None,
    running: Mapping[int, Running] | None = None,
    observation: Observation = EXACT,
    executor: str = "native",
) -> Trace:
    """Run to the end, or through the instant `until_ms` (then: stalled, reason "until").

    `running`: the tasks that have containers when the run begins.
    """
    if executor != "native":  # sizes are as posted, and AM limits to the MB
        cluster = replace(cluster, increment=(1,) * len(cluster.resources))
    by_bridge = executor == "bridge" and has_use_for_bridge(policy)
    simulator = Simulator(
        workload, cluster, policy, seed, observation, by_knobs=executor != "native", by_bridge=by_bridge
    )
    if running:
        simulator.lives.begin_with(running)
        simulator.wakes.add(0)
    outcome, reason = "finished", ""
    try:
        simulator.run(until_ms)
    except StalledRunError as stalled:
        outcome, reason = "stalled", str(stalled)
    world = simulator.world
    return Trace(outcome, reason, world.attempts, [(job.outcome, job.ended_at) for job in world.jobs])


class Simulator:
    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        policy: Policy,
        seed: int,
        observation: Observation,
        *,
        by_knobs: bool,
        by_bridge: bool,
    ) -> None:
        if make_queues(*policy.queues).counts_all:
            cluster = replace(cluster, calculator="dominant")
        if make_ordering(*policy.ordering).by_memory:
            cluster = replace(cluster, calculator="memory")
        queues = make_queues(*(stock(policy, by_bridge=by_bridge) if by_knobs else policy).queues)
        self.world = load(workload, cluster, seed, counts_partitions=queues.counts_partitions)
        self.reports = Reports(self.world, observation)
        self.knobs: Knobs | None = None
        self.sizing: Sizing
        if by_knobs:
            sizes = PostedSize()
            self.sizing, self.promises = sizes, Promises(self.world, sizes)
            given = self.world, policy, sizes, self.promises, observation
            if by_bridge:
                tabled = tabled_ordering(policy, cluster, observation)
                self.knobs = Bridge(*given, tabled)
            else:
                self.knobs = Knobs(*given)
            policy, listener = stock(policy, by_bridge=by_bridge), self.knobs.sizing
        else:
            self.sizing = listener = make_sizing(*policy.sizing)
            self.promises = Promises(self.world, self.sizing)
        partition = make_partition(*policy.partition)
        ordering = tabled if by_bridge else make_ordering(*policy.ordering)
        self.network = Network(self.world)
        placement = make_placement(*policy.placement)
        self.lives = Lives(self.world, self.sizing, partition, ordering, placement, self.network)
        self.offers = Offers(
            self.world,
            self.lives,
            make_admission(*policy.admission, partition),
            self.sizing,
            partition,
            ordering,
            placement,
            queues,
        )
        self.preemption = Preemption(self.world, self.offers)
        self.early_stages = EarlyStages(self.world, self.lives, queues, partition)
        self.heartbeat_ms = cluster.timing.node_heartbeat_ms
        self.tells_of_ends = cluster.timing.heartbeat_at_end and self.heartbeat_ms > 0
        # Nobody listens to reports that the sizing lever does not read: they are no event.
        self.report_ms = cluster.timing.usage_report_ms if listener.reads_reports else 0
        self.quiet_since = 0
        self.wakes = self.lives.wakes

    # The clock

    def run(self, until_ms: int | None) -> None:
        last = -1
        while not all(job.ended for job in self.world.jobs):
            event, tick, look = self._next_event(), self._next_tick(last + 1), self._next_look()
            report = self._next_report(last + 1)
            times = [at for at in (event, tick, look, report) if at is not None]
            if not times or (event is None and look is None and min(times) > self.quiet_since + HOUR_MS):
                raise StalledRunError(self._stall_reason())
            if until_ms is not None and min(times) > until_ms:
                raise StalledRunError("until")
            self.world.now = last = min(times)
            allocations = self.world.allocations
            self._instant(for_sure=last in (event, tick))
            if event == last or self.world.allocations > allocations:
                self.quiet_since = last

    def _next_event(self) -> int | None:
        """When something other than a heartbeat, a report or a round of preemption happens next."""
        world = self.world
        times = [at for run in world.runs if (at := self._due(run)) is not None]
        times += [at for node in world.nodes if (at := self._node_event(node)) is not None]
        times += [max(job.submit_at_ms, world.now) for job in world.jobs if self._can_arrive(job)]
        times += [at for task in world.tasks for at in (task.ask_at, task.back_at) if at is not None]
        times += [at for stage in world.stages for at in stage.look_at]
        times += self.wakes
        times += [at for at in [self.network.next_event()] if at is not None]
        return min(times, default=None)

    def _next_look(self) -> int | None:
        return min((at for job in self.world.jobs for at in job.look_at | job.alarms), default=None)

    def _next_tick(self, at: int) -> int | None:
        """The next round of preemption or, of a node that is alive, heartbeat, at or after an instant."""
        every_ms = self.preemption.every_ms
        rounds = (every_ms, self.lives.partition.every_ms, self.offers.admission.every_ms)
        ticks = [max(every, at + -at % every) for every in rounds if every > 0]
        ticks += self._turns(at, self.heartbeat_ms, STREAM_NODE_HEARTBEAT)
        ticks += [at] if self.tells_of_ends and self.world.untold else []
        ticks += [self.knobs.next_at(at)] if self.knobs else []
        return min(ticks, default=None)

    def _next_report(self, at: int) -> int | None:
        """When a report is next made or on time to be seen."""
        times = self._turns(at, self.report_ms, STREAM_USAGE_REPORT)
        times += [] if self.knobs else [seen_at for seen_at, _ in self.reports.on_their_way]
        return min(times, default=None)

    def _turns(self, at: int, interval: int, stream: int) -> list[int]:
        """The next of each node that is alive."""
        alive = [node.number for node in self.world.nodes if node.alive and interval > 0]
        return [at + (draw(self.world.seed, stream, number) % interval - at) % interval for number in alive]

    def _ticks_now(self, node: Node, interval: int, stream: int) -> bool:
        phase = draw(self.world.seed, stream, node.number) % interval if interval > 0 else 0
        return interval > 0 and node.alive and self.world.now % interval == phase

    def _due(self, run: Run) -> int | None:
        """When something is due on a container or inner task."""
        if not run.started:
            return run.starts_at
        if run.kind == AM:
            return run.ready_at
        if run.kind == EXECUTORS:
            timeout_ms = run.task.stage.idle_timeout_ms
            return None if timeout_ms == 0 or run.idle_since is None else run.idle_since + timeout_ms
        return run.due

    def _node_event(self, node: Node) -> int | None:
        times = [level.from_at_ms for level in node.spec.background if level.from_at_ms > self.world.now]
        times += [at for at in (node.loss_at, node.return_at, node.leaves_at) if at is not None]
        return min(times, default=None)

    @staticmethod
    def _can_arrive(job: Job) -> bool:
        return not job.arrived and all(before.ended for before in job.after)

    # One instant

    def _instant(self, *, for_sure: bool) -> None:
        """`for_sure`: else only looks and reports are due, and it takes place if a look does anything or a report is
        seen."""
        self._phases(first=True, for_sure=for_sure)
        while not all(job.ended for job in self.world.jobs) and self._has_more_now():
            self._phases(first=False, for_sure=True)
        for run in self.world.runs:
            run.memory_before = physics.use(self.world, run)[MEMORY]

    def _has_more_now(self) -> bool:
        event = self._next_event()
        return event is not None and event <= self.world.now

    def _phases(self, *, first: bool, for_sure: bool) -> None:
        """One round of the phases. Heartbeats and reports belong to the first round of an instant."""
        self.world.late = not first
        happened = [self._containers(), self._nodes(), first and self._reports(), self._arrivals()]
        self.world.late = True
        happened += [self._asks(), first and self.early_stages.looks()]
        if not for_sure and not any(happened):
            return
        promised = self.world.total_sum, dict(self.world.total_of)
        self.promises.renew()
        happened.append(first and self._preemption_between_queues())
        happened.append(first and self._tick_of_levers())
        happened.append(first and self.knobs is not None and self.knobs.now())
        if promised != (self.world.total_sum, self.world.total_of):
            self.world.changed()
        happened.append(any(at <= self.world.now for at in self.wakes))
        self.wakes.difference_update([at for at in self.wakes if at <= self.world.now])
        if self.heartbeat_ms > 0:
            if first:
                self._heartbeats()
        elif any(happened):
            self.offers.ideal_pass()
        if self._memory_check() and self.heartbeat_ms == 0:
            self.wakes.add(self.world.now + 1)
        for node in self.world.nodes:
            physics.set_rates(self.world, node)
        self.network.renew()

    def _containers(self) -> bool:
        happened = self.network.end_flows()
        while due := [run for run in self.world.runs if self._is_due(run)]:
            self._handle(min(due, key=lambda run: run.task.number))
            happened = True
        self._memory_check()
        return happened

    def _is_due(self, run: Run) -> bool:
        at = self._due(run)
        return at is not None and at <= self.world.now

    def _handle(self, run: Run) -> None:
        if not run.started:
            self.lives.start(run)
        elif run.kind == AM:
            self.lives.am_ready(run)
        elif run.kind == EXECUTORS:
            self.lives.release_idle(run)
        elif run.fetching:
            self.lives.fetched(run)
        else:
            physics.bring_forward(run, self.world.now)
            if run.fail_at_us is not None and run.work_us >= run.fail_at_us:
                self.lives.fail(run, Outcome.FAILED)
            elif run.work_us >= physics.total_work_us(run.task):
                self.lives.finish(run)
            else:
                self.lives.check_limit(run)
                physics.set_due(run, self.world.now)

    def _memory_check(self) -> bool:
        """Whether anything crashed."""
        happened = False
        for node in self.world.nodes:
            if self._is_oversold(node):
                happened = True
                self.lives.crash(physics.crash_victims(self.world, node))
            while self._is_oversold(node):
                running = [run for run in self.world.containers(node) if run.started]
                self.lives.crash([max(running, key=lambda run: run.newness)])
        return happened

    def _is_oversold(self, node: Node) -> bool:
        """More memory is used than there is, and something runs that could crash."""
        running = any(run.started for run in self.world.containers(node))
        return running and physics.node_memory(self.world, node) > node.spec.capacity[MEMORY]

    def _nodes(self) -> bool:
        world, faults = self.world, self.world.cluster.faults
        happened = False
        for node in world.nodes:
            if node.return_at == world.now:
                node.lost, node.return_at, happened = False, None, True
                if self.knobs:
                    self.knobs.sizes.posted.pop(node, None)
                node.loss_at = world.now + world.fault_span_ms(node, faults.node_mtbf_s, repair=False)
            if node.loss_at == world.now:
                node.return_at = world.now + world.fault_span_ms(node, faults.node_repair_s, repair=True)
                node.lost, node.loss_at, node.reserved_for, happened = True, None, None, True
                node.faults += 1
                self.lives.lose_node(node)
                self.sizing.on_loss(node)
            if node.leaves_at == world.now:
                node.leaving, node.leaves_at, node.reserved_for, happened = True, None, None, True
            background = world.background_level(node, world.now)
            if node.background != background:
                node.background, happened = background, True
        self._memory_check()
        return happened

    def _reports(self) -> bool:
        """Whether one was seen."""
        for node in self.world.nodes:
            if self._ticks_now(node, self.report_ms, STREAM_USAGE_REPORT):
                self.reports.make(node)
        seen = [] if self.knobs else self.reports.seen_now()  # outside YARN they are seen at ticks
        for report in seen:
            node = report.node
            stands_for = report.number - (node.report.number if node.report else -1)
            node.report, node.reported_background = report, report.background
            for run, used in report.of_container.items():
                run.reported = used
            for _ in range(stands_for):
                node.reports += 1
                self.sizing.on_report(self.world, node)
        return bool(seen)

    def _arrivals(self) -> bool:
        happened = False
        # A job that fails here because one before it failed may be what another one waits for.
        while arriving := [j for j in self.world.jobs if self._can_arrive(j) and j.submit_at_ms <= self.world.now]:
            self.lives.arrive(arriving[0])
            happened = True
        return happened

    def _asks(self) -> bool:
        looked = self._looks()
        back = [task for task in self.world.tasks if task.back_at is not None and task.back_at <= self.world.now]
        for task in back:
            task.back_at = None
        due = [task for task in self.world.tasks if task.ask_at is not None and task.ask_at <= self.world.now]
        for task in due:
            self.lives.make_visible(task)
        jobs = {task.job for task in due if task.stage.kind == INNER}
        for job in sorted(jobs, key=lambda job: job.number):
            self.lives.place_inner(job)
        return self._looks() or looked or bool(due) or bool(back)

    def _looks(self) -> bool:
        """AMs look at how many executors they may ask for."""
        looks = [stage for stage in self.world.stages if any(at <= self.world.now for at in stage.look_at)]
        for stage in looks:
            stage.look_at = {at for at in stage.look_at if at > self.world.now}
            if stage.job.begun and not stage.job.ended:
                self.lives.ask_executors(stage.job)
        return bool(looks)

    def _preemption_between_queues(self) -> bool:
        every_ms = self.preemption.every_ms
        if every_ms == 0 or self.world.now == 0 or self.world.now % every_ms:
            return False
        victims = self.preemption.round()
        self.lives.preempt(victims)
        return bool(victims)

    def _tick_of_levers(self) -> bool:
        """Levers that ask for it hear that time has passed, as long as requests wait."""
        now, changed = self.world.now, False
        for lever in (self.offers.admission, self.lives.partition):
            if lever.every_ms and now and now % lever.every_ms == 0 and self.world.anything_waits():
                changed |= lever.on_tick(self.world)
        return changed

    def _heartbeats(self) -> None:
        telling = {n for n in self.world.untold if self.tells_of_ends and self.world.nodes[n].alive}
        self.world.untold.clear()
        for node in self.world.nodes:
            if node.number in telling or self._ticks_now(node, self.heartbeat_ms, STREAM_NODE_HEARTBEAT):
                self.offers.heartbeat(node)

    # Ends

    def _stall_reason(self) -> str:
        containers = self.world.containers()
        waiting = [task for task in self.world.tasks if task.asked and task.stage.kind != INNER]
        if not waiting:
            return "nothing-asked"
        if containers and all(run.kind == AM for run in containers):
            return "am-deadlock"
        return "no-room"
