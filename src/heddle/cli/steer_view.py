"""The live view of a controller on a terminal: nodes, what was decided and why, how old the metrics are."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from heddle.model.visible_text import visible

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.live import Live

LAST: Final = 8  # messages and decisions that stay in sight
AROUND: Final = 10  # lines of a screen that are not nodes
FEWEST_NODES: Final = 3
SPANS: Final = (("looked", "observe"), ("decided", "decide"), ("acted", "act"))


class SteerView:
    """Use it in a `with`. Messages go through say(), or they would tear the picture."""

    def __init__(self, about: str, console: Console) -> None:
        from rich.live import Live

        self._about, self._console = about, console
        self._decision: dict[str, Any] | None = None
        self._said: deque[str] = deque(maxlen=LAST)
        self._live: Live = Live(console=console, auto_refresh=False, get_renderable=self.picture)

    def __enter__(self) -> SteerView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        self._said.append(f"{time.strftime('%H:%M:%S')} {text}")
        self._live.refresh()

    def show(self, decision: dict[str, Any], changes: list[str]) -> None:
        self._decision = decision
        self._said.extend(f"{time.strftime('%H:%M:%S')} {change}" for change in changes)
        self._live.refresh()

    def picture(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        parts: list[Any] = [Text(visible(self._about))]
        if self._decision is None:
            parts.append(Text("no answer from the ResourceManager yet"))
        else:
            parts += self._nodes(self._decision)
        parts += [Text(visible(text), overflow="ellipsis", no_wrap=True) for text in self._said]
        return Group(*parts)

    def _nodes(self, decision: dict[str, Any]) -> list[Any]:
        from rich.text import Text

        from heddle.report.fitted_table import fitted_table

        room = max(FEWEST_NODES, self._console.height - AROUND - LAST)
        # Those about which something was decided are what one wants to see.
        nodes = sorted(decision["nodes"], key=lambda node: (node["verdict"] in (None, "unchanged"), node["node"]))
        rows = [
            (
                node["node"], _mb(node["reserved_mb"]), _mb(node["used_mb"]), _mb(node["promised_mb"]),
                "" if node["wanted"] is None else _mb(node["wanted"][0]),
                "" if node["verdict"] is None else f"{node['verdict']} ({node['cause']})",
                "" if node["metrics_age_s"] is None else f"{node['metrics_age_s']:.0f} s",
            )
            for node in nodes[:room]
        ]  # fmt: skip
        headings = ("node", "reserved MB", "used MB", "promised MB", "wanted MB", "decision", "metrics since")
        spans = (f"{word} {decision[f'{part}_ms']:.0f} ms" for word, part in SPANS)
        summary = f"{decision['applications']} applications, {decision['containers']} containers; {', '.join(spans)}"
        if decision["in_full_s"] is not None:
            summary += f"; new containers count in full for {decision['in_full_s']:.0f} s"
        left = len(nodes) - len(rows)
        fitted = fitted_table(headings, rows, "", self._console.width)
        return [Text(summary), fitted, *([Text(f"and {left} more nodes")] if left > 0 else [])]


def _mb(value: int | None) -> str:
    return "" if value is None else str(value)
