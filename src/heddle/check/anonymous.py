"""A check that can be shown to others: jobs, users, queues and machines by pseudonyms that hold within this check.

Where somebody else's words may be, in settings and answers, the text is a general one: a list of what may stay is
short, and one of what may not is never complete.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from heddle.check.jobs import kind_of
from heddle.check.now import Now
from heddle.check.present import OF_PREEMPTION, PREEMPTS, SMALLEST_MB, Present
from heddle.model.cluster import Node, Queue
from heddle.traces.build import JobSpec, StageSpec, TaskSpec
from heddle.traces.tools.share import anonymous_queue, pseudonym
from heddle.yarn.observe.outlines import Outline

# Settings that heddle itself asks about, and stages that it names itself.
_OWN_SETTINGS: Final = frozenset(
    {
        SMALLEST_MB, PREEMPTS, OF_PREEMPTION, "hardware of nodes", "ACLs, mappings",
        "resource calculator, assignments per heartbeat", "weights, maxima, AM shares, ACLs, placement rules",
    }
)  # fmt: skip
_OWN_STAGE: Final = re.compile(r"am|(map|reduce|stage)(-\d+)?|containers|priority \d+")
_OTHER_SETTING: Final = "a setting of the cluster"
_TROUBLE: Final = "part of the history: a server or a file could not be read"


@dataclass(frozen=True)
class Pseudonyms:
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    def outlines(self, outlines: Sequence[Outline]) -> list[Outline]:
        """Jobs of one kind keep one name, or they would no longer be known to recur."""
        return [
            replace(
                one,
                name=self._of("job", kind_of(one.name)),
                user=self._of("user", one.user),
                queue=self.queue(one.queue),
                why_failed="",  # it names queues, users and hosts
            )
            for one in outlines
        ]

    def queue(self, name: str) -> str:
        return anonymous_queue(self.salt, name)

    def present(self, present: Present) -> Present:
        cluster = present.cluster
        queues = tuple(self._queue(queue) for queue in cluster.queues)
        nodes = tuple(self._node(node) for node in cluster.nodes)
        said = [replace(one, setting=_without_names(one.setting), value="") for one in present.assumed]
        return replace(present, cluster=replace(cluster, queues=queues, nodes=nodes), assumed=tuple(said))

    def now(self, now: Now) -> Now:
        return replace(now, waiting=tuple(replace(one, queue=self.queue(one.queue)) for one in now.waiting))

    def details(self, jobs: Mapping[str, JobSpec]) -> dict[str, JobSpec]:
        """What the outlines do not tell; their names, queues and users replace those of the details later."""
        return {app: replace(job, stages=[self._stage(stage) for stage in job.stages]) for app, job in jobs.items()}

    def troubles(self, troubles: Sequence[str]) -> list[str]:
        """They hold addresses and what servers answered."""
        return [_TROUBLE] if troubles else []

    def _queue(self, queue: Queue) -> Queue:
        labels = tuple(replace(share, label=self._of("label", share.label)) for share in queue.labels)
        return replace(queue, name=self.queue(queue.name), labels=labels)

    def _node(self, node: Node) -> Node:
        return replace(
            node,
            name=self._of("host", node.name),
            rack=self._of("rack", node.rack),
            label=self._of("label", node.label),
        )

    def _stage(self, stage: StageSpec) -> StageSpec:
        return replace(
            stage,
            name=self._stage_name(stage.name),
            after=tuple(self._stage_name(name) for name in stage.after),
            label=self._of("label", stage.label),
            tasks=[self._task(task) for task in stage.tasks],
        )

    def _task(self, task: TaskSpec) -> TaskSpec:
        return task if task.prefers is None else replace(task, prefers=self._of("host", task.prefers))

    def _stage_name(self, name: str) -> str:
        return name if _OWN_STAGE.fullmatch(name) else self._of("stage", name)

    def _of(self, kind: str, name: str) -> str:
        return pseudonym(self.salt, kind, name) if name else ""


def _without_names(setting: str) -> str:
    return setting if setting in _OWN_SETTINGS else _OTHER_SETTING
