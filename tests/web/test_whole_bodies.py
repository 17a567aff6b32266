"""Requests whose bodies crawl keep nobody waiting, and what is held for them has a bound."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from in_a_loop import in_a_loop
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from csd.web.bodies import UPLOAD, largest_event
from csd.web.body_room import ALL, AROUND, EVERYBODY, PART
from csd.web.deployment import PUBLIC
from csd.web.shares import AT_ONCE, InTurn, Shares
from csd.web.whole_bodies import REQUEST, TOO_SLOW, WholeBodies


class Server:
    """Answers with what it has read, in turns."""

    def __init__(self, **limits):
        routes = [Route(path, self.answer, methods=["GET", "POST"]) for path in ("/", UPLOAD)]
        self.turns = InTurn(Starlette(routes=routes), Shares(PUBLIC))
        self.app = WholeBodies(self.turns, PUBLIC, **limits)
        self.reached = 0

    async def answer(self, request):
        self.reached += 1
        return PlainTextResponse(await request.body())

    async def ask(self, *pieces: bytes, host: str = "8.8.8.8", size: int = 0, path: str = "/", leaves: bool = False):
        """A request whose body is never whole where `size` is more than its pieces; status and text of the answer."""
        told, left = [], list(pieces)
        size = size or sum(map(len, pieces))
        missing = size - sum(map(len, pieces))

        async def receive():
            if left:
                piece = left.pop(0)
                return {"type": "http.request", "body": piece, "more_body": bool(left or missing)}
            if leaves:
                return {"type": "http.disconnect"}
            return await asyncio.Future()

        async def note(message):
            told.append(message)

        headers = [(b"content-length", str(size).encode())]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "client": (host, 1)}
        await self.app({**scope, "query_string": b"", "root_path": ""}, receive, note)
        return (told[0]["status"], b"".join(one.get("body", b"") for one in told[1:]).decode()) if told else None

    @asynccontextmanager
    async def crawling(self, *hosts: str):
        """While requests from these hosts, of which one byte has come, wait for the others."""
        tasks = [asyncio.create_task(self.ask(b"a", host=host, size=1000)) for host in hosts]
        for _ in range(50):
            await asyncio.sleep(0)
        yield tasks
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def test_requests_that_crawl_keep_nobody_of_their_address_waiting():
    async def crawl():
        server = Server()
        async with server.crawling(*["8.8.8.8"] * 10 * AT_ONCE):
            reached = server.reached
            return reached, await asyncio.wait_for(server.ask(b"a", b"b"), 5), len(server.turns._shares._shares)

    assert in_a_loop(crawl()) == (0, (200, "ab"), 0)


@pytest.mark.parametrize("own", ["8.8.8.1", "8.8.8.9"])
def test_a_quick_request_gets_in_where_crawling_ones_have_all_the_room_of_its_network(own):
    """From an address of its own or from one that has many of them: the oldest of those that have most gives way."""

    async def crawl():
        server = Server(most=10 * PART * REQUEST)
        hosts = [f"8.8.8.{number}" for number in range(1, PART + 2) for _ in range(8)]
        async with server.crawling(*hosts) as tasks:
            answers = [await asyncio.wait_for(server.ask(b"a", host=own), 5) for _ in range(3)]
            await asyncio.sleep(0)
            gave_way = [task.result()[0] for task in tasks if task.done()]
            first = next(number for number, task in enumerate(tasks) if task.done())
            held = server.app._room.held["8.8.8.0/24"]
        return answers, gave_way, first, held, server.app._room

    answers, gave_way, first, held, room = in_a_loop(crawl())
    assert answers == [(200, "a")] * 3 and first == 0
    assert set(gave_way) == {429} and held <= 10 * PART * REQUEST
    assert not room.held and not room._arriving


def test_an_address_alone_cannot_use_up_what_its_neighbourhood_may_hold():
    async def crawl():
        server = Server(most=10 * PART * REQUEST)
        async with server.crawling(*["8.8.8.8"] * 20 * PART) as tasks:
            held = server.app._room.held["8.8.8.8"]
            return held, sum(task.done() for task in tasks), await server.ask(b"a", host="8.8.8.9")

    held, refused, answer = in_a_loop(crawl())
    assert held <= 10 * REQUEST and refused == 20 * PART - held // REQUEST and answer == (200, "a")


@pytest.mark.parametrize(("net", "times"), [("2a00:1450:{:x}::1", AROUND), ("2a00:{:x}::1", ALL)])
def test_bodies_of_a_region_and_of_all_have_a_bound(net, times):
    """However many networks they are from; and one from elsewhere gets in."""

    async def crawl():
        server = Server(most=2 * PART * REQUEST)
        async with server.crawling(*(net.format(number) for number in range(1, 3 * PART * times + 1))):
            held = server.app._room.held[EVERYBODY]
            return held, await server.ask(b"a", host="8.8.8.8")

    held, answer = in_a_loop(crawl())
    assert PART * REQUEST < held <= times * 2 * PART * REQUEST and answer == (200, "a")


def test_whoever_has_few_does_not_give_way_to_whoever_has_many():
    async def crawl():
        server = Server(most=10 * PART * REQUEST)
        async with server.crawling("8.8.8.9", *[f"8.8.8.{one % 5}" for one in range(100)]) as tasks:
            return tasks[0].done(), sum(task.done() for task in tasks[1:])

    is_gone, refused = in_a_loop(crawl())
    assert not is_gone and refused > 100 - 10 * PART


def test_bytes_that_are_held_are_counted_until_their_turn():
    async def wait():
        server = Server(most=5 * PART * REQUEST)
        turns, goes_on = server.turns._shares, asyncio.Event()

        async def busy():
            async with turns.turn({"type": "http", "headers": [], "client": ("8.8.8.8", 1)}):
                await goes_on.wait()

        hogs = [asyncio.create_task(busy()) for _ in range(AT_ONCE)]
        waiting = [asyncio.create_task(server.ask(b"a" * 2 * REQUEST)) for _ in range(2)]
        for _ in range(50):
            await asyncio.sleep(0)
        held = server.app._room.held["8.8.8.8"]
        refused = await server.ask(b"a" * 2 * REQUEST)
        goes_on.set()
        answers = await asyncio.gather(*waiting)
        await asyncio.gather(*hogs)
        return held, refused[0], [status for status, _ in answers], server.app._room.held

    held, refused, answers, after = in_a_loop(wait())
    assert (held, refused, answers) == (4 * REQUEST, 429, [200, 200]) and not after


def test_a_body_that_does_not_come_in_time_is_refused():
    server = Server(seconds=0.05)
    status, text = in_a_loop(server.ask(b"a", size=2))
    assert status == 408 and TOO_SLOW in text and not server.app._room.held and not server.reached


def test_whoever_leaves_before_the_body_is_whole_is_not_answered():
    server = Server()
    assert in_a_loop(server.ask(b"a", size=2, leaves=True)) is None
    assert not server.app._room.held and not server.reached


def test_uploads_and_what_is_too_large_are_not_waited_for():
    """They have limits of their own, which see the request before its body."""

    async def read(scope, receive, send):
        reached.append(scope["path"])

    async def ask():
        server = Server()
        server.app._app = read
        await server.ask(b"a", size=2, path=UPLOAD)
        await server.ask(b"a", size=largest_event(PUBLIC) + 1)

    reached: list[str] = []
    in_a_loop(ask())
    assert reached == [UPLOAD, "/"]
