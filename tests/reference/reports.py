"""Usage reports on their way from a node to whoever listens: late, by polls, or never."""

from __future__ import annotations

from heddle.model.draw import draw

from . import physics
from .state import Node, Report, World
from .trace import Observation

STREAM_OBSERVATION = 8


class Reports:
    def __init__(self, world: World, observation: Observation) -> None:
        self.world, self.observation = world, observation
        self.on_their_way: list[tuple[int, Report]] = []  # (when it is seen, report), as they were made

    def make(self, node: Node) -> None:
        """The node reports its use now."""
        used = {run: physics.reported_use(self.world, run) for run in self.world.containers(node)}
        report = node.last_made = Report(node, node.reports_made, node.background, used)
        node.reports_made += 1
        lost = draw(self.world.seed, STREAM_OBSERVATION, node.number * 2**32 + report.number) % 10000
        if lost >= self.observation.loss_permyriad:
            self.on_their_way.append((self._seen_at(), report))

    def _seen_at(self) -> int:
        there_at, poll_ms = self.world.now + self.observation.lag_ms, self.observation.poll_ms
        return there_at if poll_ms == 0 else there_at + -there_at % poll_ms

    def seen_now(self) -> list[Report]:
        """The last report of each node that can be seen now, in order of node number."""
        arrived = [report for seen_at, report in self.on_their_way if seen_at <= self.world.now]
        self.on_their_way = [(seen_at, report) for seen_at, report in self.on_their_way if report not in arrived]
        last = {report.node.number: report for report in arrived if report.node.alive}
        return [last[number] for number in sorted(last)]
