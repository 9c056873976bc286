"""What the Capacity scheduler guarantees its queues, and their maxima: percent of the parent, weights, or amounts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
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
            parts = _read_parts(reader, queues, {path: text for path, text in texts.items() if path not in amounts})
            if amounts:
                _mix_in(reader, queues, amounts, parts, have.get(parent))
            for path in children:
                if parent in have and path not in have:
                    permille = queues[path].guarantee_permille
                    have[path] = queues[path].guarantee or tuple(one * permille // 1000 for one in have[parent])
        for path in children:
            _read_maximum(reader, queues, path)
    for name in ("root.capacity", "root.maximum-capacity"):
        if reader.own.get(name) in ("100", "100.0", "-1"):
            reader.taken.add(name)


def _read_parts(
    reader: CapacityProperties, queues: dict[str, Queue], texts: Mapping[str, str | None]
) -> dict[str, Fraction]:
    """Of siblings without amounts: shares, and weights of what shares leave, which become shares. All, as fractions."""
    weights = {path: Fraction(found[1]) for path, text in texts.items() if text and (found := _WEIGHT.fullmatch(text))}
    parts: dict[str, Fraction] = {}
    for path in (path for path in texts if path not in weights):
        name = f"{path}.capacity"
        if (permille := reader.number(name, lambda value: round(10 * value), 0, 100)) is not None:
            queues[path] = replace(queues[path], guarantee_permille=permille)
            parts[path] = Fraction(reader.own[name]) / 100
            note_rounding(reader, name, permille)
        elif texts[path] is None:
            reader.problems.add("missing: what does this queue have of its parent?", field=PREFIX + name)
    left = max(Fraction(0), 1 - sum(parts.values()))
    for path, weight in weights.items():
        name = f"{path}.capacity"
        reader.taken.add(name)
        parts[path] = weight / sum(weights.values()) * left
        queues[path] = replace(
            queues[path], guarantee_permille=round(1000 * parts[path]), weight_milli=milli(float(weight))
        )
        taken = f"a weight among its siblings: imported as {100 * float(parts[path]):.1f} %"
        reader.left.add(PREFIX + name, reader.own[name], taken)
    return parts


def _mix_in(
    reader: CapacityProperties,
    queues: dict[str, Queue],
    amounts: Mapping[str, tuple[int, ...]],
    parts: Mapping[str, Fraction],
    parent_has: tuple[int, ...] | None,
) -> None:
    """Amounts beside shares or weights: as YARN has it, amounts come first, shares are of the rest, weights of what
    shares leave. All become amounts."""
    if parent_has is None:
        for path in amounts:
            why = "an amount beside shares, under a parent of unknown size: set its share by hand"
            reader.left.add(f"{PREFIX}{path}.capacity", reader.own[f"{path}.capacity"], why, matters=True)
        return
    rest = tuple(max(0, has - sum(one[r] for one in amounts.values() if one)) for r, has in enumerate(parent_has))
    of_rest = {path: tuple(int(one * part) for one in rest) for path, part in parts.items()}
    for path, amount in {**of_rest, **amounts}.items():
        queues[path] = replace(queues[path], guarantee=amount or tuple(0 for _ in rest), guarantee_permille=1000)


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
        reader.left.add(PREFIX + name, text, "must name both memory and vcores", matters=True)
        return ()
    memory, vcores = _MEMORY.fullmatch(found.pop("memory")), found.pop("vcores")
    if not text.endswith("]") or memory is None or not vcores.isdigit():
        what = (
            f"{text!r} is not like [memory=10240,vcores=12]; percent and weights of single resources are not modelled"
        )
        reader.problems.add(what, field=PREFIX + name)
        return ()
    for other in found:
        reader.left.add(PREFIX + name, text, f"{other} is not counted: memory and vcores are taken")
    return int(memory[1]) * _BYTES[memory[2]] // 2**20, MILLI * int(vcores)


def note_rounding(reader: CapacityProperties, name: str, permille: int) -> None:
    value = float(reader.own[name])
    if value >= 0 and abs(value - permille / 10) > 1e-9:
        reader.left.add(PREFIX + name, reader.own[name], f"shares have one decimal: imported as {permille / 10:g} %")
