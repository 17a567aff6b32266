"""The loaded families and the device's single lane of work: a race as a stream of what there is to show. No gradio.

One thread loads a family, one thread runs a race; whoever reads the stream only drains a queue, so a slow page never
slows the engine.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from csd import run
from csd.decoding.errors import Refusal
from csd.models.device import describe_machine
from csd.record.metrics import speed
from csd.record.recording import today
from csd.record.trace import Trace
from csd.run import LaneAdvanced, LaneFinished, RaceStarted, Request

# Seconds between two looks at the queue. Drawing costs the lanes time where they share few cores with the browser.
TICK = 0.1 if (os.cpu_count() or 1) > 4 else 0.5
SETTLE = 0.5  # seconds before the lanes set off: the page draws the empty stage meanwhile, not in their first steps
QUIET = 5  # ticks without news after which an empty batch is sent, so that a page that went away is noticed
KEPT = 20  # races kept per visit
VISITS = 200  # visits kept

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Choice:
    """A family as a visitor asks for it. `spec` is a csd.models.family.FamilySpec."""

    spec: Any
    device: str = "auto"
    dtype: str = "auto"


@dataclass(frozen=True)
class Shelf:
    """Where a family stands: state is "waiting", "loading", "ready" or "failed"; the sentence is for the page."""

    state: str
    sentence: str
    family: Any = None

    @property
    def settled(self) -> bool:
        return self.state in ("ready", "failed")


@dataclass(frozen=True)
class Past:
    """A race that ended: `stopped` where at least one lane did not come to its own end; notes are for the page.

    `machine` and `date` (YYYY-MM-DD) say where and when; `label` stands above a race that did not run here.
    """

    id: str
    title: str
    traces: tuple[Trace, ...]
    notes: tuple[str, ...] = ()
    machine: str = ""
    date: str = ""
    label: str = ""

    @property
    def stopped(self) -> bool:
        return any(trace.end == "stopped" for trace in self.traces)


@dataclass(frozen=True)
class Waiting:
    """Nothing runs yet; the sentence says what the race waits for."""

    sentence: str


@dataclass(frozen=True)
class Batch:
    """What the race with this id did since the last batch; may be empty."""

    id: str
    events: tuple[RaceStarted | LaneAdvanced | LaneFinished, ...]


@dataclass(frozen=True)
class Refused:
    """The race did not run, or broke; the sentence says why and what to do."""

    sentence: str


@dataclass(frozen=True)
class Finished:
    """All lanes ended."""

    past: Past


@dataclass
class Visit:
    """What is known of one visitor: the stop flag of the run in progress, and the races that ended."""

    stop: threading.Event | None = None
    races: deque[Past] = field(default_factory=lambda: deque(maxlen=KEPT))
    count: int = 0


class Studio:
    """Families, visits and the device. `home` stays loaded; of all other families the last one asked for does.

    `opener(spec, device, dtype, progress)` loads a family and raises ValueError with a sentence where it cannot;
    `racer(family, settings, stopped)` is csd.run.run_race.
    """

    def __init__(self, home: Choice, opener: Callable[..., Any], racer: Callable[..., Iterator]):
        self.home = home
        self._opener = opener
        self._racer = racer
        self.seen = threading.Event()  # set when the first page stands in a browser
        self._lock = threading.Lock()
        self._device = threading.Lock()
        self._shelves: dict[Choice, Shelf] = {}
        self._visits: OrderedDict[str, Visit] = OrderedDict()

    # families

    def shelf(self, choice: Choice) -> Shelf:
        return self._shelves.get(choice, Shelf("waiting", f"{choice.spec.name}: not loaded yet"))

    def want(self, choice: Choice) -> Shelf:
        """Starts loading a family that is neither loaded nor on its way; one that failed is tried again."""
        with self._lock:
            shelf = self.shelf(choice)
            if shelf.state in ("loading", "ready"):
                return shelf
            for other in [c for c in self._shelves if c not in (self.home, choice)]:
                del self._shelves[other]  # a race that still runs on it holds it until its end
            shelf = self._shelves[choice] = Shelf("loading", f"{choice.spec.name}: loading")
        threading.Thread(target=self._load, args=(choice,), name=f"load {choice.spec.name}", daemon=True).start()
        return shelf

    def open_soon(self, patience: float = 3.0) -> None:
        """Loads `home` once a first page is painted, or after `patience` seconds: importing torch slows all else down."""

        def wait() -> None:
            self.seen.wait(patience)
            self.want(self.home)

        threading.Thread(target=wait, name="open soon", daemon=True).start()

    def _load(self, choice: Choice) -> None:
        name = choice.spec.name
        try:
            family = self._opener(
                choice.spec,
                choice.device,
                choice.dtype,
                lambda sentence: self._place(choice, Shelf("loading", f"{name}: {sentence}")),
            )
            self._place(choice, Shelf("ready", ready_sentence(family), family))
        except ValueError as error:
            self._place(choice, Shelf("failed", f"{name} did not load. {error}"))
        except Exception as error:
            log.exception("loading %s", name)
            self._place(choice, Shelf("failed", f"{name} did not load: {first_line(error)}"))

    def _place(self, choice: Choice, shelf: Shelf) -> None:
        with self._lock:
            if choice in self._shelves:  # else another family took its place meanwhile
                self._shelves[choice] = shelf

    # visits

    def visit(self, visitor: str) -> Visit:
        with self._lock:
            visit = self._visits.setdefault(visitor, Visit())
            self._visits.move_to_end(visitor)
            while len(self._visits) > VISITS:
                self._visits.popitem(last=False)
            return visit

    def stop(self, visitor: str) -> bool:
        """Asks the visitor's own run to stop; False where none has begun."""
        stop = self.visit(visitor).stop
        if stop is None:
            return False
        stop.set()
        return True

    def leave(self, visitor: str) -> None:
        """The visitor is gone: his run stops and his races are forgotten."""
        self.stop(visitor)
        with self._lock:
            self._visits.pop(visitor, None)

    def keep(self, visitor: str, past: Past) -> None:
        """Puts a race that did not run here among the visitor's own."""
        self.visit(visitor).races.append(past)

    def past(self, visitor: str, race: str) -> Past | None:
        return next((past for past in self.visit(visitor).races if past.id == race), None)

    # races

    def race(self, visitor: str, choice: Choice, settings: Request) -> Iterator[Waiting | Batch | Refused | Finished]:
        """The last item is a Refused or a Finished. Closing the stream stops the run and frees the device in one step."""
        visit, stop = self.visit(visitor), threading.Event()
        visit.stop = stop
        try:
            shelf = self.want(choice)
            shown = ""
            while not shelf.settled and not stop.is_set():
                if shelf.state == "waiting":  # another visitor's family took the place of this one
                    shelf = self.want(choice)
                if shelf.sentence != shown:
                    shown = shelf.sentence
                    yield Waiting(f"The race starts when the family is ready. {shown}")
                time.sleep(TICK)
                shelf = self.shelf(choice)
            if stop.is_set():
                yield Refused("Stopped before it began.")
            elif shelf.state == "failed":
                yield Refused(shelf.sentence)
            else:
                yield from self._run(visit, shelf.family, settings, stop)
        finally:
            stop.set()
            if visit.stop is stop:
                visit.stop = None

    def _run(
        self, visit: Visit, family: Any, settings: Request, stop: threading.Event
    ) -> Iterator[Batch | Refused | Finished]:
        feed: queue.SimpleQueue = queue.SimpleQueue()
        threading.Thread(target=self._work, args=(family, settings, stop, feed), name="race", daemon=True).start()
        race, traces, disturbed, quiet = uuid.uuid4().hex[:12], {}, False, 0
        while True:
            time.sleep(TICK)
            disturbed = disturbed or any(shelf.state == "loading" for shelf in tuple(self._shelves.values()))
            news = []
            while not feed.empty():
                news.append(feed.get())
            over = news.pop() if news and isinstance(news[-1], _Over) else None
            traces |= {event.lane: event.trace for event in news if isinstance(event, LaneFinished)}
            quiet = 0 if news else quiet + 1
            if news or quiet % QUIET == 0:
                yield Batch(race, tuple(news))
            if over is None:
                continue
            if over.sentence:
                yield Refused(over.sentence)
                return
            visit.count += 1
            lanes = tuple(traces[lane] for lane in sorted(traces))
            past = Past(
                race,
                title_of(visit.count, settings.prompt, lanes),
                lanes,
                (DISTURBED,) if disturbed else (),
                describe_machine(family.device, family.dtype),
                today(),
            )
            visit.races.append(past)
            yield Finished(past)
            return

    def _work(self, family: Any, settings: Request, stop: threading.Event, feed: queue.SimpleQueue) -> None:
        sentence = ""
        try:
            with self._device:
                for event in self._racer(family, settings, stop.is_set):
                    feed.put(event)
                    if isinstance(event, RaceStarted):
                        stop.wait(SETTLE)
        except Refusal as refusal:
            sentence = str(refusal)
        except Exception as error:
            log.exception("race")
            sentence = f"The race broke: {first_line(error)} The page is fine; try again or with other settings."
        feed.put(_Over(sentence))


