"""What became better or worse, is new or gone, since an earlier check that was kept as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from heddle.check.findings import Finding
from heddle.model.errors import BadInput
from heddle.model.nested_text import from_json

Change = Literal["new", "worse", "same", "better", "gone"]
MATTERS: Final = 0.1  # a smaller change, as a share, is none


@dataclass(frozen=True)
class Since:
    key: str
    change: Change
    says: str
    before: float | None
    now: float | None


def read_earlier(path: Path) -> list[dict[str, Any]]:
    """The findings of an earlier check; BadInput where the file is none."""
    try:
        document = from_json(path.read_text(encoding="utf-8"))
        found: list[dict[str, Any]] = [
            {"key": str(one["key"]), "value": float(one["value"]), "says": str(one["says"])}
            for one in document["findings"]
        ]
    except OSError as error:
        raise BadInput.of("--since", f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, OverflowError):
        raise BadInput.of("--since", f"{path} is not the output of `heddle check --json`") from None
    return found


def since(found: Sequence[Finding], earlier: Sequence[dict[str, Any]]) -> list[Since]:
    before = {one["key"]: one for one in earlier}
    made = [_change(one, before.get(one.key)) for one in found]
    now = {one.key for one in found}
    return made + [
        Since(key, "gone", str(one["says"]), float(one["value"]), None) for key, one in before.items() if key not in now
    ]


def _change(one: Finding, before: dict[str, Any] | None) -> Since:
    if before is None:
        return Since(one.key, "new", one.says, None, one.value)
    was = float(before["value"])
    far = abs(one.value - was) > MATTERS * max(abs(was), 1e-9)
    change: Change = "same" if not far else "worse" if one.value > was else "better"
    return Since(one.key, change, one.says, was, one.value)
