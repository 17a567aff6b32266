"""Requests wait while their neighbourhood is in debt, and only they."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from threading import Event
from types import SimpleNamespace

import httpx
import pytest
from in_a_loop import in_a_loop
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from csd.web import one_at_a_time, paced
from csd.web.deployment import PUBLIC
from csd.web.health import LIVE
from csd.web.known_streams import STREAM
from csd.web.meter import SPARE, Meter
from csd.web.paced import Paced, Timed
from csd.web.shares import Shares

BUSY, NEAR, OTHER = "8.8.8.8", "8.8.8.9", "9.9.9.9"


@pytest.fixture
def computed(monkeypatch):
    """What this thread has computed, as the tests say."""
    clock = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(paced, "time", SimpleNamespace(thread_time=lambda: clock.seconds))
    return clock


class Server:
    """Notes whom it has served, and holds back whoever the test says."""

    def __init__(self):
        self.served: list[str] = []
        self.paths: list[str] = []
        self.meter = Meter()
        self.debtor = ""
        self.meter.wait = lambda owner: 0.001 if owner == self.debtor else 0.0
        paths = (LIVE, "/", STREAM)
        self.app = Paced(Starlette(routes=[Route(path, self.answer) for path in paths]), Shares(PUBLIC), self.meter)

    async def answer(self, request):
        self.served.append(request.client.host)
        self.paths.append(request.url.path)
        return PlainTextResponse("here")

    async def ask(self, host: str, path: str = "/") -> None:
        transport = httpx.ASGITransport(self.app, client=(host, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            assert (await client.get(path)).status_code == 200


def test_whoever_is_in_debt_waits_and_nobody_else():
    async def ask():
        server = Server()
        server.debtor = "8.8.8.0/24"
        waiting = [asyncio.create_task(server.ask(host)) for host in (BUSY, NEAR)]
        await server.ask(OTHER)
        await server.ask(BUSY, LIVE)
        await asyncio.sleep(0.05)
        before = list(server.served)
        server.debtor = ""
        await asyncio.gather(*waiting)
        return before, server.served

    before, served = in_a_loop(ask())
    assert before == [OTHER, BUSY]
    assert sorted(served[2:]) == [BUSY, NEAR]


def test_events_that_begin_together_wait_though_none_of_them_has_been_billed():
    """Sixty-four events of one network at once would all be at work before the first bill."""

    async def ask():
        begun, go_on = [], asyncio.Event()

        async def work(request):
            begun.append(request.client.host)
            await go_on.wait()
            return PlainTextResponse("done")

        meter = Meter()
        app = Paced(Starlette(routes=[Route("/", work, methods=["POST"])]), Shares(PUBLIC), meter)
        meter.see("9.9.9.0/24")
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app, client=(BUSY, 1)), base_url="http://t"
        ) as client:
            asked = [asyncio.create_task(client.post("/")) for _ in range(64)]
            await asyncio.sleep(0.1)
            count = len(begun)
            go_on.set()
            answers = await asyncio.gather(*asked)
        return count, [answer.status_code for answer in answers]

    count, answers = in_a_loop(ask())
    assert SPARE / paced.ASKED <= count <= SPARE / paced.ASKED + 3
    assert answers == [200] * 64, "what they did not take is given back, so that the others need not wait for long"


def test_a_region_of_many_networks_waits_for_what_all_of_them_have_taken():
    """However small the part of each network is; another region does not."""

    async def ask():
        server = Server()
        around = Meter(part=0.5, spare=0.0)
        server.app = Paced(server.app._app, Shares(PUBLIC), server.meter, around)
        await server.ask(OTHER)
        around.charge("8.8.0.0/16", 10.0)
        around.see("9.9.0.0/16")
        waiting = asyncio.create_task(server.ask("8.8.1.1"))
        await server.ask(OTHER)
        await asyncio.sleep(0.05)
        waiting.cancel()
        return server.served

    assert in_a_loop(ask()) == [OTHER, OTHER]


def test_a_flood_of_probes_waits_and_keeps_no_other_request_waiting():
    async def ask():
        server = Server()
        await server.ask(OTHER)
        server.app._probes[0].charge("8.8.8.0/24", 10.0)
        server.app._probes[0].see("9.9.9.0/24")
        waiting = asyncio.create_task(server.ask(BUSY, LIVE))
        await server.ask(BUSY)
        await server.ask(OTHER, LIVE)
        await asyncio.sleep(0.05)
        waiting.cancel()
        return list(zip(server.served, server.paths, strict=True))

    assert in_a_loop(ask()) == [(OTHER, "/"), (BUSY, "/"), (OTHER, LIVE)]


@pytest.mark.parametrize(("a_second", "waits"), [(1, False), (40, False), (200, True)])
def test_probes_of_a_load_balancer_never_wait(a_second, waits):
    """However busy others are, and though a probe is taken for a long one until it has been answered."""
    now = 0.0
    meter = Meter(paced.PROBES, paced.SPARE_PROBES, lambda: now, 1 - paced.PROBES)
    waited = False
    for number in range(1000):
        now = number / a_second
        meter.see("other")
        waited = waited or meter.wait("balancer") > 0
        meter.charge("balancer", paced.USUAL)
        meter.charge("balancer", 0.001 - paced.USUAL)
    assert waited == waits


def test_the_addresses_of_a_neighbourhood_take_turns():
    async def ask():
        server = Server()
        server.debtor = "8.8.8.0/24"
        waiting = [asyncio.create_task(server.ask(host)) for host in [*[BUSY] * 20, NEAR]]
        await asyncio.sleep(0.05)
        server.debtor = ""
        await asyncio.gather(*waiting)
        return server.served

    assert NEAR in in_a_loop(ask())[:3]


def test_work_is_charged_for_what_it_computes_and_not_for_what_others_do_meanwhile(computed):
    charged: list[float] = []

    async def others():
        computed.seconds += 100

    async def work():
        computed.seconds += 1
        await asyncio.create_task(others())
        computed.seconds += 2

    async def timed():
        await Timed(work(), charged.append)

    in_a_loop(timed())
    assert sum(charged) == 3
    assert computed.seconds == 103


@pytest.mark.parametrize("seconds", [1.0, 0.0])
def test_an_owner_pays_for_what_its_request_has_taken(computed, seconds):
    """Whether that is more than it was taken for before, or less."""
    charged: list[float] = []

    async def app(scope, receive, send):
        computed.seconds += seconds
        await PlainTextResponse("here")(scope, receive, send)

    async def ask():
        meter = Meter()
        meter.charge = lambda owner, seconds: charged.append(seconds) if owner == "8.8.8.0/24" else None
        transport = httpx.ASGITransport(Paced(app, Shares(PUBLIC), meter), client=(BUSY, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            await client.get("/")

    in_a_loop(ask())
    assert charged[0] > 0
    assert sum(charged) == pytest.approx(seconds + paced.UNSEEN)


@pytest.mark.parametrize("fails", [False, True])
def test_a_request_pays_for_the_thread_that_works_for_it(computed, fails, monkeypatch):
    clocks = SimpleNamespace(thread_time=lambda: computed.seconds, monotonic=time.monotonic)
    monkeypatch.setattr(one_at_a_time, "time", clocks)
    charged: list[float] = []
    go = Event()

    @one_at_a_time.one_at_a_time
    def handler() -> None:
        go.wait()  # until the request's own step is over, since the tests have one clock for all threads
        computed.seconds += 7
        if fails:
            raise ValueError

    async def app(scope, receive, send):
        before = computed.seconds
        asyncio.get_running_loop().call_soon(go.set)
        with suppress(ValueError):
            await handler()
        computed.seconds = before  # a thread's seconds are no other one's
        await PlainTextResponse("here")(scope, receive, send)

    async def ask():
        meter = Meter()
        meter.charge = lambda owner, seconds: charged.append(seconds)
        transport = httpx.ASGITransport(Paced(app, Shares(PUBLIC), meter), client=(BUSY, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            await client.get("/")

    in_a_loop(ask())
    assert max(charged) >= 6.9


def test_streams_do_not_stand_in_line_behind_other_requests():
    async def ask():
        server = Server()
        server.debtor = "8.8.8.0/24"
        waiting = [asyncio.create_task(server.ask(BUSY)) for _ in range(20)]
        waiting.append(asyncio.create_task(server.ask(BUSY, STREAM)))
        await asyncio.sleep(0.05)
        server.debtor = ""
        await asyncio.gather(*waiting)
        return server.paths

    assert STREAM in in_a_loop(ask())[:3]


def test_a_stream_waits_less_than_other_requests():
    async def ask():
        server = Server()
        server.debtor = "8.8.8.0/24"
        server.meter.wait = lambda owner: paced.LENT - 1 if owner == server.debtor else 0.0
        waiting = asyncio.create_task(server.ask(BUSY))
        await server.ask(BUSY, STREAM)
        before = list(server.paths)
        server.debtor = ""
        await waiting
        return before

    assert in_a_loop(ask()) == [STREAM]


def test_cancelling_and_faults_pass_through():
    async def fail():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            raise ValueError("cancelled") from None

    async def wrapped():
        await Timed(fail(), lambda seconds: None)

    async def cancel():
        task = asyncio.create_task(wrapped())
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(ValueError, match="cancelled"):
        in_a_loop(cancel())


def test_the_served_page_is_paced(house):
    assert isinstance(house.page.app.middleware_stack._app._app, Paced)


def test_handlers_that_compute_are_paid_for(house):
    """Gradio runs the others in threads that nobody pays for."""
    costly = {
        "show_race",
        "show",
        "copy_link",
        "copy_race_link",
        "open_page",
        "open_file",
        "show_what",
        "check_guess",
        "check_plan",
        "draw_curves",
    }
    paying = {fn.name for fn in house.page.fns.values() if fn.fn and asyncio.iscoroutinefunction(fn.fn)}
    assert costly <= paying


def test_the_messages_of_a_stream_are_charged_one_by_one():
    async def ask():
        server, charged = Server(), []
        server.meter.charge = lambda owner, seconds: charged.append(seconds)
        await server.ask(BUSY, STREAM)
        return charged

    assert in_a_loop(ask()).count(paced.MESSAGE) == 2  # its start and its body
