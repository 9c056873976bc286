"""What really stands where, and by whose hand: the storm's own books, beside those of the code on trial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from typing import Any, Final

from heddle.yarn.live.applying.ownership import FOREIGN_LOOKS
from heddle.yarn.live.applying.standing import QUEUES, Part, same

BELIEVED_S: Final = FOREIGN_LOOKS * 1.0  # so long something must stand before steering, a look a second, believes it


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
    was_ours: bool = False  # since the last baseline was begun
    is_seen: bool = True  # by a program of ours, since it stands there
    # What a person set and we overwrote before we could see it: YARN has no compare-and-set. What was there before
    # counts then; theirs may stand in the end, too.
    unseen: tuple[Any, ...] = ()
    is_touched: bool = False  # by a person, ever
    reset_s: float = -inf  # when YARN itself last put it there: a NodeManager that registers anew has its own size
    asked: frozenset[Any] = frozenset()  # where we ever had it
    back_s: float = -inf  # when we last put it back
    taken_s: float = inf  # since when it is a person's, who took it from where we had it

    @property
    def native_as_told(self) -> Any:
        """What we go by: not what a person set and nobody has seen."""
        return self.was_native[-1] if self.by is By.PERSON and not self.is_seen else self.native

    def not_believed(self, now_s: float) -> tuple[Any, ...]:
        """Where it was before YARN reset it a moment ago: nobody can have believed that yet."""
        return self.was_native[-1:] if now_s - self.reset_s < BELIEVED_S else ()

    @property
    def found(self) -> tuple[Any, ...]:
        """Where somebody who looked may have found it, as not of our doing."""
        return (self.native, *self.was_native, *self.unseen)

    def was_found_as(self, what: str, value: Any) -> bool:
        return any(same(what, value, one) for one in self.found)

    def was_asked_for(self, what: str, value: Any) -> bool:
        """By us: if a person chooses that, too, nobody can tell whose it is."""
        return any(same(what, value, one) for one in self.asked)

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
            if place.by is By.PERSON and same(part[0], value, place.now):
                self.places[part] = replace(place, taken_s=inf)  # what they set is what we ask for
                return
            if place.by is By.PERSON and not place.is_seen:
                place = replace(place, native=place.native_as_told, unseen=(*place.unseen, place.now))
            place = replace(place, unseen=(*place.unseen, *place.not_believed(now_s)))
            if any(same(part[0], value, right) for right in (place.native, *place.unseen)):
                by, place = By.YARN, replace(place, back_s=now_s)
            asked = place.asked | {value}
            self.places[part] = replace(place, now=value, by=by, since_s=now_s, was_ours=True, asked=asked, taken_s=inf)
        elif by is By.PERSON and not place.is_ours and same(part[0], value, place.now):
            return  # nothing has changed
        elif by is By.PERSON and place.is_ours and same(part[0], value, place.native):
            # Back to where it was found: that cannot be told from a change of ours that was lost.
            self.places[part] = replace(place, now=value, by=By.YARN, since_s=now_s, is_touched=True)
        elif by is By.PERSON and place.is_ours and place.was_asked_for(part[0], value):  # nor can this
            unseen = (*place.unseen, value)
            self.places[part] = replace(place, now=value, since_s=now_s, is_touched=True, unseen=unseen)
        else:
            if by is By.PERSON and (place.was_asked_for(part[0], value) or place.was_found_as(part[0], value)):
                place = replace(place, unseen=place.found)
            was_native = (*place.was_native, place.native)
            is_taken = by is By.PERSON and place.is_ours
            taken_s = now_s if is_taken else place.taken_s if by is place.by else inf
            place = replace(place, now=value, native=value, by=by, since_s=now_s, was_native=was_native)
            reset_s = now_s if by is By.YARN else -inf
            is_touched = place.is_touched or by is By.PERSON
            self.places[part] = replace(
                place, is_seen=by is not By.PERSON, is_touched=is_touched, reset_s=reset_s, taken_s=taken_s
            )

    def fall_back(self, part: Part, known: Place, now_s: float) -> None:
        """To where it stood earlier: whoever knows of the last changes is gone."""
        lost = self.places[part]
        # A person's change that is lost so: whoever has seen it may make it again.
        unseen = (*known.unseen, lost.now) if lost.by is By.PERSON else known.unseen
        place = replace(
            known, since_s=now_s, was_ours=lost.was_ours, is_touched=lost.is_touched, unseen=unseen, back_s=lost.back_s
        )
        # Put back since, and forgotten: nobody can know whose it is. Of sizes it is remembered until NodeManagers know.
        if part[0] == QUEUES and known.is_ours and known.since_s < lost.back_s:
            place = replace(place, by=By.YARN, unseen=(*unseen, known.now), is_touched=True)
        self.places[part] = place

    def show(self, what: str) -> None:
        """One of our programs sees where these knobs stand."""
        for (kind, _, _), place in self.places.items():
            if kind == what:
                place.is_seen = True

    def forget_ours(self) -> None:
        """All of it was put back. Who begins now has turned nothing yet."""
        for place in self.places.values():
            place.was_ours = False

    def forget(self, part: Part) -> None:
        self.places.pop(part, None)

    def ours(self) -> dict[Part, Place]:
        """But for what a person may just as well have put where we had it once: that may stand."""
        return {
            part: place
            for part, place in self.places.items()
            if place.is_ours and not any(same(part[0], place.now, one) for one in place.unseen)
        }
