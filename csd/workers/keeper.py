"""The life of one worker: it is started, loads families, compiles in its gaps, and is started again if it dies."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress

from csd.decoding.errors import Refusal
from csd.workers.process import WorkerDied, WorkerProcess
from csd.workers.state import PoolState, Seat, Wanted
from csd.workers.worker import LoadedFamily, RaceWorker

LOOK = 0.2  # seconds between two looks at what nobody announces
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0  # seconds before a worker is started again; doubled while it keeps dying

log = logging.getLogger(__name__)


def keep(state: PoolState, seat: Seat, make_worker: Callable[[], RaceWorker], quiet: float) -> None:
    """Run the worker of a seat until the pool is closed. A worker compiles after `quiet` seconds without a race."""
    pause = FIRST_PAUSE
    while not state.closed.is_set():
        started = time.monotonic()
        process = WorkerProcess(seat.place, make_worker)
        with state.changed:
            seat.process = process
        try:
            _serve(state, seat, process, quiet)
        except WorkerDied as death:
            log.warning("%s", death)
        except Exception:
            log.exception("%s", seat.place.name)
        with state.changed:
            seat.ready, seat.families = False, {}
            state.changed.notify_all()
        process.close()
        pause = FIRST_PAUSE if time.monotonic() - started > LONGEST_PAUSE else min(2 * pause, LONGEST_PAUSE)
        state.closed.wait(pause)


def _serve(state: PoolState, seat: Seat, process: WorkerProcess, quiet: float) -> None:
    """Raises WorkerDied, or what went wrong when a family that was in use was loaded again."""
    while not state.closed.is_set():
        process.check()
        _drop_forgotten(state, seat, process)
        missing = _missing(state, seat)
        if missing is not None:
            _load(state, seat, process, missing)
            continue
        with state.changed:
            if not seat.ready and not state.closed.is_set():
                seat.ready = True
                state.changed.notify_all()
            number = _to_compile(state, seat, quiet)
            if number is None:
                state.changed.wait(LOOK)
                continue
            seat.user = "step"
        try:
            *_, loaded = process.call("step", number)
        finally:
            with state.changed:
                seat.user = None
                state.changed.notify_all()
        with state.changed:
            seat.families[number] = loaded


def _drop_forgotten(state: PoolState, seat: Seat, process: WorkerProcess) -> None:
    with state.changed:
        with suppress(IndexError):
            while True:
                state.wanted.pop(state.forgotten.popleft(), None)
        dropped = [number for number in seat.families if number not in state.wanted]
        for number in dropped:
            del seat.families[number]
    for number in dropped:
        list(process.call("drop", number))


def _missing(state: PoolState, seat: Seat) -> int | None:
    """The next family that this worker is to load, the oldest first."""
    with state.changed:
        wanted = (number for number, one in state.wanted.items() if not one.failed)
        return next((number for number in wanted if number not in seat.families), None)


def _to_compile(state: PoolState, seat: Seat, quiet: float) -> int | None:
    """The family whose next step this worker can make now."""
    if state.waiting or not seat.is_free or time.monotonic() - seat.last_race < quiet:
        return None
    return next((number for number, loaded in seat.families.items() if loaded.next_step), None)


def _load(state: PoolState, seat: Seat, process: WorkerProcess, number: int) -> None:
    """One worker at a time loads, so that each sees how much memory the others have left."""
    with state.loading:
        wanted = state.wanted.get(number)
        if wanted is None or wanted.failed:  # meanwhile
            return
        try:
            loaded = _load_wanted(state, seat, process, number, wanted)
        except Exception as error:
            with state.changed:
                if not wanted.announced:
                    wanted.failed = Refusal(str(error)) if isinstance(error, WorkerDied) else error
                    state.changed.notify_all()
            if wanted.announced or isinstance(error, WorkerDied):
                raise
            return
        with state.changed:
            seat.families[number] = loaded
            state.changed.notify_all()


def _load_wanted(state: PoolState, seat: Seat, process: WorkerProcess, number: int, wanted: Wanted) -> LoadedFamily:
    loaded = None
    arguments = (number, wanted.spec, seat.place.device, wanted.dtype)
    for told in process.call("load", *arguments, stopped=state.closed.is_set):
        if isinstance(told, LoadedFamily):
            loaded = told
        else:
            wanted.progress(f"{seat.place.name}: {told}")
    assert loaded is not None
    return loaded
