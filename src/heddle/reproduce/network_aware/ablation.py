"""Where the effect comes from - load of the network, nearness, fetch times, binding early: one left out at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Table
from heddle.reproduce.constants import Constants
from heddle.reproduce.lab import Scores

LEFT_OUT = (  # what a row leaves out, the form with it and the form without: names of policies in the constants
    ("the load of the network: nearness only, bound early", "paper", "paper_nearness"),
    ("the load of the network: nearness only, bound late", "late", "late_nearness"),
    ("the paper's ranking: stock's, bound early too", "paper", "stock_early"),
    ("binding early", "paper", "late"),
    ("fetch times: nearness only, bound late", "fetch", "late_nearness"),
)


def ablation(known: Constants, scores: Scores, members: Mapping[str, str], bandwidths: Sequence[int]) -> Table:
    """How much longer the execution takes without each, member by member: the mean over seeds with its interval."""
    rows = []
    for left_out, with_it, without in LEFT_OUT:
        own, other = str(known[f"policy.{with_it}"]), str(known[f"policy.{without}"])
        for member, caption in members.items():
            cells = []
            for mbps in bandwidths:
                pair = [scores.metric((member, mbps), policy, "makespan_s") for policy in (own, other)]
                cells.append(_change_text(verdicts.change_pct(*pair)))
            rows.append((left_out, caption, *cells))
    heads = ("left out", "member", *(f"{mbps} Mbit/s" for mbps in bandwidths))
    return Table("Why: change of the execution time (%) when a part is left out", heads, tuple(rows))


def _change_text(changes: verdicts.Seeds) -> str:
    mean, interval = verdicts.over_seeds({"": changes})
    if mean is None:
        return "-"
    return f"{mean:+.1f}" if interval is None else f"{mean:+.1f} ({interval[0]:+.1f} to {interval[1]:+.1f})"