def real(home: Choice) -> Studio:
    """The studio over real models; transformers and torch are imported by the first family that loads."""

    def opener(spec: Any, device: str, dtype: str, progress: Callable[[str], None]) -> Any:
        from csd.models.family import load_family

        return load_family(spec, device, dtype, progress)

    return Studio(home, opener, run.run_race)


@dataclass(frozen=True)
class _Over:
    """The worker's last word; the sentence is empty where all went well."""

    sentence: str


DISTURBED = "A family was loading while this race ran: its times are disturbed. Race again for clean ones."


def ready_sentence(family: Any) -> str:
    """Such as "embedded, CPU, fp32, ready"."""
    short = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64"}
    device, dtype = str(family.device), str(family.dtype).removeprefix("torch.")
    return f"{family.spec.name}, {device.upper()}, {short.get(dtype, dtype)}, ready"


def title_of(number: int, prompt: str, traces: tuple[Trace, ...]) -> str:
    """A race in the list of earlier ones: its number, how the prompt begins, and each lane's tokens per second."""
    start = " ".join(prompt.split())
    speeds = " | ".join(f"{speed(trace):.0f}" if trace.steps else "-" for trace in traces)
    return f"{number}. {start[:40]}{'…' if len(start) > 40 else ''} · {speeds} tok/s"


def first_line(error: BaseException) -> str:
    """The kind and first line of an unexpected error, ending in a full stop."""
    text = str(error).strip().split("\n")[0][:200]
    return f"{type(error).__name__}: {text}".rstrip(".: ") + "."
