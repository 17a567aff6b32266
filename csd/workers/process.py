"""A worker in a process of its own: calls go through a pipe, and what they send comes back as streams."""

from __future__ import annotations

import itertools
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from csd.workers.outcome import Outcome, outcome_of
from csd.workers.places import Place
from csd.workers.worker import RaceWorker

LOOK = 0.05  # seconds between two looks at whether a call was stopped
PATIENCE = 120.0  # seconds that a process may be silent once a call was to stop; the step of a slow model takes fewer


class WorkerDied(RuntimeError):
    """The process of a worker has ended; the message says how."""


@dataclass(frozen=True)
class _Call:
    """A method of the worker, to be called in a thread of its own."""

    number: int
    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class _Stop:
    """The call with this number is to end soon."""

    number: int


@dataclass(frozen=True)
class _Sent:
    """What a call has sent."""

    number: int
    value: Any


@dataclass(frozen=True)
class _Ended:
    """A call has ended."""

    number: int
    outcome: Outcome


class WorkerProcess:
    """A process that holds one worker. It ends with the process that started it, however that ends, and once it has
    been silent for PATIENCE though a call was to stop: its device may hang."""

    def __init__(self, place: Place, make_worker: Callable[[], RaceWorker]):
        context = get_context("spawn")
        self._place = place
        self._is_silent = False
        self._connection, theirs = context.Pipe()
        self._sending, self._ended = threading.Lock(), threading.Event()
        self._numbers = itertools.count()
        self._calls: dict[int, queue.SimpleQueue[_Sent | _Ended | None]] = {}  # None: the process has ended
        self._process = context.Process(target=_serve, args=(theirs, place, make_worker), name=place.name, daemon=True)
        self._process.start()
        theirs.close()
        threading.Thread(target=self._read, name=f"news of {place.name}", daemon=True).start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return not self._ended.is_set()

    def check(self) -> None:
        """Raises WorkerDied if the process has ended."""
        if not self.is_alive:
            raise self._death()

    def call(self, method: str, *arguments: Any, stopped: Callable[[], bool] = lambda: False) -> Iterator[Any]:
        """What a method of RaceWorker sends, until it ends. Once `stopped()` is true the worker is told so.

        Raises Refusal with the worker's sentence, WorkerDied, or an error with the name and text of the worker's.
        Closing the stream stops the call and waits for its end.
        """
        number, news = next(self._numbers), queue.SimpleQueue()
        self._calls[number] = news
        ended, told = False, None
        try:
            self._send(_Call(number, method, arguments))
            while not ended:
                if told is None and stopped():
                    told = monotonic()
                    self._send(_Stop(number))
                try:
                    one = news.get(timeout=LOOK)
                except queue.Empty:
                    self._end_if_silent(told)
                    if not self.is_alive and news.empty():  # it ended before this call was known
                        ended = True
                        raise self._death() from None
                    continue
                told = told and monotonic()
                ended = not isinstance(one, _Sent)
                if isinstance(one, _Sent):
                    yield one.value
                elif one is None:
                    raise self._death()
                else:
                    one.outcome.check()
        finally:
            if not ended:
                self._finish(number, news)
            del self._calls[number]

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._ended.wait(5)

    def _finish(self, number: int, news: queue.SimpleQueue) -> None:
        try:
            self._send(_Stop(number))
        except WorkerDied:
            return
        told = monotonic()
        while self.is_alive:
            try:
                if not isinstance(news.get(timeout=LOOK), _Sent):
                    return
                told = monotonic()
            except queue.Empty:
                self._end_if_silent(told)

    def _end_if_silent(self, since: float | None) -> None:
        """`since`: when it was told to stop, or has last sent something after that."""
        if since is not None and monotonic() - since > PATIENCE:
            self._is_silent = True
            self.close()

    def _send(self, message: _Call | _Stop) -> None:
        try:
            with self._sending:
                self._connection.send(message)
        except OSError as error:
            raise self._death() from error

    def _read(self) -> None:
        while True:
            try:
                one: _Sent | _Ended = self._connection.recv()
            except (EOFError, OSError):
                break
            if (news := self._calls.get(one.number)) is not None:
                news.put(one)
        self._process.join(5)
        with self._sending:
            self._connection.close()
        self._ended.set()  # before any caller knows: nobody is to take this worker again
        for news in tuple(self._calls.values()):
            news.put(None)

    def _death(self) -> WorkerDied:
        if self._is_silent:
            return WorkerDied(f"The worker process on {self._place.name} no longer answered, and was ended.")
        code = self._process.exitcode
        how = f"with exit code {code}"
        if code is not None and code < 0:
            how = f"by signal {-code}"
            if -code == signal.SIGKILL:
                how += ", as when the memory is used up"
        return WorkerDied(f"The worker process on {self._place.name} has ended ({how}).")


def _serve(connection: Connection, place: Place, make_worker: Callable[[], RaceWorker]) -> None:
    """The main loop of the worker's process: each call gets a thread."""
    for name in ("SIGINT", "SIGHUP"):  # Ctrl+C and the end of a terminal reach all processes; the page ends its workers
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_IGN)
    place.enter()
    worker, sending = make_worker(), threading.Lock()
    stops: dict[int, threading.Event] = {}

    def send(message: _Sent | _Ended) -> None:
        with sending:
            connection.send(message)

    def run(call: _Call) -> None:
        method = getattr(worker, call.method)
        sending_on, stopped = (lambda value: send(_Sent(call.number, value))), stops[call.number].is_set
        outcome = outcome_of(partial(method, sending_on, stopped, *call.arguments), f"{place.name}, {call.method}")
        del stops[call.number]
        send(_Ended(call.number, outcome))

    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            os._exit(0)  # the page is gone; whatever still runs here is of use to nobody
        if isinstance(message, _Call):
            stops[message.number] = threading.Event()
            threading.Thread(target=partial(run, message), name=message.method, daemon=True).start()
        elif (stop := stops.get(message.number)) is not None:
            stop.set()
