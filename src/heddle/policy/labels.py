"""Where requests may go, as far as labels say. Works compiled and in plain Python."""

from __future__ import annotations

from heddle.model.compilable import callable_too


@callable_too
def may_go_to(view, label, node):
    """Whether requests with this label (0: none) may go to the node."""
    return view.node["label"][node] == label or (label == 0 and view.clock["labels_apart"][0] == 0)
