"""Files of visitors: one at a time each, few in all, and those first from where least was opened."""

from __future__ import annotations

import asyncio
import gc

import pytest
from in_a_loop import in_a_loop

from csd.decoding.errors import Refusal
from csd.web.collecting import collecting_later
from csd.web.openings import Openings


class Desk:
    """Opens files that end when the test says, on a clock of its own, and notes in which order."""

    def __init__(self, **limits):
        self.now = 0.0
        self.openings = Openings(clock=lambda: self.now, rest=0.0, **limits)
        self.opened: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: list[asyncio.Task[str]] = []

    async def _open(self, visitor: str, network: str) -> str:
        end = self.ends.setdefault(visitor, asyncio.Event())
        try:
            async with self.openings.turn(visitor, network):
                self.opened.append(visitor)
                await end.wait()
            return "opened"
        except Refusal as refusal:
            return str(refusal)

    async def ask(self, visitor: str, network: str) -> asyncio.Task[str]:
        task = asyncio.create_task(self._open(visitor, network))
        self.tasks.append(task)
        await asyncio.sleep(0)
        return task

    async def end(self, visitor: str, seconds: float = 1.0) -> None:
        self.now += seconds
        self.ends[visitor].set()
        await asyncio.sleep(0.01)

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def test_a_visitor_has_one_file_opened_and_one_address_few():
    async def ask():
        desk = Desk(most_here=2)
        await desk.ask("one", "8.8.8.8")
        again = await (await desk.ask("one", "8.8.8.8"))
        await desk.ask("two", "8.8.8.8")
        third = await (await desk.ask("three", "8.8.8.8"))
        await desk.end("one")
        await desk.ask("three", "8.8.8.8")
        await desk.end("two")
        opened = [*desk.opened]
        await desk.close()
        return again, third, opened

    again, third, opened = in_a_loop(ask())
    assert "still being opened" in again and "from your network" in third
    assert opened == ["one", "two", "three"], "one after the other"


def test_who_has_had_nothing_opened_goes_before_who_opens_again_and_again():
    """Eight networks that opened long races again and again had kept all others out."""

    async def ask():
        desk = Desk()
        networks = [f"{number}.0.0.0/24" for number in range(20, 28)]
        for network in networks:
            await desk.ask(f"first of {network}", network)
        for network in networks:
            await desk.end(f"first of {network}")
            await desk.ask(f"second of {network}", network)
        await desk.ask("innocent", "9.9.9.0/24")
        await desk.end(f"second of {networks[0]}")
        opened = desk.opened[-1]
        await desk.close()
        return opened

    assert in_a_loop(ask()) == "innocent"


def test_a_small_file_goes_before_large_ones():
    async def ask():
        openings, opened = Openings(rest=0.0), []

        async def open_file(visitor, network, size):
            async with openings.turn(visitor, network, size):
                opened.append(visitor)
                await asyncio.sleep(0.001)

        files = [(f"large {number}", f"{20 + number}.0.0.0/24", 7_500_000) for number in range(3)]
        await asyncio.gather(*(open_file(*file) for file in (*files, ("small", "9.9.9.0/24", 100_000))))
        return opened

    assert in_a_loop(ask()) == ["large 0", "small", "large 1", "large 2"]


def test_where_all_places_are_taken_one_of_the_region_with_most_gives_way():
    async def ask():
        desk = Desk(most=4, most_here=3)
        for number in range(3):
            await desk.ask(f"crowd {number}", f"20.0.{number}.0/24")
        await desk.ask("alone", "30.0.0.0/24")
        newcomer = await desk.ask("newcomer", "9.9.9.0/24")
        pushed = await desk.tasks[2]
        refused = await (await desk.ask("more of the crowd", "20.0.9.0/24"))
        await desk.end("crowd 0")
        await desk.end("alone")
        opened = [*desk.opened]
        await desk.end("newcomer")
        told = await newcomer
        await desk.close()
        return pushed, refused, opened, told

    pushed, refused, opened, told = in_a_loop(ask())
    assert pushed == refused and pushed.startswith("Many files")
    assert opened == ["crowd 0", "alone", "newcomer"] and told == "opened"


def test_a_file_that_fails_or_is_given_up_gives_its_turn_back():
    async def ask():
        openings = Openings(most=2)
        with pytest.raises(ZeroDivisionError):
            async with openings.turn("one", "10.0.0.1"):
                raise ZeroDivisionError

        async def open_and_wait(visitor):
            async with openings.turn(visitor, "10.0.0.1"):
                await asyncio.Event().wait()

        for given_up in (2, 1):  # while another is opened, and just when it was called
            tasks = [asyncio.create_task(open_and_wait(visitor)) for visitor in ("two", "three")][:given_up]
            await asyncio.sleep(0.01 if given_up == 2 else 0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(5), openings.turn("four", "10.0.0.1"):
            return "opened"

    assert in_a_loop(ask()) == "opened"


def test_a_rest_follows_in_which_others_have_the_server():
    async def ask():
        openings = Openings()
        loop = asyncio.get_running_loop()
        async with openings.turn("one", "10.0.0.1"):
            await asyncio.sleep(0.1)
        ended = loop.time()
        async with openings.turn("one", "10.0.0.1"):
            return loop.time() - ended

    assert in_a_loop(ask()) >= 0.09


def test_no_garbage_is_searched_for_while_a_file_is_opened():
    with collecting_later():
        assert not gc.isenabled()
    assert gc.isenabled()
