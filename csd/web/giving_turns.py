"""Handlers of several races, which give way to races of others between them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, cast

import gradio as gr
from gradio.context import LocalContext
from starlette.concurrency import run_in_threadpool

from csd.web.lent_places import LentPlace


@dataclass(frozen=True)
class Pause:
    """Between two races: what the page shows if others go first, how large the next race is, and whether the visitor
    has stopped."""

    shown: Any
    size: float
    stopped: Callable[[], bool]


Handler = Callable[[Any, gr.Request], Iterator[Any]]
"""Yields what the page shows, and `Pause` between two races."""


def giving_way(handler: Handler) -> Callable[[Any, gr.Request], AsyncIterator[Any]]:
    """The handler in threads, as Gradio runs it. It waits without one: there are 40 for all that the page does."""

    @wraps(handler)
    async def run(values: Any, request: gr.Request) -> AsyncIterator[Any]:
        steps = cast("Generator[Any]", handler(values, request))
        try:
            while (step := await run_in_threadpool(next, steps, None)) is not None:
                if not isinstance(step, Pause):
                    yield step
                elif (place := _lend(step.size)) is not None:
                    try:
                        yield step.shown
                        if not await place.wait(step.stopped):
                            return
                    finally:
                        place.take_back()
        finally:
            with suppress(ValueError):  # its thread is still at work, where the server ends
                steps.close()

    return run


def _lend(size: float) -> LentPlace | None:
    """Without Gradio's queue, or one in a fair order, there is nobody to give way to."""
    blocks: Any = LocalContext.blocks.get(None)
    races = getattr(blocks and blocks._queue, "fair_races", None)
    return races and races.lend(LocalContext.event_id.get(None), size)
