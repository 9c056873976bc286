"""What really stands where, and by whose hand: the storm's own books, beside those of the code on trial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from heddle.yarn.live.applying.standing import Part, same


class By(StrEnum):
    YARN = "YARN itself"
    US = "us"
    PERSON = "a person"


@dataclass
class Place:
    """Of one knob. `native`: where it would stand if steering had never been there."""

    now: Any
    native: Any
    by: By = By.YARN
    since_s: float = 0.0
    began_s: float = 0.0  # when the application came into being
    was_native: tuple[Any, ...] = ()
    was_ours: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether something of ours is still in force."""
        return self.by is By.US


class Truth:
    def __init__(self) -> None:
        self.places: dict[Part, Place] = {}

    def begin(self, part: Part, value: Any, now_s: float = 0.0) -> None:
        self.places[part] = Place(value, value, began_s=now_s)

    def put(self, part: Part, value: Any, by: By, now_s: float) -> None:
        place = self.places[part]
        if by is By.US:
            by = By.YARN if same(part[0], value, place.native) and place.by is not By.PERSON else by
            by = By.PERSON if place.by is By.PERSON and same(part[0], value, place.now) else by
            self.places[part] = replace(place, now=value, by=by, since_s=now_s, was_ours=True)
        else:
            was_native = (*place.was_native, place.native)
            self.places[part] = replace(place, now=value, native=value, by=by, since_s=now_s, was_native=was_native)

    def forget(self, part: Part) -> None:
        self.places.pop(part, None)

    def ours(self) -> dict[Part, Place]:
        return {part: place for part, place in self.places.items() if place.is_ours}
