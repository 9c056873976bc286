"""What shells offer behind --policy and as WORKLOAD."""

from __future__ import annotations


def policy_names(incomplete: str) -> list[str]:
    """Presets and levers; behind a + those that could follow."""
    from heddle.policy.presets import LEVERS, PRESETS

    before, plus, last = incomplete.rpartition("+")
    return [f"{before}{plus}{name}" for name in dict.fromkeys([*PRESETS, *LEVERS]) if name.startswith(last)]


def workload_names(incomplete: str) -> list[str]:
    """Built-in workloads; files are completed by the shell itself."""
    from heddle.traces.catalogue import names

    return [name for name in names() if name.startswith(incomplete)]
