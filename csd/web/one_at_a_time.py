"""Handlers that compute for a while: their requests pay for it, and however many visitors call one, the server goes on
answering."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from csd.web.paced import pay

P = ParamSpec("P")
T = TypeVar("T")


def paid(handler: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """The handler in a thread, for which the request pays. Gradio's own threads pay nothing."""

    @wraps(handler)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        seconds = 0.0

        def work() -> T:
            nonlocal seconds
            began = time.thread_time()
            try:
                return handler(*args, **kwargs)
            finally:
                seconds = time.thread_time() - began

        try:
            return await asyncio.to_thread(work)
        finally:
            pay(seconds)

    return run


def one_at_a_time(handler: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """The same in one thread at a time, after which that one rests for as long as it took. Calls wait without a thread:
    all of Gradio's 40 threads, computing, would leave the server little of Python's lock, and one without a rest would
    leave a race half of it."""
    turn, run_paid = asyncio.Semaphore(1), paid(handler)

    @wraps(handler)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        await turn.acquire()
        began = time.monotonic()
        try:
            return await run_paid(*args, **kwargs)
        finally:
            asyncio.get_running_loop().call_later(time.monotonic() - began, turn.release)

    return run
