"""Requests of a network that keeps the server busy, or of the region around it, are spaced: others find it free."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextvars import ContextVar
from typing import Any

from csd.decoding.errors import Refusal
from csd.web.bodies import App, Message, Receive, Send
from csd.web.health import is_probe
from csd.web.known_streams import is_stream
from csd.web.meter import Meter
from csd.web.shares import Shares, busy

Bills = Sequence[tuple[Meter, str]]
"""Who pays, and where that is kept."""

Payer = Callable[[float], None]
"""Is told seconds of work."""

_paying: ContextVar[Payer] = ContextVar("paying")

PROBES, PROBES_AROUND = 0.05, 0.1  # of the time, for probes of a network and a region: some 80 and 160 a second
SPARE_PROBES = 0.5  # seconds that they may take at once
REGIONS = 0.5  # of the time that a region has while others use the server
LOOK = 0.5  # seconds between two looks at whether others still use the server
LENT = 8.0  # seconds that a stream waits less than other requests, since a race to which nobody listens ends
MESSAGE = 0.001  # seconds of a message of a stream, which Starlette sends in a task that nobody times
USUAL = 0.005  # seconds of a request until it is known what it takes
ASKED = 0.05  # of an event, of which many may begin before the first one has ended and is billed
UNSEEN = 0.0005  # of it that no step shows: uvicorn reads and writes, and a thread may answer


class Paced:
    """ASGI middleware: a request waits while its neighbourhood or its region is in debt. The addresses of one take
    turns. Probes of health have accounts of their own, so that they are answered whatever else comes from there."""

    def __init__(self, app: App, shares: Shares, meter: Meter | None = None, around: Meter | None = None):
        self._app = app
        self._shares = shares
        self._usual = (meter or Meter(), around or Meter(part=REGIONS))
        self._probes = tuple(Meter(part, SPARE_PROBES, free=1 - part) for part in (PROBES, PROBES_AROUND))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        listens = is_stream(scope)
        owners = (self._shares.owner(scope), self._shares.region(scope))
        for meters in (self._usual, self._probes):
            for meter, owner in zip(meters, owners, strict=True):
                meter.see(owner)
        bills = tuple(zip(self._probes if is_probe(scope) else self._usual, owners, strict=True))
        try:
            await self._wait(scope, bills, listens)
        except Refusal as refusal:
            await busy(refusal)(scope, receive, send)
            return

        async def send_and_see(message: Message) -> None:
            if listens:
                _charge(bills, MESSAGE)
            await send(message)

        await self._work(bills, self._app(scope, receive, send_and_see), _expected(scope))

    async def _wait(self, scope: Message, bills: Bills, listens: bool) -> None:
        # Streams have lines of their own, since a race to which nobody listens ends.
        line = "streams" if listens else "probes" if is_probe(scope) else "line"
        async with self._shares.in_line(scope, line):
            while (wait := max(meter.wait(owner) for meter, owner in bills) - LENT * listens) > 0:
                await asyncio.sleep(min(LOOK, wait))
            _charge(bills, _expected(scope))

    async def _work(self, bills: Bills, work: Awaitable[None], expected: float) -> None:
        owed = expected - UNSEEN

        def charge(seconds: float) -> None:
            nonlocal owed
            owed -= seconds
            if owed < 0:
                _charge(bills, -owed)
                owed = 0.0

        _paying.set(charge)
        try:
            await Timed(work, charge)
        finally:
            _charge(bills, -owed)
            owed = 0.0


def _expected(scope: Message) -> float:
    return ASKED if scope["method"] == "POST" else USUAL


def _charge(bills: Bills, seconds: float) -> None:
    for meter, owner in bills:
        meter.charge(owner, seconds)


def pay(seconds: float) -> None:
    """Of a thread that has worked for the present request, if there is one: these are no steps of its own."""
    if charge := _paying.get(None):
        charge(seconds)


def present_payer() -> Payer | None:
    """Who pays for the present request, also for work that it begins and that goes on after it."""
    return _paying.get(None)


async def paid_by(payer: Payer, work: Awaitable[None]) -> None:
    """The work, for which its own threads pay as well."""
    _paying.set(payer)
    await Timed(work, payer)


class Timed:
    """Awaits some work and tells `charge` for how many seconds each of its steps computed. Others compute between."""

    def __init__(self, work: Awaitable[None], charge: Payer):
        self._work, self._charge = work, charge

    def __await__(self) -> Generator[Any, Any, None]:
        steps: Any = self._work.__await__()
        step, given = steps.send, None
        while True:
            began = time.thread_time()
            try:
                awaited = step(given)
            except StopIteration:
                return
            finally:
                self._charge(time.thread_time() - began)
            try:
                step, given = steps.send, (yield awaited)
            except BaseException as error:  # it is cancelled
                step, given = steps.throw, error
