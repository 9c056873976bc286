"""`--choose`: its options, which `heddle simulate` and `heddle yarn steer` share, and the table of what was chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.completion import policy_names
from heddle.cli.durations import seconds
from heddle.cli.output import say, table
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from rich.table import Table

    from heddle.model.cluster import Cluster
    from heddle.model.workload import Workload
    from heddle.policy.policy import Policy
    from heddle.twin.choosing import Rule

Choose = Annotated[
    bool,
    typer.Option("--choose", help="Look ahead at intervals and switch to the policy that does best (docs/twin.md)."),
]
Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate",
        help="With --choose: a candidate beside the present policy; repeatable [default: the usual ones].",
        autocompletion=policy_names,
    ),
]
Every = Annotated[str | None, typer.Option(help="With --choose: how often, as 30s or 2m [default: 30s].")]
Horizon = Annotated[str | None, typer.Option(help="With --choose: how far to look ahead [default: 5m].")]


def rule_of(
    choose: bool, executor: str | None, candidates: Sequence[str] | None, every: str | None, horizon: str | None
) -> Rule | None:
    """None: nothing is chosen."""
    if not choose:
        refuse_without_choose({"--candidate": candidates, "--every": every, "--horizon": horizon})
        return None
    if executor not in (None, "yarn-knobs"):
        raise BadInput.of("--executor", f"{executor} cannot change its policy during a run; --choose needs yarn-knobs")
    from heddle.twin.choosing import Rule

    usual = Rule()
    return Rule(
        every_ms=told_ms(every, "--every", "30s or 2m", usual.every_ms),
        horizon_ms=told_ms(horizon, "--horizon", "5m or 1h", usual.horizon_ms),
    )


def told_policies(
    present: Policy, candidates: Sequence[str] | None, workload: Workload, cluster: Cluster
) -> list[Policy]:
    """What is chosen among; of usual ones that are not possible here, why."""
    from heddle.twin.choosing import policies_to_choose

    policies, refused = policies_to_choose(present, candidates, workload, cluster)
    tell_refused(refused, say)
    return policies


def refuse_without_choose(given: Mapping[str, object]) -> None:
    """Options that say how to choose, where nothing is chosen."""
    if alone := [option for option, value in given.items() if value]:
        raise BadInput.of(alone[0], "only applies with --choose")


def told_ms(text: str | None, option: str, examples: str, usual_ms: int) -> int:
    return usual_ms if text is None else round(1000 * seconds(text, option, examples))


def tell_refused(refused: Mapping[str, str], say: Callable[[str], None]) -> None:
    for name, why in refused.items():
        say(f"{name} is not a candidate: {why}")


def choices_table(choices: Sequence[dict[str, Any]]) -> Table:
    """The changes, and what was thought and came of them."""
    rows = [
        (_s(one["at_ms"]), one["in_force"], one["chosen"], f"{one['prospects'][0]['present']:.1f}",
         f"{one['predicted']:.1f}", f"{one['came']:.1f}")
        for one in choices
        if one["chosen"] != one["in_force"]
    ]  # fmt: skip
    looked = sum(bool(one["prospects"]) for one in choices)
    headings = ("at", "from", "to", "applications there, if not", "predicted", "came")
    return table(headings, rows, title=f"changes of policy ({looked} cycles looked ahead)")


def _s(ms: float) -> str:
    from heddle.report.wording import write_s

    return write_s(ms / 1000)
