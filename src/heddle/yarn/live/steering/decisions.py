"""One step of a controller as a plain document: what the record keeps, machines are told and the live view shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heddle.model.resources import MEMORY, MILLI, VCORES
from heddle.yarn.live.applying.standing import LEAVES, PRIORITIES, QUEUES, SIZES, TABLE
from heddle.yarn.live.applying.turn import Turn, Verdict
from heddle.yarn.live.controller import Step
from heddle.yarn.live.things_seen import NodeSeen

ACTED = (Verdict.POSTED, Verdict.SHADOW, Verdict.FAILED)
_OF_APPLICATIONS = {LEAVES: "queue", PRIORITIES: "priority"}


def decision_of(step: Step, policy: str, mode: str, at_s: float, tables_between: int = 0) -> dict[str, Any]:
    """Every node is in it; what was decided about one is null where the policy does not size nodes.

    Of queues and applications those that are not where they should be, or were not. `at_s`: by the clock on the wall.
    `tables_between`: how many the bridge was sent since the step before, for requests that had just come.
    """
    decided = {turn.name: turn for turn in step.of(SIZES)}
    knobs = [turn for turn in step.of(QUEUES, LEAVES, PRIORITIES) if turn.verdict in (*ACTED, Verdict.LEFT_ALONE)]
    nodes = [_node(node, decided.pop(node.id, None), step) for node in step.snapshot.nodes.values()]
    nodes += [_absent(turn) for turn in decided.values()]
    return {
        "at": round(at_s, 3),
        "policy": policy,
        "mode": mode,
        "applications": len(step.snapshot.apps),
        "containers": len(step.snapshot.containers),
        "nodes": nodes,
        "in_full_s": None if step.in_full_ms is None else round(step.in_full_ms / 1000, 1),
        "table": _table(step, tables_between),
        "knobs": [{**turn._asdict(), "verdict": str(turn.verdict), "cause": str(turn.cause)} for turn in knobs],
        "observe_ms": round(1000 * step.observe_s, 1),
        "decide_ms": round(1000 * step.decide_s, 1),
        "act_ms": round(1000 * step.act_s, 1),
    }


def changes_in_words(decision: dict[str, Any]) -> list[str]:
    """What was changed, would have been, or could not be, a line each."""
    words = [
        f"{turn['name']}: {turn['verdict']} {_turned(turn)} {turn['problem']}".rstrip()
        for turn in decision["knobs"]
        if turn["verdict"] in ACTED
    ]
    table = decision["table"]
    if table is not None and table["verdict"] == Verdict.FAILED:
        words.append(f"the bridge took no table: {table['problem']}")
    words += [
        f"{node['node']}: {node['verdict']} {_resized(node['before'], node['wanted'])}"
        f" ({node['cause']}); reserved {node['reserved_mb']}, used {node['used_mb']} MB {node['problem']}".rstrip()
        for node in decision["nodes"]
        if node["verdict"] in ACTED
    ]
    return words


def _table(step: Step, between: int) -> dict[str, Any] | None:
    """What the bridge was told; None: nothing."""
    for turn in step.of(TABLE):
        told = {"requests": turn.wanted, "verdict": str(turn.verdict), "problem": turn.problem}
        return told | {"tables_between": between}
    return None


def _turned(turn: dict[str, Any]) -> str:
    """Each setting of a queue that changes, or what changes of an application; ? where it could not be read."""
    before, wanted = turn["before"], turn["wanted"]
    if not isinstance(wanted, dict):
        return f"{_OF_APPLICATIONS[turn['what']]} {before} -> {wanted}"
    known = before or {}
    was = {key: "?" if known.get(key) is None else known[key] for key in wanted}
    return ", ".join(f"{key} {was[key]} -> {value}" for key, value in wanted.items() if was[key] != value)


def _resized(before: Sequence[int], wanted: Sequence[int]) -> str:
    """What changes of a node's MB and thousandths of a vcore."""
    changes = []
    if before[MEMORY] != wanted[MEMORY] or before[VCORES] == wanted[VCORES]:
        changes.append(f"{before[MEMORY]} -> {wanted[MEMORY]} MB")
    if before[VCORES] != wanted[VCORES]:
        changes.append(f"{before[VCORES] / MILLI:g} -> {wanted[VCORES] / MILLI:g} vcores")
    return ", ".join(changes)


def _node(node: NodeSeen, turn: Turn | None, step: Step) -> dict[str, Any]:
    age_ms = step.metrics_age_ms.get(node.id)
    return {
        "node": node.id,
        "reserved_mb": node.allocated[MEMORY],
        "used_mb": node.containers_memory_mb,
        "promised_mb": node.total[MEMORY],
        "metrics_age_s": None if age_ms is None else round(age_ms / 1000, 1),
        **_about(turn),
    }


def _absent(turn: Turn) -> dict[str, Any]:
    unknown = dict.fromkeys(("reserved_mb", "used_mb", "promised_mb", "metrics_age_s"))
    return {"node": turn.name, **unknown, **_about(turn)}


def _about(turn: Turn | None) -> dict[str, Any]:
    if turn is None:
        return {"before": None, "wanted": None, "verdict": None, "cause": None, "problem": ""}
    return {
        "before": turn.before,
        "wanted": turn.wanted,
        "verdict": str(turn.verdict),
        "cause": str(turn.cause),
        "problem": turn.problem,
    }
