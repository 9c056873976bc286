"""`--choose` of `heddle yarn steer`: its further options, and what the loop of steps needs of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.choosing import refuse_without_choose, tell_refused, told_ms

if TYPE_CHECKING:
    from heddle.policy.policy import Policy
    from heddle.twin.choosing import Rule
    from heddle.twin.live_choice import LiveChoice
    from heddle.twin.shadow_time import ShadowTime
    from heddle.yarn.live.client import RmClient
    from heddle.yarn.live.controller import Step
    from heddle.yarn.live.steering.desk import Desk
    from heddle.yarn.live.steering.session import Session

ChooseEvery = Annotated[str | None, typer.Option(help="With --choose: how often, as 30s or 2m [default: 30s].")]
Rest = Annotated[str | None, typer.Option(help="With --choose: the least time between two changes [default: 5m].")]
JournalFolder = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="FOLDER",
        help="With --choose: of `heddle yarn observe`, to begin with what it saw [default: nothing is known yet].",
    ),
]
Yes = Annotated[
    bool, typer.Option("--yes", help="With --choose: go live without an hour in shadow mode on this cluster.")
]


@dataclass(frozen=True)
class Wanted:
    """What the options say. `candidates`: None: the usual ones; `journal`: None: a passing one."""

    rule: Rule
    candidates: Sequence[str] | None
    journal: Path | None
    yes: bool


def wanted(
    choose: bool,
    candidates: list[str] | None,
    every: str | None,
    horizon: str | None,
    rest: str | None,
    journal: Path | None,
    yes: bool,
) -> Wanted | None:
    """None: nothing is chosen."""
    if not choose:
        given = {
            "--candidate": candidates, "--choose-every": every, "--horizon": horizon, "--rest": rest,
            "--journal": journal, "--yes": yes,
        }  # fmt: skip
        refuse_without_choose(given)
        return None
    from heddle.twin.choosing import Rule

    usual = Rule()
    rule = Rule(
        every_ms=told_ms(every, "--choose-every", "30s or 2m", usual.every_ms),
        horizon_ms=told_ms(horizon, "--horizon", "5m or 1h", usual.horizon_ms),
        rest_ms=told_ms(rest, "--rest", "5m or 1h", usual.rest_ms),
    )
    return Wanted(rule, candidates, journal, yes)


def told_candidates(client: RmClient, present: str, wanted: Wanted, say: Callable[[str], None]) -> list[Policy]:
    """The present policy first; of usual ones that are not possible here, why."""
    from heddle.twin.live_candidates import live_candidates

    policies, refused = live_candidates(client, present, wanted.candidates)
    tell_refused(refused, say)
    return policies


class BesideSession:
    """Beside a session: after each step, which policy is to act; and what the record is to keep of it."""

    def __init__(self, choice: LiveChoice, shadow: ShadowTime | None) -> None:
        self._choice, self._shadow = choice, shadow
        self.in_force = 0
        self._entry: dict[str, Any] = {"choice": None, "outcomes": []}

    def after(self, step: Step | None, session: Session) -> bool:
        """Whether another policy is in force from now on."""
        told = self._choice.after(step, session.found, session.paused)
        if told.choice is not None:
            self._entry["choice"] = told.choice.as_json()
        self._entry["outcomes"] += [outcome.as_json() for outcome in told.outcomes]
        if self._shadow is not None and told.looked_ms:
            self._shadow.add(told.looked_ms / 1000)
        if told.in_force == self.in_force:
            return False
        self.in_force = told.in_force
        session.put_in_force(told.in_force)
        return True

    def taken(self) -> dict[str, Any]:
        """What has come since it was last taken."""
        entry, self._entry = self._entry, {"choice": None, "outcomes": []}
        return entry


@contextmanager
def choosing_beside(
    wanted: Wanted | None,
    policies: Sequence[Policy],
    rm: str,
    user: str | None,
    calls_per_s: int,
    young_ms: int,
    desk: Desk,
    shadow: bool,
    say: Callable[[str], None],
) -> Iterator[BesideSession | None]:
    """With the process that looks ahead; None: nothing is chosen."""
    if wanted is None:
        yield None
        return
    from heddle.twin.ahead import AheadProcess, Assignment
    from heddle.twin.choosing import Choosing
    from heddle.twin.live_choice import LiveChoice
    from heddle.twin.rollouts import Candidate
    from heddle.twin.shadow_time import ShadowTime
    from heddle.yarn.live.controller import Settings

    names = [policy.name for policy in policies]
    alone = policies[0].queues.name  # YARN without anybody outside: what acts in shadow mode
    time_in_shadow = ShadowTime(desk, say)
    if not shadow and not wanted.yes:
        time_in_shadow.must_be_enough()
    with ExitStack() as opened:
        folder = wanted.journal or Path(opened.enter_context(TemporaryDirectory()))
        given = Assignment(rm, user, calls_per_s, folder, tuple(names), young_ms, Settings.report_ms, wanted.rule)
        ahead = opened.enter_context(AheadProcess(given))
        choosing = Choosing([Candidate(policy.name, policy, "yarn-knobs") for policy in policies], wanted.rule)
        choice = LiveChoice(choosing, ahead, desk.world.clock, say, (lambda _: alone) if shadow else lambda name: name)
        yield BesideSession(choice, time_in_shadow if shadow else None)
