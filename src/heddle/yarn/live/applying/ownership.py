"""Whose a knob is: the one rule for what a person or another program changed, for all five knobs.

A knob is ours to turn while it stands where it was found or where we may have put it. The ResourceManager acts after
it has answered, may have acted although no answer came, and may show what was: where we last asked for it to be and
where it stood then count as ours, a few times back, and since a change was accepted up to TRIES times. (A NodeManager
or ResourceManager that starts anew has what was found.) Anything else is strange: the knob is not turned until as many
looks in a row show it in its place again, since one that does may be stale. After FOREIGN_LOOKS strange looks it is
somebody else's from then on: not turned any more, and what they chose takes the place of what was found. So a change
of ours that came true only after theirs, or behind a stale answer, is put back to what they chose. Each setting of a
queue counts for itself, but for guarantees: they add up, so whoever changes one has chosen its neighbours', too.

Nor does an answer show that a knob is back, since it may be older than our last change: only if putting it back was the
last thing that we asked for does it confirm that (`is_confirmed`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Set
from typing import Any, Final

from heddle.yarn.live.applying.standing import GUARANTEE, LEAVES, PRIORITIES, Part, Standing, same
from heddle.yarn.live.applying.turn import Turn

FOREIGN_LOOKS: Final = 3  # so often a knob must be seen in a strange place before we believe it, or that it has left it
TRIES: Final = 20
_STILL_OURS: Final = 8  # of the last tries, once one was accepted: the RM acts after it has answered
_LONG_AGO: Final = 32  # before those, of which the disk need not know: so old an answer may be that is shown to us
_UNKNOWN: Final = object()
_NOTHING: Final = Standing()


class Ownership:
    """Remembers how knobs were found, where we asked them to be, and which are somebody else's.

    Whoever puts back what another process has changed goes by what that one had on disk: `found` and `asked`.
    """

    def __init__(
        self,
        found: Standing | None = None,
        asked: Mapping[Part, tuple[Any, ...]] | None = None,
        kill_below: Iterable[str] = (),
    ) -> None:
        self.found = found or Standing()  # and is to be put back
        self.turned: set[Part] = set(self.found.every_part())  # asked for at least once
        self.asked: dict[Part, tuple[Any, ...]] = dict(asked or {})
        # Whose baseline, of an earlier version, does not tell where we put them: ours wherever they stand.
        self.anywhere: set[Part] = set(self.found.every_part()) if asked is None else set()
        # Nodes that were seen being decommissioned. YARN does that with an overcommit timeout of 0, which sticks: from
        # then on it kills what does not fit whenever such a node is made smaller, whatever timeout comes with it.
        self.kill_below = frozenset(kill_below)
        self._long_ago: dict[Part, deque[Any]] = {}  # asked for earlier than `asked` tells
        self._looks: dict[Part, int] = {}  # in which a knob stood in a strange place
        self._calm: dict[Part, int] = {}  # looks since then, in a row, in which such a knob was in its place
        self.theirs: set[Part] = set()  # what is somebody else's

    def find(self, now: Standing) -> None:
        """Takes in how knobs are found, where that is not known and they are not somebody else's."""
        if any(self._is_new(part) for part, _ in now.parts()):
            self.found = self.found | now.without(self.theirs)

    def is_new(self, turn: Turn) -> bool:
        """Whether it turns something of which is not known how it was found."""
        return any(self._is_new(part) for part, _, _ in turn.parts())

    def _is_new(self, part: Part) -> bool:
        """What was asked for was found before."""
        return part not in self.asked and not self._places(part) and part not in self.theirs

    def owe(self, left: Ownership, owed: Standing) -> None:
        """Takes in what an earlier controller had found and asked for: stale answers may show it for a while, and are
        not to be taken for what was there before us. `owed`: what nobody could put back yet."""
        self.found = self.found | left.found
        self.turned |= set(owed.every_part())
        self.asked |= {part: left.asked[part] for part, _ in left.found.parts() if part in left.asked}
        self.kill_below |= left.kill_below
        self.anywhere |= left.anywhere & set(owed.every_part())

    def asking(self, turn: Turn) -> None:
        """A change that is under way."""
        for part, before, value in turn.parts():
            self.turned.add(part)
            self.anywhere.discard(part)
            asked = self.asked.get(part, (before,))
            if asked[-1] == before and value not in asked and 1 < len(asked) <= TRIES:  # as it nearly always is
                self.asked[part] = (*asked, value)
                continue
            accepted, *tried = asked
            earlier = [place for place in tried if place not in (before, value)]
            self.asked[part] = (accepted, *earlier[-TRIES:], before, value)

    def accepted(self, turn: Turn) -> None:
        """A change that the ResourceManager says it has made."""
        for part, _, value in turn.parts():
            asked = self.asked[part]
            lately = max(1, len(asked) - _STILL_OURS)
            if lately > 1:
                self._long_ago.setdefault(part, deque(maxlen=_LONG_AGO)).extend(asked[1:lately])
            self.asked[part] = (value, *asked[lately:])

    def was_put_back(self, done: Standing) -> None:
        """The ResourceManager was asked for these as they were found, or confirmed them, and shows them so."""
        for part, value in done.parts():
            if asked := self.asked.get(part):
                self.asked[part] = (value, *asked[max(1, len(asked) - _STILL_OURS) :], value)

    def is_confirmed(self, part: Part, value: Any) -> bool:
        """Whether an answer that shows this value can be believed: we never asked for any other, or for this one last.

        Where somebody else chose it, that counts as asked for."""
        asked = self.asked.get(part)
        return not asked or same(part[0], value, asked[-1])

    def forget_ended(self, apps: Iterable[str]) -> None:
        """Applications that have ended need nothing put back, and no id comes twice."""
        gone = {(what, app, "") for app in apps for what in (LEAVES, PRIORITIES) if app in self.found.of(what)}
        if not gone:
            return
        self.found = self.found.without(gone)
        self.asked = {part: places for part, places in self.asked.items() if part not in gone}
        for parts in (self.turned, self.anywhere, self.theirs):
            parts -= gone
        for part in gone & self._looks.keys():
            self._forget(part)
        for part in gone & self._long_ago.keys():
            del self._long_ago[part]

    def look(self, now: Standing) -> Standing:
        """Sees where knobs stand. Gives those that turn out to be somebody else's, as they were found."""
        strange = self.strange(now)
        if not strange and not self._looks:
            return _NOTHING
        for part in now.every_part():
            if part in strange:
                self._looks[part], self._calm[part] = self._looks.get(part, 0) + 1, 0
            elif part in self._looks:
                self._calm[part] += 1
                if self._calm[part] >= FOREIGN_LOOKS:
                    self._forget(part)
        foreign = {part for part in strange if self._looks[part] >= FOREIGN_LOOKS}
        if not foreign:
            return _NOTHING
        given_up = self.found.only(foreign - self.theirs)
        self._leave_to_them(now.only(foreign))
        return given_up

    def _leave_to_them(self, chosen: Standing) -> None:
        """Only where we asked for it to be is a knob still ours, and no longer where it was found."""
        theirs = dict(chosen.parts())
        for part, value in self.found.only(theirs).parts():
            ours = tuple(place for place in self.asked.get(part, ()) if not same(part[0], place, value))
            self.asked[part] = (*ours, theirs[part])
            if part in self._long_ago:
                long_ago = (place for place in self._long_ago[part] if not same(part[0], place, value))
                self._long_ago[part] = deque(long_ago, maxlen=_LONG_AGO)
        self.found = chosen | self.found
        for part in theirs:
            self.theirs.add(part)
            self._forget(part)

    def _forget(self, part: Part) -> None:
        del self._looks[part], self._calm[part]

    @property
    def strange_lately(self) -> Set[Part]:
        """What stood in a strange place lately, and we believe neither that nor that it is back."""
        return self._looks.keys()

    def strange(self, now: Standing) -> set[Part]:
        """Those of these that stand where nobody but somebody else can have put them."""
        found = {part for part, value in now.parts() if self._is_strange(part, value)}
        if any(setting == GUARANTEE for _, _, setting in found):
            found |= {part for part in now.every_part() if part[2] == GUARANTEE}
        return found

    def _is_strange(self, part: Part, value: Any) -> bool:
        if value in self.asked.get(part, ()) or value in self._long_ago.get(part, ()):  # the former nearly always
            return False
        places = () if part in self.anywhere else self._places(part)
        return bool(places) and not any(same(part[0], value, place) for place in places)

    def _places(self, part: Part) -> tuple[Any, ...]:
        """Where a knob may stand without anybody else's doing; nothing if it was never found."""
        what, name, setting = part
        value = self.found.of(what).get(name, _UNKNOWN)
        if setting and value is not _UNKNOWN:
            value = value.get(setting, _UNKNOWN)
        return () if value is _UNKNOWN else (value, *self.asked.get(part, ()))
