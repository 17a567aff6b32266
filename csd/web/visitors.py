"""What the page remembers of each visitor: the race that runs, and those that have ended."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from csd.record.race import Race
from csd.theory.assumed import Prediction
from csd.web.addresses import region
from csd.web.compare_findings import Compared
from csd.web.fields import PageFields
from csd.web.giving_way import next_to_go
from csd.web.races import FinishedRace, KeptRace

MAX_RACES = 20  # per visitor
MAX_VISITORS = 200
MAX_KEPT = 400  # MB of races of all visitors together
SHARE = 0.25  # of it, for one visitor
LONGEST_KEPT = 20_000  # characters of a text in a form that is kept
RETURN = 60.0  # seconds in which a visitor who has left may come back to the races, as by loading the page again


class Visitor(str):
    """The id of a visitor's session, and the owner that it counts for: the neighbourhood that it was asked from, where
    one may make up any number of sessions."""

    __slots__ = ("owner",)
    owner: str

    def __new__(cls, session: str, owner: str = "") -> Visitor:
        visitor = super().__new__(cls, session)
        visitor.owner = owner
        return visitor


@dataclass(frozen=True)
class Asked:
    """The form of a race that was asked for and has no result, and `why`; while it runs or waits, that is empty. Texts
    that are longer than those that race are left out; `has_prompt` says that the prompt is none of them."""

    fields: PageFields
    has_prompt: bool = True
    why: str = ""

    @classmethod
    def keep(cls, fields: PageFields) -> Asked:
        values = fields.values()
        long = {name for name, value in values.items() if isinstance(value, str) and len(value) > LONGEST_KEPT}
        return cls(PageFields.from_values({**values, **dict.fromkeys(long, "")}), "prompt" not in long)


@dataclass
class VisitorState:
    """The stop flags of the race that runs and of a comparison, which has pauses between its races, if any; the latest
    races, oldest first, and how many there have been.

    Whether the visitor has chosen a family (in the form, by a link, or by a file), and whether a copy of a custom
    target was ticked for want of drafts. `compared` is the latest comparison of each kind. `unfinished` is the form of
    the race that was asked for last, until it has a result, and `predicted` is what the next one is to measure;
    `measured` has what was predicted of races that have, by their ids.
    `families` counts the families that the visitor has had in the form. `owner` is whom the visitor counts for, and
    `left` when the visitor left, if so.
    """

    owner: str = ""
    stop: threading.Event | None = None
    stop_comparison: threading.Event | None = None
    races: tuple[KeptRace, ...] = ()
    count: int = 0
    has_chosen_family: bool = False
    was_given_copy: bool = False
    compared: dict[str, Compared] = field(default_factory=dict)
    unfinished: Asked | None = None
    predicted: Prediction | None = None
    measured: dict[str, Prediction] = field(default_factory=dict)
    families: int = 0
    left: float | None = None


class Visitors:
    """The latest visitors, by the id of their session, and their races in at most `max_kept` MB of memory.

    The oldest races go first: a visitor's own beyond a quarter of the memory, then those of the owner of most. A
    visitor's latest race stays until others need its memory. Of more than MAX_VISITORS, the owner of most loses one,
    first those without races, and nobody whose race runs. Those who have left are forgotten after RETURN.
    """

    def __init__(self, max_kept: float = MAX_KEPT, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = max_kept * 1e6
        self._clock = clock
        self._lock = threading.RLock()
        self._states: OrderedDict[str, VisitorState] = OrderedDict()
        # Bytes by visitor and race, oldest first. The race of a link is in many visitors' lists.
        self._kept: OrderedDict[tuple[str, str], int] = OrderedDict()

    def state(self, visitor: str) -> VisitorState:
        """To be changed: from now on this visitor is remembered."""
        with self._lock:
            state = self._remember(visitor)
            state.left = None
            return state

    def find(self, visitor: str) -> VisitorState:
        """To be read: a visitor who is not remembered has a new state, which is not kept."""
        with self._lock:
            return self._states.get(visitor) or VisitorState()

    def stop(self, visitor: str) -> bool:
        """Ask the visitor's own race or comparison to stop; False if none has started."""
        state = self.find(visitor)
        flags = [flag for flag in (state.stop, state.stop_comparison) if flag is not None]
        for flag in flags:
            flag.set()
        return bool(flags)

    def leave(self, visitor: str) -> None:
        """Stop the race of a visitor who is gone; the others are kept for as long as the visitor may come back."""
        self.stop(visitor)
        with self._lock:
            if visitor in self._states:
                self._states[visitor].left = self._clock()

    def come_back(self, visitor: Visitor, before: str) -> None:
        """Give a visitor what was run and chosen under another session, which the same browser had `before`: loading a
        page again begins a session. Nothing, where those are forgotten or belong to another owner, or where the
        visitor has races of this session."""
        with self._lock:
            self._forget_the_gone()
            earlier = self._states.get(before)
            if earlier is None or earlier.owner != visitor.owner or self.find(visitor).races:
                return
            state = self.state(visitor)
            state.races, state.count = earlier.races, earlier.count
            state.has_chosen_family, state.unfinished = earlier.has_chosen_family, earlier.unfinished
            state.measured = earlier.measured
            for race in state.races:
                self._kept[visitor, race.id] = len(race.packed)
            self._fit(visitor)

    @property
    def kept_bytes(self) -> int:
        with self._lock:
            return sum(self._kept.values())

    def keep_race(self, visitor: str, race: FinishedRace) -> None:
        kept = KeptRace.of(race)
        with self._lock:
            state = self._remember(visitor)  # who may have left while the race ended
            state.races = (*state.races, kept)
            self._kept[visitor, race.id] = len(kept.packed)
            self._fit(visitor)

    def drop_race(self, visitor: str, race_id: str) -> None:
        with self._lock:
            if (visitor, race_id) in self._kept:
                self._drop(visitor, race_id)

    def races(self, visitor: str, prompt: str | None = None) -> tuple[FinishedRace, ...]:
        """A visitor's races, oldest first; with a prompt, those of this prompt."""
        return tuple(race.unpack() for race in self.find(visitor).races if prompt in (None, race.prompt))

    def races_run(self, visitor: str) -> tuple[Race, ...]:
        """The races that this visitor ran, oldest first, without those from files."""
        return tuple(Race(race.unpack().traces) for race in self.find(visitor).races if not race.origin)

    def find_race(self, visitor: str, race_id: str) -> FinishedRace | None:
        return next((race.unpack() for race in self.find(visitor).races if race.id == race_id), None)

    def _remember(self, visitor: str) -> VisitorState:
        state = self._states.setdefault(visitor, VisitorState(getattr(visitor, "owner", "")))
        self._states.move_to_end(visitor)
        self._make_room(visitor)
        return state

    def _fit(self, visitor: str) -> None:
        """Drop races until those of this visitor, and all together, are as many as may be kept."""
        state = self._states[visitor]
        while len(state.races) > MAX_RACES or (len(state.races) > 1 and sum(self._sizes(visitor)) > SHARE * self._most):
            self._drop(visitor, state.races[0].id)
        while len(self._kept) > 1 and self.kept_bytes > self._most:
            self._drop(*next_to_go({key: (self._states[key[0]].owner, size) for key, size in self._kept.items()}))

    def _sizes(self, visitor: str) -> list[int]:
        return [size for (owner, _), size in self._kept.items() if owner == visitor]

    def _drop(self, visitor: str, race_id: str) -> None:
        del self._kept[visitor, race_id]
        state = self._states[visitor]
        state.races = tuple(race for race in state.races if race.id != race_id)

    def _make_room(self, newest: str) -> None:
        """Forget visitors who have left, and others beyond MAX_VISITORS, but neither one who races nor the newest."""
        self._forget_the_gone(newest)
        while len(self._states) > MAX_VISITORS:
            owners = [state.owner for state in self._states.values()]
            count, around = Counter(owners), Counter(map(region, owners))
            idle = {one: state for one, state in self._states.items() if state.stop is None and one != newest}
            if not idle:
                return
            ranks = {
                one: (-around[region(state.owner)], -count[state.owner], bool(state.races))
                for one, state in idle.items()
            }
            self._forget(min(ranks, key=ranks.__getitem__))

    def _forget_the_gone(self, newest: str = "") -> None:
        end = self._clock() - RETURN
        gone = [one for one, state in self._states.items() if state.left is not None and state.left < end]
        for one in gone:
            if self._states[one].stop is None and one != newest:
                self._forget(one)

    def _forget(self, visitor: str) -> None:
        self._states.pop(visitor, None)
        for key in [key for key in self._kept if key[0] == visitor]:
            del self._kept[key]
