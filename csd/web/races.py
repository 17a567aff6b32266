"""Races that the page can show again: a visitor's own, one from a file, or one recorded with the project."""

from __future__ import annotations

import logging
import pickle
import uuid
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from mmap import mmap

from csd.models import catalog
from csd.ranges import shorten
from csd.record.race import Race
from csd.record.recording import Recording, bundled_recordings, title_of
from csd.record.trace import Trace
from csd.stage import log as stage
from csd.stage.headline import headline
from csd.web.examples import example_title
from csd.web.homes import FIRST

log = logging.getLogger(__name__)

RECORDED = "recorded-"  # the ids of recorded races begin with it
LINKED = "linked-"  # and those of races that a link has brought with this


@dataclass(frozen=True)
class FinishedRace:
    """A race that has ended. `title` names it in the list of races, `notes` are sentences for the status line, and
    `origin` says where a race comes from that did not run here. `faults` has a sentence for each lane, empty unless the
    lane failed."""

    id: str
    title: str
    recording: Recording
    notes: tuple[str, ...] = ()
    origin: str = ""
    faults: tuple[str, ...] = ()

    @property
    def traces(self) -> tuple[Trace, ...]:
        return self.recording.traces

    @property
    def stopped(self) -> bool:
        """Whether at least one lane was stopped before its end."""
        return any(trace.end == "stopped" for trace in self.traces)

    @property
    def is_empty(self) -> bool:
        """Whether it was stopped before any lane had a step to show."""
        return self.stopped and not any(trace.steps for trace in self.traces)


@dataclass(frozen=True)
class KeptRace:
    """A finished race in a small part of its memory, for as long as nobody looks at it.

    `packed` is memory of its own: among what races need for a moment, it would keep the heap from shrinking. In one
    that `is_empty` there is nothing to see.
    """

    id: str
    title: str
    origin: str
    prompt: str
    packed: mmap
    is_empty: bool = False

    @staticmethod
    def of(race: FinishedRace) -> KeptRace:
        data = zlib.compress(pickle.dumps(race))
        packed = mmap(-1, len(data))
        packed[:] = data
        return KeptRace(race.id, race.title, race.origin, race.traces[0].header.text, packed, race.is_empty)

    def unpack(self) -> FinishedRace:
        return pickle.loads(zlib.decompress(self.packed))  # written by this process


def new_race_id() -> str:
    return uuid.uuid4().hex[:12]


def recorded_races(report: Callable[[str], None] = log.warning) -> dict[str, FinishedRace]:
    """The races that come with the project, by id, in their order; `report` is told of those that cannot be read."""
    races = (_recorded_race(name, recording) for name, recording in bundled_recordings(report=report).items())
    return {race.id: race for race in races}


def first_recorded(races: Mapping[str, FinishedRace], family: str) -> FinishedRace | None:
    """The recorded race that introduces a family."""
    return next((race for race in races.values() if race.recording.family == family), None)


def _recorded_race(name: str, recording: Recording) -> FinishedRace:
    machine = recording.machine.partition(";")[0]  # the file says which libraries ran
    origin = f"Recorded on {recording.date}, on {machine}. {recording.note}".strip()
    family = "" if recording.family == "embedded" else f", {catalog.title(recording.family)}"
    title = f"{recording.title} ({recording.kind}{family})"
    return FinishedRace(f"{RECORDED}{name}", title, recording, origin=origin)


def uploaded_race(recording: Recording) -> FinishedRace:
    """A race from a visitor's file."""
    title = recording.title or title_of(recording.traces[0].header.text)
    recorded = f", recorded on {recording.date}" if recording.date else ""
    machine = f", on {recording.machine}" if recording.machine else ""
    origin = f"From a file{recorded}{machine}. {recording.note}".strip()
    return FinishedRace(new_race_id(), f"From a file: {title}", recording, origin=origin)


def linked_race(name: str, recording: Recording) -> FinishedRace:
    """A race that somebody ran here and has linked; `name` is its id in links."""
    title = f"From a link: {prompt_start(recording.traces[0].header.text)}"
    origin = f"This race was run here on {recording.date} and came by a link."
    return FinishedRace(LINKED + name, title, recording, origin=origin)


def race_title(number: int, prompt: str, traces: tuple[Trace, ...]) -> str:
    """A visitor's own race in the list: its number, how the prompt begins, and what the race came to."""
    told = headline(Race(traces))
    came_to = f" · {told.subject} {told.factor}" if told.factor else ""
    stopped = " · stopped" if any(trace.end == "stopped" for trace in traces) else ""
    return f"{number}. {prompt_start(prompt)}{came_to}{stopped}"


def prompt_start(prompt: str) -> str:
    """How a prompt begins, on one line."""
    line = " ".join(prompt.split())
    return line[:40] + ("…" if len(line) > 40 else "")


def replay_log(race: FinishedRace, play: bool, again: Sequence[Race] = ()) -> str:
    """The stage's log of a race, preceded by its origin; `play` starts the replay, and `again` are others of its
    visitor."""
    family = race.recording.family
    models = "" if family == FIRST else shorten(catalog.title(family), 30)
    log = stage.log_of(race.traces, race.id, example_title(race.traces[0].header.text), play, again, models)
    return (stage.message(race.origin) if race.origin else "") + log
