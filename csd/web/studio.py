"""Races on the device, one at a time: a visitor's race as a stream of what there is to show."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any

from csd.decoding.errors import Refusal
from csd.models.compiling import compile_steps
from csd.models.spec import FamilySpec
from csd.record.recording import Recording, today
from csd.record.trace import Trace
from csd.request.request import Request
from csd.run import LaneFinished, RaceStarted, check_prompt, run_race
from csd.web.deployment import Deployment, RunRace, within
from csd.web.device import Device, Turns
from csd.web.examples import example_title
from csd.web.families import CompileSteps, Families, LoadFamily
from csd.web.loads import FamilyChoice, FamilyStatus
from csd.web.news import Batch, Finished, News, RaceStream, Refused, Waiting, Watch
from csd.web.race_thread import QUIET_LOOKS, STOPPED_BEFORE, TICK, RaceThread, ThreadDone
from csd.web.races import FinishedRace, new_race_id, race_title
from csd.web.under_way import RacesUnderWay
from csd.web.visitors import Visitors, VisitorState
from csd.workers.pool import WorkerPool
from csd.workers.replicas import ReplicaPool

LOOK = 1.0  # seconds between two looks at whether the device is free
DISTURBED = "Another model was loading during this race, so its timings are unreliable. Race again."
SLEPT = "This machine slept or its clock was set during the race, so its timings are unreliable. Race again."
STOOD_STILL = "The page stood still for a while during the race, so its timings are unreliable. Race again."
STILL = 2.0  # seconds of sleep, or of standing still, that a race is marked for


class Studio:
    """Families, visitors, and the device, or a pool of devices, each of which runs one race at a time.

    The page starts with the family `home`; those of `behind` are loaded after it. The last of all is `preferred`: the
    page chooses it once it is ready, for visitors who have not chosen a family themselves.
    """

    def __init__(
        self,
        home: FamilyChoice,
        load_family: LoadFamily,
        run: RunRace = run_race,
        behind: tuple[FamilyChoice, ...] = (),
        compile_steps: CompileSteps = lambda family: iter(()),
        device: Turns | None = None,
        deployment: Deployment = Deployment(),  # noqa: B008
    ):
        self.home = home
        self.deployment = deployment
        self.preferred = (home, *behind)[-1]
        self._device = device or Device()
        self.families = Families((home, *behind), load_family, self._device, compile_steps, deployment.check_family)
        self.visitors = Visitors(deployment.max_kept)
        self._is_awaited: Callable[[], bool] = lambda: False
        self._run = run
        self._watches: list[Watch] = []
        self._under_way = RacesUnderWay()

    @property
    def races_at_a_time(self) -> int:
        return self._device.size

    def give_way(self, is_awaited: Callable[[], bool]) -> None:
        """From now on races and comparisons have less time while `is_awaited` says that others wait for the device."""
        self._is_awaited = is_awaited

    def most_seconds(self) -> float:
        """What a race, or a whole comparison, may take at the moment."""
        return self.deployment.most_seconds(self._is_awaited())

    def watch(self, watch: Watch) -> None:
        """Let `watch` see every race from now on."""
        self._watches.append(watch)

    def close(self, patience: float = 5.0) -> bool:
        """Stop all races and wait for the threads that use models; False if one is still at work after `patience`
        seconds."""
        end = time.monotonic() + patience
        self.families.close()
        self._under_way.close()
        races_over = self._under_way.wait(patience)
        return self.families.wait(max(0.0, end - time.monotonic())) and races_over

    def race(
        self,
        visitor: str,
        choice: FamilyChoice,
        request: Request,
        first_paint: float = 0.0,
        keeps: bool = True,
        spent: float = 0.0,
    ) -> RaceStream:
        """Run a race; the last item is Refused or Finished. It is among the visitor's own afterwards if `keeps`.

        The lanes start `first_paint` seconds after the first event, so that a browser on the same cores draws the empty
        stage before their steps and not during them. A comparison has `spent` so many seconds of its time before this
        race. Closing the stream stops the race and frees the device within a step.
        """
        news = self._race(visitor, choice, request, first_paint, keeps, spent)
        for watch in self._watches:
            news = watch(visitor, choice, request, news)
        return news

    def _race(
        self, visitor: str, choice: FamilyChoice, request: Request, first_paint: float, keeps: bool, spent: float
    ) -> RaceStream:
        state, stop = self.visitors.state(visitor), threading.Event()
        state.stop, slept = stop, sleep_since()
        try:
            self._under_way.admit(stop)
            self.deployment.check(request)
            check_prompt(request.prompt)
            status = yield from self._wait_for_family(visitor, choice, stop)
            if stop.is_set():
                yield Refused(STOPPED_BEFORE)
            elif status.state == "failed":
                yield Refused(status.sentence)
            else:
                for news in self._stream(state, choice, status.family, request, stop, first_paint, spent):
                    yield self._end(visitor, news, stop, keeps, slept, spent) if isinstance(news, Finished) else news
        except Refusal as refusal:
            yield Refused(str(refusal), refusal.field)
        finally:
            stop.set()
            self._under_way.leave(stop)
            self.families.withdraw(visitor)
            if state.stop is stop:
                state.stop = None

    def _end(
        self,
        visitor: str,
        news: Finished,
        stop: threading.Event,
        keeps: bool,
        slept: Callable[[], float],
        spent: float,
    ) -> Finished:
        """A race whose lanes were stopped by nobody was cut by a limit, and says so; one that slept does too."""
        race = news.race
        if slept() > STILL:
            race = replace(race, notes=(*race.notes, SLEPT))
        was_cut = any(trace.end == "stopped" and not fault for trace, fault in zip(race.traces, race.faults))
        if was_cut and not stop.is_set():
            why = self.deployment.why_cut(race.traces, self._is_awaited(), spent)
            race = replace(race, notes=(*race.notes, why))
        if keeps:
            self.visitors.keep_race(visitor, race)
        return Finished(race)

    def _wait_for_family(
        self, visitor: str, choice: FamilyChoice, stop: threading.Event
    ) -> Generator[Waiting, None, FamilyStatus]:
        load = self.families.ensure_loading(choice, visitor)
        shown, quiet = "", 0
        while not load.status.is_final and not stop.is_set():
            if load.status.state == "waiting":  # withdrawn, because this visitor asked for another one
                load = self.families.ensure_loading(choice, visitor)
            quiet = quiet + 1 if load.status.sentence == shown else 0
            if quiet % QUIET_LOOKS == 0:
                shown = load.status.sentence
                yield Waiting(f"The race starts when the models are loaded. {shown}")
            stop.wait(TICK)
        return load.status

    def _stream(
        self,
        state: VisitorState,
        choice: FamilyChoice,
        family: Any,
        request: Request,
        stop: threading.Event,
        first_paint: float,
        spent: float,
    ) -> Iterator[News]:
        most = self.deployment.max_record * 1e6
        thread = RaceThread(
            self._device,
            within(self._run, lambda: self.most_seconds() - spent, most=most),
            lambda: self.families.status(choice).family or family,  # compiled in the meantime, perhaps
            request,
            stop,
            first_paint,
        )
        self._under_way.start_thread(thread.work)
        while not thread.begun.wait(LOOK):
            yield Waiting(self._device.waits_for)
        race_id, disturbed, machine = new_race_id(), False, ""
        traces: dict[int, Trace] = {}
        faults: dict[int, str] = {}
        for news in thread.batches():
            disturbed = disturbed or self.families.any_loading
            if isinstance(news, ThreadDone):
                if news.sentence:
                    yield Refused(news.sentence, news.field)
                    return
                race = self._finish(state, machine, request, race_id, traces, faults)
                if disturbed:
                    race = replace(race, notes=(*race.notes, DISTURBED))
                if news.standstill > STILL:
                    race = replace(race, notes=(*race.notes, STOOD_STILL))
                yield Finished(race)
                return
            machine = next((event.machine for event in news if isinstance(event, RaceStarted)), machine)
            ended = [event for event in news if isinstance(event, LaneFinished)]
            traces |= {event.lane: event.trace for event in ended}
            faults |= {event.lane: event.fault for event in ended}
            yield Batch(race_id, news)

    def _finish(
        self,
        state: VisitorState,
        machine: str,
        request: Request,
        race_id: str,
        traces: dict[int, Trace],
        faults: dict[int, str],
    ) -> FinishedRace:
        state.count += 1
        lanes = tuple(traces[lane] for lane in sorted(traces))
        by_lane = tuple(faults[lane] for lane in sorted(traces))
        notes = tuple(dict.fromkeys(filter(None, by_lane)))
        recording = Recording(lanes, example_title(request.prompt), machine=machine, date=today())
        title = race_title(state.count, request.prompt, lanes)
        return FinishedRace(race_id, title, recording, notes, faults=by_lane)


def sleep_since(
    wall: Callable[[], float] = time.time, awake: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """Says how many seconds the machine has slept since: the clock on the wall went on, and the other one stood."""
    begin = wall() - awake()
    return lambda: abs(wall() - awake() - begin)


def default_studio(deployment: Deployment, home: FamilyChoice, *behind: FamilyChoice) -> Studio:
    """The studio over real models; the first family that loads imports torch and transformers."""

    def load(spec: FamilySpec, device: str, dtype: str, progress: Callable[[str], None]) -> Any:
        from csd.models.loading import load_family

        return load_family(spec, device, dtype, progress)

    return Studio(home, load, behind=behind, compile_steps=compile_steps, deployment=deployment)


def pooled_studio(
    pool: WorkerPool | ReplicaPool, deployment: Deployment, home: FamilyChoice, *behind: FamilyChoice
) -> Studio:
    """The studio over a pool of workers. This process never imports torch."""
    return Studio(home, pool.load_family, pool.run, behind, pool.compile_steps, pool, deployment)
