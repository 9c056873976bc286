"""`heddle yarn storm`: the live controller in a simulated world of faults."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Annotated

import typer

from heddle.cli.output import DONE, FAILED, Json, print_json, say

if TYPE_CHECKING:
    from heddle.storm.storm import Outcome


def storm(
    seeds: Annotated[int, typer.Option(min=1, help="Number of storms.")] = 20,
    first: Annotated[int, typer.Option("--first", min=0, help="The first seed.")] = 0,
    choose: Annotated[
        bool, typer.Option("--choose", help="The policy in force changes now and then, as with `steer --choose`.")
    ] = False,
    json: Json = False,
) -> int:
    """Inject seeded faults into the real controller, watchdog and observer as they steer a simulated YARN.

    Nothing real is touched: clock, network, disk and processes are simulated. Every seed is one storm of about 170
    simulated seconds. The first that breaks an invariant is shrunk to few faults, and the command that replays it is
    printed; exit code 1.

    \b
    Examples:
      heddle yarn storm --seeds 200
      heddle yarn storm --first 4711 --seeds 1
    """
    from heddle.storm.faults import Kind
    from heddle.storm.shrink import shrunk
    from heddle.storm.storm import Storm

    steps = changes = 0
    pairs = Counter[tuple[str, str]]()
    for seed in range(first, first + seeds):
        outcome = Storm(seed, chooses=choose).run()
        steps += outcome.steps
        changes += outcome.policy_changes
        pairs.update(combinations(sorted({str(fault.kind) for fault in outcome.faults}), 2))
        if outcome.broken:
            _tell(shrunk(outcome), json)
            return FAILED
    all_pairs = comb(len(Kind), 2)
    told = {
        "seeds": seeds,
        "first": first,
        "steps": steps,
        "pairs_of_faults": len(pairs),
        "pairs_there_are": all_pairs,
        "broken": [],
    }
    if choose:
        told["policy_changes"] = changes
    if json:
        print_json(told)
    else:
        policies = f"{changes} changes of policy, " if choose else ""
        ran = f"{seeds} storms (seeds {first} to {first + seeds - 1}), {steps} steps"
        say(f"{ran}, {policies}{len(pairs)} of the {all_pairs} pairs of kinds of faults: every invariant held")
    return DONE


def _tell(outcome: Outcome, json: bool) -> None:
    again = f"heddle yarn storm --first {outcome.seed} --seeds 1" + " --choose" * outcome.chooses
    if json:
        faults = [vars(fault) for fault in outcome.faults]
        print_json({"seed": outcome.seed, "faults": faults, "broken": outcome.broken, "again": again})
        return
    say(f"seed {outcome.seed} breaks an invariant; minimal set of its faults:")
    for fault in outcome.faults:
        say(f"  {fault}")
    for what in outcome.broken:
        say(what)
    say(f"again: {again}")
