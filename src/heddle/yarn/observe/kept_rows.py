"""Lines of JSON that heddle has kept, as the dataclasses that they were made of.

Fields that a later version has added are left out, and those that an earlier one did not have take their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import repeat
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

from heddle.model.errors import BadInput
from heddle.yarn.live.rm_answers import MOST

Row = TypeVar("Row")
_WORDS: Final = {str: "a text", int: "a whole number", bool: "true or false"}


class Unfit(ValueError):
    """What a field holds is not what it is for."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}" if field else what)
        self.field, self.what = field, what


def each_line(lines: Iterable[Mapping[str, Any]], where: str, take: Callable[[Mapping[str, Any]], None]) -> None:
    """BadInput names the line and the field that `take` finds unfit."""
    for number, line in enumerate(lines, 1):
        try:
            take(line)
        except Unfit as error:
            raise BadInput.of(where, error.what, row=number, field=error.field or None) from None


def row_of(kind: Callable[..., Row], value: Any, field: str = "") -> Row:
    """A dataclass from the object that its fields were written as; or Unfit."""
    if not isinstance(value, Mapping):
        raise Unfit(field, f"must be an object, not {value!r:.80}")
    given: dict[str, Any] = {}
    for name, hint, is_needed in _fields(kind):
        if name in value:
            given[name] = _fitted(hint, value[name], f"{field}.{name}" if field else name)
        elif is_needed:
            raise Unfit(f"{field}.{name}" if field else name, "is missing")
    return kind(**given)


@cache
def _fields(kind: Any) -> list[tuple[str, Any, bool]]:
    """Name, type, and whether a line must have it."""
    assert is_dataclass(kind)
    hints = get_type_hints(kind, include_extras=True)
    return [(one.name, hints[one.name], one.default is MISSING) for one in fields(kind)]


def _fitted(hint: Any, value: Any, field: str) -> Any:
    inside = get_args(hint)
    kind = hint if isinstance(hint, type) and not inside else get_origin(hint)
    if kind is UnionType:
        return None if value is None else _fitted(inside[0], value, field)
    if kind is Annotated:
        return _whole(value, inside[1], field)
    if kind is tuple:
        return tuple(_each(inside, value, field))
    if kind is dict:
        if not isinstance(value, Mapping):
            raise Unfit(field, f"must be an object, not {value!r:.80}")
        return {str(name): _fitted(inside[1], one, f"{field}.{name}") for name, one in value.items()}
    if is_dataclass(kind):
        return row_of(kind, value, field)
    if kind is int:
        return _whole(value, MOST, field)
    if not isinstance(value, kind):
        raise Unfit(field, f"must be {_WORDS[kind]}, not {value!r:.80}")
    return value


def _whole(value: Any, most: int, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unfit(field, f"must be {_WORDS[int]}, not {value!r:.80}")
    if abs(value) > most:
        raise Unfit(field, "is beyond all bounds")
    return value


def _each(kinds: tuple[Any, ...], value: Any, field: str) -> Iterator[Any]:
    if not isinstance(value, (list, tuple)):
        raise Unfit(field, f"must be a list, not {value!r:.80}")
    if kinds[-1] is not Ellipsis and len(value) != len(kinds):
        raise Unfit(field, f"must have {len(kinds)} members, not {len(value)}")
    for place, (kind, one) in enumerate(zip(repeat(kinds[0]) if kinds[-1] is Ellipsis else kinds, value, strict=False)):
        yield _fitted(kind, one, f"{field}[{place}]")
