"""`heddle certify`: does a policy keep the rules?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from heddle.cli.output import FAILED, Json, print_json, print_line


def certify(
    policy: Annotated[str, typer.Argument(metavar="POLICY|FILE:NAME", help="A policy, or a lever in your own file.")],
    seeds: Annotated[int, typer.Option(min=1, help="Number of random workloads to try.")] = 2,
    json: Json = False,
) -> None:
    """Certify a policy: run it on small workloads, in the simulator and in the live host, and check the rules.

    It must be deterministic, promise no more than its sizing allows, lose no task, not depend on the order of its
    input, and finish what can finish. Keys and totals must read only what they declare, and on_event must report when
    keys change. heddle tries it on small random workloads, and cannot see what these do not trigger. Exit code 1 if it
    breaks a rule.

    \b
    Examples:
      heddle certify capacity+usage-feedback
      heddle certify ./mine.py:my_lever
    """
    from heddle.experiments.conformance import certify as certified
    from heddle.policy.parse import parse_policy
    from heddle.yarn.live.levers import unfit

    failures = certified(policy, seeds)
    only_simulated = unfit(parse_policy(policy))
    if json:
        document = {"policy": policy, "certified": not failures, "failures": [asdict(one) for one in failures]}
        print_json(document | {"not_live_because": only_simulated})
    else:
        print_line(f"{policy}: " + ("certified" if not failures else "not certified"))
        for failure in failures:
            where = failure.where and f"{failure.where}: "
            print_line(f"  {where}{failure.rule} (workload {failure.case}): {failure.what}")
        for why in only_simulated:
            print_line(f"  in the simulator only: {why}")
    if failures:
        raise typer.Exit(FAILED)
