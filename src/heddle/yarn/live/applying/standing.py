"""Where knobs stand: as they were found, as they are, as they should be. One type for all five knobs.

Names and words are the ResourceManager's: shares of queues and AM shares are settings of capacity-scheduler.xml.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from heddle.yarn.live.things_seen import Size

SIZES, QUEUES, LEAVES, PRIORITIES = "sizes", "queues", "leaves", "priorities"
TABLE: Final = "table"  # of the bridge: no knob, since it goes away by itself and there is nothing to put back
# The order in which they are turned: an application is moved after its queue has room for it, and nodes come last,
# when the queues that share them out are as they should be.
IN_TURN: Final = (QUEUES, LEAVES, PRIORITIES, SIZES)
AM_SHARE: Final = "maximum-am-resource-percent"
GUARANTEE: Final = "capacity"
MAXIMUM: Final = "maximum-capacity"
SHARES: Final = frozenset({GUARANTEE, MAXIMUM})  # YARN takes them only if those of all neighbours fit together

QueueSettings = Mapping[str, str | None]  # setting -> value; None: not set
Part = tuple[str, str, str]  # of a knob: what, as the fields below are called, name and, of a queue, the setting


@dataclass(frozen=True)
class Standing:
    """Of some knobs, where they stand. What is not in it is not spoken of."""

    sizes: Mapping[str, Size] = field(default_factory=dict)  # nodes: MB and millicores
    queues: Mapping[str, QueueSettings] = field(default_factory=dict)
    priorities: Mapping[str, int] = field(default_factory=dict)  # applications; larger goes first
    leaves: Mapping[str, str] = field(default_factory=dict)  # applications -> their queue

    def of(self, what: str) -> Mapping[str, Any]:
        """One of the fields, by its name."""
        values: Mapping[str, Any] = self.__dict__[what]
        return values

    def __or__(self, later: Standing) -> Standing:
        """This, and of everything else what came later: the first find counts."""
        queues = {name: {**later.queues.get(name, {}), **settings} for name, settings in self.queues.items()}
        return Standing(
            {**later.sizes, **self.sizes},
            {**later.queues, **queues},
            {**later.priorities, **self.priorities},
            {**later.leaves, **self.leaves},
        )

    def without(self, parts: Iterable[Part]) -> Standing:
        """This, but for these parts."""
        gone = set(parts)
        queues = {
            name: {key: value for key, value in settings.items() if (QUEUES, name, key) not in gone}
            for name, settings in self.queues.items()
        }
        others = (SIZES, PRIORITIES, LEAVES)
        return Standing(
            queues={name: settings for name, settings in queues.items() if settings},
            **{what: {name: v for name, v in self.of(what).items() if (what, name, "") not in gone} for what in others},
        )

    def only(self, parts: Iterable[Part]) -> Standing:
        """Of this, these parts."""
        kept = set(parts)
        return self.without(part for part in self.every_part() if part not in kept)

    def every_part(self) -> Iterator[Part]:
        return (part for part, _ in self.parts())

    def parts(self) -> Iterator[tuple[Part, Any]]:
        """Every knob with its value; of queues every setting on its own."""
        for what in IN_TURN:
            for name, value in self.of(what).items():
                if what == QUEUES:
                    yield from (((what, name, setting), is_now) for setting, is_now in value.items())
                else:
                    yield (what, name, ""), value

    def names(self) -> list[str]:
        """Of everything in it."""
        return sorted({name for _, name, _ in self.every_part()})

    def __bool__(self) -> bool:
        return bool(self.queues or self.leaves or self.priorities or self.sizes)


def changes_at_once(what: str, values: Mapping[str, Any]) -> Iterator[Standing]:
    """What goes into one request. Shares of all queues into one: they must fit together at every moment. Other settings
    into another, which YARN may take although it refuses shares."""
    if what == QUEUES:
        whole = Standing(queues=values)
        shares = whole.only(part for part in whole.every_part() if part[2] in SHARES)
        yield from (change for change in (shares, whole.without(shares.every_part())) if change)
    else:
        yield from (Standing(**{what: {name: value}}) for name, value in values.items())


def same(what: str, one: Any, other: Any) -> bool:
    """Whether a knob stands in the same place. `one` is what the ResourceManager says, if either is."""
    if one == other:
        return True
    if what == QUEUES and isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same_setting(one[key], other[key]) for key in one)
    if what == QUEUES:
        return _same_setting(one, other)
    if what == LEAVES:  # it may give a queue by the last part of its name
        return bool(one == str(other).rpartition(".")[2])
    return False


def _same_setting(one: str | None, other: str | None) -> bool:
    """Numbers are compared as numbers: 50 and 50.0 are the same."""
    if one is None or other is None:
        return one is other
    try:
        return abs(float(one) - float(other)) <= 1e-6
    except ValueError:
        return one == other
