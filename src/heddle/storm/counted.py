"""Whether levers count what is there: their sums, kept up to date from look to look, against the last look alone."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.snapshot import Snapshot


def wrongly_counted(live: LiveView, seen: Snapshot) -> list[str]:
    """Nodes of which levers believe that containers hold something else than those that were seen there."""
    nodes, held = seen.columns.nodes, seen.columns.containers
    truly = np.zeros((len(seen.names.nodes), held["size"].shape[1]), np.int64)
    np.add.at(truly, held["node"], held["size"])
    gone = np.ones(len(truly), bool)
    gone[nodes["node"][nodes["alive"] != 0]] = False
    truly[gone] = 0
    wrong = []
    for name, row in live.node_row.items():
        believed, is_held = live.view.node["allocated"][row].tolist(), truly[seen.names.nodes.number(name)].tolist()
        if believed != is_held:
            wrong.append(f"levers count {believed} on {name}, where containers of {is_held} were seen")
    return wrong


def wrongly_taken_for_ams(seen: Snapshot, ams: Set[str]) -> list[str]:
    """Containers that count as AMs and are none, or the other way round."""
    held = seen.columns.containers
    named = zip(map(seen.names.containers.name, held["container"].tolist()), held["is_am"].tolist(), strict=True)
    return [f"{name} counts as {'an AM' if is_am else 'a task'}" for name, is_am in named if is_am != (name in ams)]
