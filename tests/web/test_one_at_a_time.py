"""Handlers of which many calls take one thread."""

from __future__ import annotations

import asyncio
import threading

from in_a_loop import in_a_loop

from csd.web.one_at_a_time import one_at_a_time


def test_calls_take_turns_and_all_are_answered():
    running = most = 0
    lock = threading.Lock()

    def square(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.002)
        with lock:
            running -= 1
        return number**2

    async def many() -> list[int]:
        run = one_at_a_time(square)
        return await asyncio.gather(*(run(number) for number in range(20)))

    assert in_a_loop(many()) == [number**2 for number in range(20)]
    assert most == 1


def test_a_rest_as_long_as_a_call_follows_it():
    """A flood of calls leaves half of the time to races."""

    async def ask() -> float:
        run = one_at_a_time(lambda: threading.Event().wait(0.1))
        await run()
        ended = asyncio.get_running_loop().time()
        await run()
        return asyncio.get_running_loop().time() - ended

    assert in_a_loop(ask()) >= 0.19
