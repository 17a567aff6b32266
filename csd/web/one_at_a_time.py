"""Handlers that compute for a while: however many visitors call one, the server goes on answering."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def one_at_a_time(handler: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """The handler in one thread at a time. Calls wait without a thread: all of Gradio's 40 threads, computing, would
    leave the server little of Python's lock."""
    turn = asyncio.Semaphore(1)

    @wraps(handler)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        async with turn:
            return await asyncio.to_thread(handler, *args, **kwargs)

    return run
