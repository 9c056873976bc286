"""The main table of a comparison: every metric on one screen; intervals and bounds on demand."""

from __future__ import annotations

from html import escape
from typing import Any

from heddle.analysis.comparison.compare import COMPARED, Comparison
from heddle.report.figures import slots
from heddle.report.wording import (
    LEAD,
    NO_DIFFERENCE,
    Scale,
    judgement,
    range_pct,
    scales,
    signed_pct,
    stalled,
)


def numbers_table(comparison: Comparison, cluster: str) -> str:
    """A row per policy, a column per metric."""
    scale = scales(comparison, cluster)
    heads = "".join(f'<th scope="col"><button>{escape(metric.title)}</button></th>' for metric in COMPARED)
    body = []
    for policy in slots(comparison):
        cells = "".join(_cell(comparison.row(cluster, policy, one.name), scale[one.name]) for one in COMPARED)
        note = " <small>baseline</small>" if policy == comparison.baseline else ""
        if words := stalled(comparison.row(cluster, policy, LEAD)):
            note += f' <small class="worse">{words}</small>'
        name = escape(policy, quote=True)
        broken = name.replace("+", "+<wbr>").replace("(", "<wbr>(")  # long names break between their parts
        body.append(f'<tr><th scope="row" data-v="{name}">{broken}{note}</th>{cells}</tr>')
    what = "Of the trace itself" if comparison.sampling.kind == "blocks" else "Mean over seeds"
    return (
        '<h2>All numbers</h2><div class="numbers"><label><input type="checkbox"> intervals and bounds</label>'
        '<div class="scroll" tabindex="0" role="region" aria-label="policies and metrics"><table>'
        f'<thead><tr><th scope="col"><button>Policy</button></th>{heads}</tr></thead><tbody>{"".join(body)}</tbody>'
        f"</table></div></div><p><small>{what}; below, the change against the baseline, paired on the seed: (?) means "
        'that no difference is shown, because its 95 % interval includes 0. With "intervals and bounds": ± half of the '
        "95 % interval, the interval of the change, and how far above the bound that no scheduler can beat (of two "
        "figures: one that honours reservations / any at all). Click a heading to sort.</small></p>"
    )


def _cell(row: dict[str, Any], scale: Scale) -> str:
    value = "" if row["mean"] is None else repr(float(row["mean"]))
    text, more = escape(scale.write(row["mean"])), [scale.half_width(row["ci95"])]
    change, interval = row["vs_baseline_pct"], row["vs_ci95"]
    if change is not None:
        says = judgement(row)
        mark = " (?)" if says == NO_DIFFERENCE else ""
        colour = f' class="{says}"' if says in ("better", "worse") else ""
        text += f"<small{colour}>{escape(signed_pct(change) + mark)}</small>"
        more += [range_pct(interval) if interval is not None else "", says]
    if above := row.get("above_bound_pct"):
        figures = dict.fromkeys(signed_pct(one).removeprefix("+") for one in above.values())
        more.append(f"{' / '.join(figures)} above bound")
    return (
        f'<td data-v="{value}">{text}'
        + "".join(f'<small class="more">{escape(one)}</small>' for one in more if one)
        + "</td>"
    )
