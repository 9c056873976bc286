"""The tree of queues, in a cluster file: nested mappings under `queues`, shares in percent of the parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heddle.model.cluster import LEAF_ORDERS, LabelShare, Queue
from heddle.traces.cluster_yaml.keys import Keys, one_of, scaled, truth
from heddle.traces.cluster_yaml.nodes import read_vector, show_vector
from heddle.traces.cluster_yaml.settings import unscaled

PERMILLE = scaled(10, low=0, high=1000)
_PLAIN = Queue("")

# key of the file, attribute of the model, scale, converter
_NUMBERS = (
    ("share_percent", "guarantee_permille", 10, PERMILLE),
    ("maximum_percent", "maximum_permille", 10, PERMILLE),
    ("weight", "weight_milli", 1000, scaled(1000, low=1, high=10**9)),
    ("am_share_percent", "am_share_permille", 10, PERMILLE),
    ("user_limit_percent", "user_limit_percent", 1, scaled(low=1, high=100)),
    ("user_limit_factor", "user_limit_factor_milli", 1000, scaled(1000, low=0, high=10**9)),
    ("max_running_jobs", "max_running_jobs", 1, scaled(high=10**9)),
)

# key of the file, attribute of the model
_AMOUNTS = (("share", "guarantee"), ("maximum", "maximum"), ("min_share", "min_share"))


def read_queues(top: Keys, resources: Sequence[str]) -> tuple[Queue, ...]:
    """Root first, parents before children. `root:` itself may carry settings of its own."""
    root = top.below("root")
    queues = [_read_queue(root, "root", resources)]
    if queues[0].guarantee or queues[0].maximum:
        root.report("", "has all that the nodes promise: neither `share` nor `maximum` can be an amount")
    if queues[0].labels:
        root.report("labels", "has all that nodes with a label promise: only queues below it have a share")
    root.done()
    _read_children(top, "root", resources, queues)
    return tuple(queues)


def _read_children(parent: Keys, parent_name: str, resources: Sequence[str], queues: list[Queue]) -> None:
    children = parent.below("queues")
    for child in children.data:
        keys = children.below(child)
        name = f"{parent_name}.{child}"
        if not isinstance(child, str) or not child or "." in child or " " in child:
            keys.report("", "the name of a queue is text without dots or blanks; children go under `queues`")
        queues.append(_read_queue(keys, name, resources))
        _read_children(keys, name, resources, queues)
        keys.done()
    siblings = [queue for queue in queues if queue.name.rpartition(".")[0] == parent_name]
    if len({bool(queue.guarantee) for queue in siblings}) > 1:
        parent.report(
            "queues", "some have `share`, an amount, and some a share of the parent; YARN takes one or the other"
        )


def _read_queue(keys: Keys, name: str, resources: Sequence[str]) -> Queue:
    numbers = {
        attribute: keys.take(key, convert, getattr(_PLAIN, attribute)) for key, attribute, _, convert in _NUMBERS
    }
    share, maximum, min_share = (_read_amounts(keys, key, resources) for key, _ in _AMOUNTS)
    for key, instead in (("share", "share_percent"), ("maximum", "maximum_percent")):
        if keys.has(key) and keys.has(instead):
            keys.report(key, f"beside {instead}: a queue has an amount or a share")
    order = keys.take("order", one_of(LEAF_ORDERS), _PLAIN.order)
    stopped = keys.take("stopped", truth, _PLAIN.stopped)
    labels = _read_labels(keys)
    return Queue(
        name,
        guarantee=share,
        maximum=maximum,
        min_share=min_share,
        order=order,
        stopped=stopped,
        labels=labels,
        **numbers,
    )


def _read_labels(keys: Keys) -> tuple[LabelShare, ...]:
    """Shares of the nodes with a label: a mapping from labels."""
    labels, found = keys.below("labels"), []
    for label in labels.data:
        of_label = labels.below(label)
        if not isinstance(label, str) or not label:
            of_label.report("", "a label is text (put it in quotes)")
        guarantee, maximum = (
            of_label.take("share_percent", PERMILLE, 0),
            of_label.take("maximum_percent", PERMILLE, 1000),
        )
        of_label.done()
        found.append(LabelShare(str(label), guarantee, maximum))
    return tuple(found)


def _read_amounts(keys: Keys, key: str, resources: Sequence[str]) -> tuple[int, ...]:
    below = keys.below(key)
    amounts = read_vector(below, resources, (0,) * len(resources))
    below.done()
    return amounts if keys.has(key) else ()


def show_root(queues: Sequence[Queue], resources: Sequence[str]) -> dict[str, Any]:
    return _show_queue(queues[0], resources)


def show_queues(queues: Sequence[Queue], resources: Sequence[str], parent: str = "root") -> dict[str, Any]:
    """The children of the parent, each with its own below it."""
    tree: dict[str, Any] = {}
    for queue in queues:
        above, _, own = queue.name.rpartition(".")
        if above == parent:
            shown = _show_queue(queue, resources)
            if children := show_queues(queues, resources, queue.name):
                shown["queues"] = children
            tree[own] = shown
    return tree


def _show_queue(queue: Queue, resources: Sequence[str]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        key: unscaled(getattr(queue, attribute), scale)
        for key, attribute, scale, _ in _NUMBERS
        if getattr(queue, attribute) != getattr(_PLAIN, attribute)
    }
    for key, attribute in _AMOUNTS:
        if amounts := getattr(queue, attribute):
            shown[key] = show_vector(amounts, resources)
    if queue.order:
        shown["order"] = queue.order
    if queue.stopped:
        shown["stopped"] = True
    if queue.labels:
        shown["labels"] = {share.label: _show_label(share) for share in queue.labels}
    return shown


def _show_label(share: LabelShare) -> dict[str, Any]:
    shown: dict[str, Any] = {"share_percent": unscaled(share.guarantee_permille, 10)}
    if share.maximum_permille != LabelShare("").maximum_permille:
        shown["maximum_percent"] = unscaled(share.maximum_permille, 10)
    return shown
