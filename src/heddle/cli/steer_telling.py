"""What `heddle yarn steer` says of each step: to people, to machines, and to the record."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from heddle.cli.output import counted, is_quiet, print_json_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heddle.cli.steer_view import SteerView
    from heddle.yarn.live.steering.metrics_page import SteeringMetrics
    from heddle.yarn.live.steering.showing import Showing
    from heddle.yarn.observe.journal import Journal


class Teller:
    """Tells people, machines and the record of every step."""

    def __init__(
        self,
        view: SteerView | None,
        json: bool,
        journal: Journal | None,
        metrics: SteeringMetrics | None,
        showing: Showing,
    ) -> None:
        self._view, self._json, self._journal, self._metrics = view, json, journal, metrics
        self._showing = showing
        self._steps = self._changes = 0
        self._last: list[str] = []  # what the step before this one changed, or would have

    def begin(self, about: str) -> None:
        if self._view is None:  # which has it above all the time
            say(about)

    def end(self) -> None:
        """Of a shadow, which may have said nothing so far."""
        made = counted(self._changes, "change")
        self.say(f"{counted(self._steps, 'step')}; live mode would have made at most {made}")

    def say(self, text: str) -> None:
        self._showing.said(text)
        if self._view is not None:
            self._view.say(text)
        else:
            say(text)

    def in_force(self, policy: str) -> None:
        """From the next step on."""
        self._showing.in_force(policy)
        if self._metrics is not None:
            self._metrics.in_force(policy)

    def tell(self, decision: dict[str, Any] | None, paused: bool) -> None:
        """None: the ResourceManager did not answer."""
        from heddle.yarn.live.steering.decisions import changes_in_words

        if decision is None:
            self._showing.missed(paused)
        else:
            self._showing.stepped(decision, paused)

        if self._metrics is not None:
            if decision is None:
                self._metrics.missed()
            else:
                self._metrics.stepped(decision)
        if decision is None:
            return
        changes = changes_in_words(decision)
        repeated = self._last if decision["mode"] == "shadow" else ()  # nothing acts, so each step decides it again
        news = [change for change in changes if change not in repeated]
        self._last = changes
        self._steps += 1
        self._changes += len(news)
        if self._journal is not None:
            self._journal.add(decision)
            self._journal.flush()
        if self._json:
            print_json_line(decision)
        elif self._view is not None:
            self._view.show(decision, changes)
        else:
            for change in news:
                say(change)


@contextmanager
def telling(
    about: str,
    json: bool,
    journal: Journal | None,
    metrics: SteeringMetrics | None,
    where: tuple[str, int],
    showing: Showing,
) -> Iterator[Teller]:
    """A live view where there is a terminal to draw it on, and the page of metrics where one is wanted."""
    from rich.console import Console

    from heddle.cli.steer_view import SteerView
    from heddle.yarn.live.steering.metrics_page import served

    console = Console(stderr=True)
    with ExitStack() as opened:
        if metrics is not None:
            say(f"metrics at {opened.enter_context(served(metrics, *where))}")
        drawn = console.is_terminal and not json and not is_quiet()
        view = opened.enter_context(SteerView(about, console)) if drawn else None
        yield Teller(view, json, journal, metrics, showing)
