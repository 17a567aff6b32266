"""Handlers that compute for a while: however many visitors call one, the server goes on answering."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from csd.web.paced import pay

P = ParamSpec("P")
T = TypeVar("T")


def one_at_a_time(handler: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """The handler in one thread at a time, for which the request pays. Calls wait without a thread: all of Gradio's 40
    threads, computing, would leave the server little of Python's lock."""
    turn = asyncio.Semaphore(1)

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

        async with turn:
            try:
                return await asyncio.to_thread(work)
            finally:
                pay(seconds)

    return run
