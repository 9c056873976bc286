"""What the Capacity scheduler guarantees its queues, and their maxima: percent of the parent, weights, or amounts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from heddle.model.cluster import Queue
from heddle.model.resources import MILLI
from heddle.traces.cluster_import.capacity_properties import PREFIX, CapacityProperties, milli

_WEIGHT: Final = re.compile(r"(\d+(?:\.\d+)?)w")
_MEMORY: Final = re.compile(r"(\d+)(|[MGT]i?)")  # an amount of memory and YARN's unit; without one, MB
_BYTES: Final = {"": 2**20, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "M": 10**6, "G": 10**9, "T": 10**12}


def read_shares(reader: CapacityProperties, queues: dict[str, Queue], totals: Sequence[int] | None) -> None:
    """Guarantees: shares in percent of the parent, weights among siblings, or amounts."""
    have = {"root": tuple(totals[:2])} if totals is not None else {}  # what each is guaranteed, where that is known
    for parent in list(queues):
        children = [path for path in queues if path.rpartition(".")[0] == parent]
        texts = {path: reader.own.get(f"{path}.capacity") for path in children}
        amounts = {
            path: _amounts(reader, f"{path}.capacity", text)
            for path, text in texts.items()
            if text is not None and text.startswith("[")
        }
        if amounts and len(amounts) == len(children):
            for path, amount in amounts.items():
                queues[path] = replace(queues[path], guarantee=amount)
                have[path] = amount
        else:
            _read_parts(reader, queues, {path: text for path, text in texts.items() if path not in amounts})
            if amounts:
                _mix_in(reader, queues, amounts, children, have.get(parent))
            for path in children:
                if parent in have and path not in have:
                    permille = queues[path].guarantee_permille
                    have[path] = queues[path].guarantee or tuple(one * permille // 1000 for one in have[parent])
        for path in children:
            _read_maximum(reader, queues, path)
    for name in ("root.capacity", "root.maximum-capacity"):
        if reader.own.get(name) in ("100", "100.0", "-1"):
            reader.taken.add(name)


def _read_parts(reader: CapacityProperties, queues: dict[str, Queue], texts: Mapping[str, str | None]) -> None:
    """Of siblings without amounts: shares, and weights, which become shares."""
    weights = {path: float(found[1]) for path, text in texts.items() if text and (found := _WEIGHT.fullmatch(text))}
    for path, text in texts.items():
        name = f"{path}.capacity"
        if path in weights:
            reader.taken.add(name)
            share = weights[path] / sum(weights.values())
            queues[path] = replace(
                queues[path], guarantee_permille=round(1000 * share), weight_milli=milli(weights[path])
            )
            reader.left.add(PREFIX + name, text, f"a weight among its siblings: taken as {100 * share:.1f} %")
        elif (permille := reader.number(name, lambda value: round(10 * value), 0, 100)) is not None:
            queues[path] = replace(queues[path], guarantee_permille=permille)
            note_rounding(reader, name, permille)
        elif text is None:
            reader.problems.add("missing: what does this queue have of its parent?", field=PREFIX + name)


def _mix_in(
    reader: CapacityProperties,
    queues: dict[str, Queue],
    amounts: Mapping[str, tuple[int, ...]],
    children: Sequence[str],
    parent_has: tuple[int, ...] | None,
) -> None:
    """Amounts beside shares or weights: as YARN has it, amounts come first, shares are of the rest, weights of what
    shares leave. All become amounts."""
    if parent_has is None:
        for path in amounts:
            why = "an amount beside shares, of a parent of unknown size: say its share by hand"
            reader.left.add(f"{PREFIX}{path}.capacity", reader.own[f"{path}.capacity"], why, matters=True)
        return
    rest = tuple(max(0, has - sum(one[r] for one in amounts.values() if one)) for r, has in enumerate(parent_has))
    weighed = {path for path in children if _WEIGHT.fullmatch(reader.own.get(f"{path}.capacity", ""))}
    shared = sum(queues[path].guarantee_permille for path in children if path not in amounts and path not in weighed)
    for path in children:
        of_rest = 1000 if path not in weighed else max(0, 1000 - shared)
        part = tuple(one * of_rest * queues[path].guarantee_permille // 10**6 for one in rest)
        queues[path] = replace(queues[path], guarantee=amounts.get(path, part) or part, guarantee_permille=1000)


def _read_maximum(reader: CapacityProperties, queues: dict[str, Queue], path: str) -> None:
    name = f"{path}.maximum-capacity"
    if (text := reader.own.get(name, "")).startswith("["):
        queues[path] = replace(queues[path], maximum=_amounts(reader, name, text))
        return
    permille = reader.number(name, lambda value: round(10 * value) if value >= 0 else 1000, -1, 100)
    if permille is not None:
        queues[path] = replace(queues[path], maximum_permille=permille)
        note_rounding(reader, name, permille)


def _amounts(reader: CapacityProperties, name: str, text: str) -> tuple[int, ...]:
    """`[memory=10240,vcores=12]` or `[memory=10Gi,vcores=12]`, in MB and millicores."""
    reader.taken.add(name)
    found = {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text[1:-1].split(","))}
    if not {"memory", "vcores"} <= found.keys():
        reader.left.add(PREFIX + name, text, "names not both of memory and vcores", matters=True)
        return ()
    memory, vcores = _MEMORY.fullmatch(found.pop("memory")), found.pop("vcores")
    if not text.endswith("]") or memory is None or not vcores.isdigit():
        reader.problems.add(f"{text!r} is not like [memory=10240,vcores=12]", field=PREFIX + name)
        return ()
    for other in found:
        reader.left.add(PREFIX + name, text, f"{other} is not counted: memory and vcores are taken")
    return int(memory[1]) * _BYTES[memory[2]] // 2**20, MILLI * int(vcores)


def note_rounding(reader: CapacityProperties, name: str, permille: int) -> None:
    value = float(reader.own[name])
    if value >= 0 and abs(value - permille / 10) > 1e-9:
        reader.left.add(PREFIX + name, reader.own[name], f"shares have one decimal: taken as {permille / 10:g} %")
