"""Why claims about all jobs did not come out: the same claims for parts of DRESS, and for other readings of it.

Alg. 3 counts in the smallest jobs first; how containers are handed out inside a pool is not said. With the smallest
first, who is passed waits long and who passes gains much; with Capacity's order only the pools are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from heddle.reproduce.claims import Claim, Table
from heddle.reproduce.dress.compared import Mixes, Results
from heddle.reproduce.dress.costs import gains_and_costs
from heddle.reproduce.dress.table_two import table_two
from heddle.reproduce.verdicts import Verdict

MISSED: Final = Verdict.NOT_REPRODUCED
PARTS: Final = ("dress", "partition_alone", "order_alone", "printed", "asked", "whole_jobs")  # names in the constants


def about_all_jobs(given: Mixes, runs: Results, policy: str) -> list[Claim]:
    """What the paper says of Spark jobs in Table II, and of winners and losers on MapReduce."""
    return [*table_two(given, runs, policy), *gains_and_costs(given, runs, policy)]


def by_part(given: Mixes, runs: Results) -> Table:
    found = {given.policy(part): about_all_jobs(given, runs, given.policy(part)) for part in PARTS}
    rows = tuple((claims[0].id, claims[0].paper, *map(_cell, claims)) for claims in zip(*found.values(), strict=True))
    verdicts = {policy: {claim.id: claim.judgement.verdict for claim in claims} for policy, claims in found.items()}
    return Table(
        "Why: claims about all jobs, with parts of DRESS",
        ("claim", "paper", *found),
        rows,
        what_parts_say(given.dress, verdicts),
    )


def what_parts_say(whole: str, verdicts: Mapping[str, Mapping[str, Verdict]]) -> str:
    """Which of the claims that the whole does not bring out a part of it does."""
    missed = [id_ for id_, verdict in verdicts[whole].items() if verdict is MISSED]
    if not missed:
        return "All of these claims came out."
    said = []
    for policy, of in verdicts.items():
        if policy != whole:
            better = [id_ for id_ in missed if of[id_] is not MISSED]
            worse = [id_ for id_, was in verdicts[whole].items() if id_ not in missed and of[id_] is MISSED]
            said.append(f"`{policy}` {_listed(better)}, and loses {_listed(worse)}")
    return f"Not reproduced: {', '.join(missed)}. Of these bring out, at least in direction: {'; '.join(said)}."


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids) or "none"


def _cell(claim: Claim) -> str:
    return claim.verdict if claim.measured is None else f"{claim.measured:.1f}: {claim.verdict}"
