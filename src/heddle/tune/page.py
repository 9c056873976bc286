"""The HTML report of a tuning: the answer, how flat the optimum is, and the comparison on the unseen half."""

from __future__ import annotations

from html import escape
from typing import Final

from heddle.report.charts import Bar, bar_chart, change_axis, figure
from heddle.report.comparison import comparison_html
from heddle.report.page import page
from heddle.report.wording import signed_pct
from heddle.tune.race import PRESENT
from heddle.tune.tuning import Tuned
from heddle.tune.words import flatness, goal_title, kept_sentences, next_commands, searched, stop_at, verdict

_NEAR_SHOWN: Final = 15


def tuning_html(tuned: Tuned, workload: str, command: str) -> str:
    """The text of the report."""
    title = f"Tuning {tuned.space.present} for {workload}"
    lead = _answer(tuned) + _search(tuned)
    if tuned.comparison is None:
        return page(title, f"{lead}<h2>How to reproduce this</h2><pre>{escape(command)}</pre>", 1)
    return comparison_html(tuned.comparison, title=title, lead=f"{lead}<h2>On jobs that the search has not seen</h2>")


def _answer(tuned: Tuned) -> str:
    steps = "".join(f"<li>{escape(what)}<pre>{escape(how)}</pre></li>" for what, how in next_commands(tuned))
    kept = "".join(f"<li>{escape(one)}</li>" for one in kept_sentences(tuned))
    return (
        f'<p class="verdict">{escape(verdict(tuned))}</p>'
        + (f"<h2>What must be kept</h2><ul>{kept}</ul>" if kept else "")
        + (f"<h2>What to do next</h2><ol>{steps}</ol><p>{escape(stop_at(tuned))}</p>" if steps else "")
    )


def _search(tuned: Tuned) -> str:
    refused = "".join(
        f"<tr><th scope='row'>{escape(one.lever)}</th><td>{escape(one.why)}</td></tr>"
        for one in tuned.space.not_searched
    )
    more = (
        "<details><summary>Not searched, because it cannot be acted on here</summary>"
        f"<table><tbody>{refused}</tbody></table></details>"
    )
    return (
        f"<h2>The search</h2><p>{escape(searched(tuned))} {escape(flatness(tuned))}</p>"
        f'<div class="figures">{_near_figure(tuned)}{_steps_figure(tuned)}</div>' + (more if refused else "")
    )


def _near_figure(tuned: Tuned) -> str:
    """How flat the optimum is: what differs from the best in one step."""
    own = tuned.race.change_pct(tuned.best)
    if tuned.best == PRESENT or own is None:
        return ""
    bars = [Bar("the best", 0, own, None, signed_pct(own))]
    bars += [
        Bar(_difference(tuned, one.policy(tuned.space.present)), 1, change, None, signed_pct(change))
        for one, change in tuned.near()[:_NEAR_SHOWN]
    ]
    caption = f"Change of {goal_title(tuned)} in the search; each differs from the best in one lever or one step."
    return _bars("How flat the optimum is", bars, caption)


def _steps_figure(tuned: Tuned) -> str:
    """The best candidates of the search."""
    bars = []
    for one in tuned.race.elites():
        change = tuned.race.change_pct(one)
        if change is not None:
            label = one.policy(tuned.space.present).removeprefix(f"{tuned.space.present}+")
            bars.append(Bar(label, 0, change, None, signed_pct(change)))
    caption = f"Change of {goal_title(tuned)} in the search, where luck helps the best: see below what is left of it."
    return _bars("The best of the search", bars, caption) if bars else ""


def _bars(title: str, bars: list[Bar], caption: str) -> str:
    axis = change_axis(bar.value for bar in bars if bar.value is not None)
    return figure(title, bar_chart(title, axis, bars), caption)


def _difference(tuned: Tuned, policy: str) -> str:
    """What of a neighbour's policy is not the best one's."""
    best = set(tuned.policy.split("+"))
    new = [part for part in policy.split("+") if part not in best]
    return " + ".join(new) if new else f"without {' + '.join(sorted(best - set(policy.split('+'))))}"
