"""What the page remembers of each visitor: the race that runs, and those that have ended."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from csd.record.race import Race
from csd.web.races import FinishedRace

MAX_RACES = 20  # per visitor
MAX_VISITORS = 200


@dataclass
class VisitorState:
    """The stop flag of the race that runs, if any, the latest races, oldest first, and how many there have been.

    Whether the visitor has chosen a family (in the form, by a link, or by a file), and whether a copy of a custom
    target was ticked for want of drafts.
    """

    stop: threading.Event | None = None
    races: deque[FinishedRace] = field(default_factory=lambda: deque(maxlen=MAX_RACES))
    count: int = 0
    has_chosen_family: bool = False
    was_given_copy: bool = False


class Visitors:
    """The latest visitors, by the id of their session."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: OrderedDict[str, VisitorState] = OrderedDict()

    def state(self, visitor: str) -> VisitorState:
        with self._lock:
            state = self._states.setdefault(visitor, VisitorState())
            self._states.move_to_end(visitor)
            while len(self._states) > MAX_VISITORS:
                self._states.popitem(last=False)
            return state

    def stop(self, visitor: str) -> bool:
        """Ask the visitor's own race to stop; False if none has started."""
        stop = self.state(visitor).stop
        if stop is None:
            return False
        stop.set()
        return True

    def leave(self, visitor: str) -> None:
        """Stop the race of a visitor who is gone, and forget the others."""
        self.stop(visitor)
        with self._lock:
            self._states.pop(visitor, None)

    def keep_race(self, visitor: str, race: FinishedRace) -> None:
        self.state(visitor).races.append(race)

    def races_run(self, visitor: str) -> tuple[Race, ...]:
        """The races that this visitor ran, oldest first, without those from files."""
        return tuple(Race(race.traces) for race in tuple(self.state(visitor).races) if not race.origin)

    def find_race(self, visitor: str, race_id: str) -> FinishedRace | None:
        return next((race for race in self.state(visitor).races if race.id == race_id), None)
