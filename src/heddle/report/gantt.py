"""The lives of the most delayed jobs, one bar each: when they waited, for what, and when they ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Final

from heddle.analysis.comparison.compare import Comparison, cluster_of
from heddle.analysis.waiting.explain import NOT_REACHED, Explained, Span
from heddle.model.reasons import Reason
from heddle.report.charts import WIDTH, Axis, coordinate, shortened, svg, tick_text
from heddle.report.wording import time_scale, write_s

_LEFT: Final = 14
_ROW: Final = 32
_SEEN: Final = 0.3  # narrower pieces cannot be seen
_COLOURS: Final = 7  # of waits: colour 0 of the queues' row is that of running
_CLASSES: Final = {"runs": "run", "starts": "start", "fetches": "run part"}  # of spans that are no waits


def delayed_figure(comparison: Comparison, cluster: str, policy: str) -> str:
    """The most delayed jobs of the policy's first run that kept reasons; empty where none did."""
    for run in comparison.runs:
        if run.policy == policy and cluster_of(run.metrics) == cluster and run.delayed:
            title = f"The most delayed jobs: {policy}"
            reasons = reason_colours(run.delayed)
            caption = (
                "Each bar is a job from submission to end; the colour shows what it waited for, a fainter "
                f"one that part of it was running. The {len(run.delayed)} jobs furthest beyond their time alone; "
                f"seed {run.seed}."
            )
            key = f'<p class="key">{key_of(run.delayed, reasons)}</p>'
            chart = lives_chart(title, run.delayed, reasons)
            return f"<figure><h3>{escape(title)}</h3>{key}{chart}<figcaption>{escape(caption)}</figcaption></figure>"
    return ""


def lives_chart(title: str, lives: Sequence[Explained], reasons: dict[Reason, int]) -> str:
    """One bar per job over the time of the run; `reasons` numbers the colours."""
    first = min(life.submit_at_ms for life in lives)
    last = max(life.end_ms for life in lives)
    divisor, unit = time_scale((last - first) / 1000)
    axis = Axis(f"time since the first submission shown ({unit})", 0.0, (last - first) / 1000 / divisor or 1.0)
    scale = (WIDTH - 2 * _LEFT) / max(1, last - first)
    floor = _ROW * len(lives) + 6
    parts = []
    for tick in axis.ticks():
        at = coordinate(_LEFT + tick * divisor * 1000 * scale)
        parts.append(f'<path class="grid" d="M{at} 2V{floor}"/>')
        parts.append(f'<text class="tick" x="{at}" y="{floor + 16}" text-anchor="middle">{tick_text(tick)}</text>')
    for row, life in enumerate(lives):
        top = _ROW * row + 4
        left = _LEFT + (life.submit_at_ms - first) * scale
        alone = f"{write_s(life.taken_ms / 1000)}, alone {write_s(life.alone_ms / 1000)}"
        label = f'{escape(shortened(life.name, 26))} <tspan class="note">{escape(alone)}</tspan>'
        parts.append(f'<text class="name" x="{_LEFT}" y="{top + 11}">{label}</text>')
        pieces = []
        for span in life.spans:
            width = span.length_ms * scale
            if width < _SEEN:
                continue
            at = coordinate(left + (span.from_ms - life.submit_at_ms) * scale)
            words = escape(f"{span.cause}: {write_s(span.length_ms / 1000)}")
            pieces.append(
                f'<rect class="{_css(span, reasons)}" x="{at}" y="{top + 15}" width="{coordinate(width)}" height="10">'
                f"<title>{words}</title></rect>"
            )
        parts.append(f'<g class="life">{"".join(pieces)}</g>')
    label = f'<text class="label" x="{WIDTH - _LEFT}" y="{floor + 34}" text-anchor="end">{escape(axis.label)}</text>'
    return svg(title, floor + 40, [*parts, label])


def reason_colours(lives: Sequence[Explained]) -> dict[Reason, int]:
    """A colour for each reason, the one that took most time first; what comes late shares the last colour."""
    total: Counter[Reason] = Counter()
    for life in lives:
        for span in life.spans:
            if span.state not in _CLASSES:
                total[span.reason] += span.length_ms
    return {reason: min(place, _COLOURS - 1) for place, (reason, _) in enumerate(total.most_common())}


def _css(span: Span, reasons: dict[Reason, int]) -> str:
    if span.state in _CLASSES:
        return _CLASSES[span.state]
    colour = f"q{reasons[span.reason] + 1}"
    return f"{colour} part" if span.state == "partly waits" else colour


def key_of(lives: Sequence[Explained], reasons: dict[Reason, int]) -> str:
    """What the colours of a chart mean."""

    def entry(css: str, words: str) -> str:
        return f'<span class="{css}"><i></i>{escape(words)}</span>'

    waits = []
    for reason, colour in reasons.items():
        after = any(span.state == "comes after" and span.reason is reason for life in lives for span in life.spans)
        nothing = "waits for other jobs" if after else NOT_REACHED
        waits.append(entry(f"q{colour + 1}", reason.phrase if reason is not Reason.NONE else nothing))
    fetches = any(span.state == "fetches" for life in lives for span in life.spans)
    fetching = [entry("run part", "fetches its input")] if fetches else []
    return "".join([*waits, entry("start", "launches, AM starts"), *fetching, entry("run", "runs")])
