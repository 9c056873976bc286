"""When a target has had enough."""

import pytest

from .rounds import LEAST_S, MOST_S, QUIET_S, Had


@pytest.mark.parametrize(
    ("cpu_s", "grew_at_s", "enough"),
    [
        (LEAST_S, 0.0, False),  # a new edge may still come
        (QUIET_S, 0.0, True),
        (QUIET_S, 60.0, False),
        (QUIET_S + 60.0, 60.0, True),
        (MOST_S, MOST_S, True),
    ],
)
def test_enough(cpu_s: float, grew_at_s: float, enough: bool) -> None:
    assert Had(cpu_s, grew_at_s).is_enough is enough


def test_only_a_new_edge_makes_it_go_on() -> None:
    had = Had()
    had.add(100.0, 7, 1000, broke=False)
    had.add(100.0, 7, 1000, broke=True)
    had.add(100.0, 6, 1000, broke=False)  # the corpus was not read to its end
    assert had == Had(cpu_s=300.0, grew_at_s=100.0, edges=7, runs=3000, broke=1)
