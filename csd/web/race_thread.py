"""A race in a thread of its own, whose events come back in batches: a slow page never slows the engine."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from csd.decoding.errors import Refusal
from csd.request.request import Request
from csd.run import RaceEvent, RaceStarted
from csd.web.deployment import RunRace
from csd.web.device import Turns
from csd.web.families import describe_error
from csd.web.standstill import Ticks

# Seconds between two looks at the queue. Drawing slows the lanes if they share a few cores with the browser, so a race
# that is too fast for the eye is drawn less often there.
TICK = 0.1 if (os.cpu_count() or 1) > 4 else 0.5
LIVE_TICK = min(TICK, 0.2)
LIVE_STEPS = 100  # steps of all lanes per second up to which the eye can follow a race
QUIET_LOOKS = 5  # looks without news after which an empty batch is sent, so that a closed page is noticed
STOPPED_BEFORE = "Stopped before it started."

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ThreadDone:
    """The last thing that the thread sends; the sentence is empty unless the race failed, and `field` names the field
    of the form that it is about."""

    sentence: str
    standstill: float = 0.0  # seconds, the most for which this process did nothing during the race
    field: str = ""


@dataclass(frozen=True, eq=False)
class RaceThread:
    """One race: `work` is what the thread runs, `batches` what the page reads.

    `find_family` is asked when the race has its turn on the device. The lanes start `first_paint` seconds after the
    first event. `begun` is set once the race has its turn, or will not have one; `over` after its last word.
    """

    device: Turns
    run: RunRace
    find_family: Callable[[], Any]
    request: Request
    stop: threading.Event
    first_paint: float
    begun: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    _feed: queue.SimpleQueue[RaceEvent | ThreadDone] = field(default_factory=queue.SimpleQueue)

    def work(self) -> None:
        sentence, about, ticks = "", "", Ticks()
        try:
            with self.device.race(self.stop.is_set) as granted, ticks:
                self.begun.set()
                if not granted:
                    raise Refusal(STOPPED_BEFORE)
                for event in self.run(self.find_family(), self.request, self.stop.is_set):
                    self._feed.put(event)
                    if isinstance(event, RaceStarted):
                        self.stop.wait(self.first_paint)
        except Refusal as refusal:
            sentence, about = str(refusal), refusal.field
        except Exception as error:
            log.exception("race")
            sentence = f"The race failed: {describe_error(error)} Try again, or change the settings."
        self._feed.put(ThreadDone(sentence, ticks.longest, about))
        self.begun.set()
        self.over.set()

    def batches(self) -> Iterator[tuple[RaceEvent, ...] | ThreadDone]:
        """The events, one batch per look and some of them empty, then the thread's last word.

        The last look is not waited for.
        """
        quiet, pause = 0, LIVE_TICK
        while True:
            self.over.wait(pause)
            news = []
            while not self._feed.empty():
                news.append(self._feed.get())
            done = news.pop() if news and isinstance(news[-1], ThreadDone) else None
            pause = pause_after(len(news), pause)
            quiet = 0 if news else quiet + 1
            if news or quiet % QUIET_LOOKS == 0:
                yield tuple(news)
            if done is not None:
                yield done
                return


def pause_after(events: int, pause: float) -> float:
    """Seconds until the next look, after so many events in the last pause."""
    return LIVE_TICK if events <= LIVE_STEPS * pause else TICK
