"""A check that can be shown to others: jobs, users and queues by pseudonyms that hold within this check."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from heddle.check.jobs import kind_of
from heddle.check.now import Now
from heddle.check.present import Present
from heddle.traces.tools.share import anonymous_queue, pseudonym
from heddle.yarn.observe.outlines import Outline


@dataclass(frozen=True)
class Pseudonyms:
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    def outlines(self, outlines: Sequence[Outline]) -> list[Outline]:
        """Jobs of one kind keep one name, or they would no longer be known to recur."""
        return [
            replace(
                one,
                name=pseudonym(self.salt, "job", kind_of(one.name)),
                user=pseudonym(self.salt, "user", one.user),
                queue=self.queue(one.queue),
                why_failed="",  # it names queues, users and hosts
            )
            for one in outlines
        ]

    def queue(self, name: str) -> str:
        return anonymous_queue(self.salt, name)

    def present(self, present: Present) -> Present:
        queues = tuple(replace(queue, name=self.queue(queue.name)) for queue in present.cluster.queues)
        said = [replace(one, setting=_without_names(one.setting), value="") for one in present.assumed]
        return replace(present, cluster=replace(present.cluster, queues=queues), assumed=tuple(said))

    def now(self, now: Now) -> Now:
        return replace(now, waiting=tuple(replace(one, queue=self.queue(one.queue)) for one in now.waiting))


def _without_names(setting: str) -> str:
    """`yarn.scheduler.capacity.root.secret.acl` names a queue, `node n7:8041` a machine: the rest tells enough."""
    return "a node" if setting.startswith("node ") else setting.rpartition(".")[2] if ".root" in setting else setting
