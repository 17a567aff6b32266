"""A flood from one address waits behind itself: others reach the server at once."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import httpx
import pytest
from in_a_loop import in_a_loop
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from csd.web import shares
from csd.web.bodies import UPLOAD
from csd.web.deployment import PUBLIC
from csd.web.health import LIVE
from csd.web.shares import AT_ONCE, MANY, NEARBY, InTurn, Shares, still_asked
from csd.web.whole_bodies import WholeBodies


class Held:
    """A server whose answers wait until they are let go; `hosts` are the clients that have reached it."""

    def __init__(self):
        self.hosts: list[str] = []
        self.gate = asyncio.Event()
        paths = ("/slow", UPLOAD, LIVE)
        routes = [Route(path, self.answer, methods=["GET", "POST"]) for path in paths]
        self.app = InTurn(Starlette(routes=[*routes, Route("/stream", self.stream)]), Shares(PUBLIC))

    async def answer(self, request):
        self.hosts.append(request.client.host)
        await self.gate.wait()
        return PlainTextResponse(await request.body())

    async def stream(self, request):
        self.hosts.append(request.client.host)
        return StreamingResponse(self.lines(), media_type="text/event-stream")

    async def lines(self):
        yield "begun"
        await self.gate.wait()

    @asynccontextmanager
    async def asked(self, *hosts: str, path: str = "/slow"):
        """While all of these clients ask, and no more of them can reach the server."""
        tasks = [asyncio.create_task(self.ask(host, path)) for host in hosts]
        for _ in range(200):
            await asyncio.sleep(0)
        yield tasks
        self.gate.set()
        await asyncio.gather(*tasks)

    async def ask(self, host: str, path: str) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, client=(host, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return await client.post(path, content=host) if path == "/slow" else await client.get(path)


def test_few_requests_of_one_address_are_worked_on_and_another_is_served():
    async def flood():
        held = Held()
        async with held.asked(*["8.8.8.8"] * 50, "9.9.9.9") as tasks:
            reached = list(held.hosts)
        return reached, [task.result().text for task in tasks]

    reached, answers = in_a_loop(flood())
    assert sorted(reached) == ["8.8.8.8"] * AT_ONCE + ["9.9.9.9"]
    assert answers == ["8.8.8.8"] * 50 + ["9.9.9.9"]


@pytest.mark.parametrize(
    ("hosts", "served"),
    [
        ([f"2a00:1450:4001:{one:x}::1" for one in range(80)], NEARBY),
        ([f"8.8.8.{one}" for one in range(80)], NEARBY),
        ([f"192.168.1.{one}" for one in range(80)], 80),
    ],
)
def test_the_addresses_of_one_neighbourhood_have_a_larger_share(hosts, served):
    async def flood():
        held = Held()
        async with held.asked(*hosts):
            return len(held.hosts)

    assert in_a_loop(flood()) == served


def test_beyond_many_that_wait_a_sentence_says_so(monkeypatch):
    monkeypatch.setattr(shares, "WAITING", 10)

    async def flood():
        held = Held()
        async with held.asked(*["8.8.8.8"] * 12) as tasks:
            pass
        return [task.result() for task in tasks]

    answers = in_a_loop(flood())
    assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 2
    assert answers[-1].json() == {"error": MANY, "detail": MANY}


@pytest.mark.parametrize("path", ["/stream", UPLOAD, LIVE])
def test_streams_uploads_and_probes_take_no_turn(path):
    async def flood():
        held = Held()
        async with held.asked(*["8.8.8.8"] * 30, path=path):
            return len(held.hosts)

    assert in_a_loop(flood()) == 30


def test_a_share_is_forgotten_once_nobody_asks():
    async def flood():
        held = Held()
        async with held.asked(*["8.8.8.8"] * 12, *[f"9.9.{one}.9" for one in range(12)]):
            pass
        return held.app._shares._shares

    assert not in_a_loop(flood())


def test_whoever_has_left_while_waiting_is_not_computed_for():
    async def ask(*messages: dict):
        left = list(messages)

        async def receive():
            return left.pop(0) if left else await asyncio.Future()

        still = await still_asked({"type": "http"}, receive)
        return still and [await still() for _ in messages]

    first, last = {"type": "http.request", "body": b"a", "more_body": True}, {"type": "http.request", "body": b"b"}
    assert in_a_loop(ask({"type": "http.disconnect"})) is None
    assert in_a_loop(ask(first, last)) == [first, last]


def test_the_served_page_has_shares(house):
    """What middleware Gradio adds, and what the project gives it, stand within the turns."""
    outer = house.page.app.middleware_stack._app._app._app
    assert isinstance(outer._others, WholeBodies) and isinstance(outer._others._app, InTurn)
