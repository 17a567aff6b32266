"""How many heaps the C library keeps for the threads of the page, and how much of them it keeps for nothing."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from typing import Any

from csd.web.news import RaceStream, Watch

MOST = 2
EVERY = 60.0  # seconds between two times when free memory goes back
M_ARENA_MAX = -8  # in malloc.h


def share_heaps() -> bool:
    """Let all threads share two heaps from now on. False where that is set already, or where there is no glibc.

    glibc has a heap for each thread, up to eight for each core. Each race runs in a thread of its own, and requests in
    any of forty. The little that one of them leaves behind keeps its whole heap from shrinking, so memory would grow
    for as long as visitors come.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(M_ARENA_MAX, MOST))
    except (AttributeError, OSError, TypeError):
        return False


def give_back() -> bool:
    """Let the system have the free memory of all heaps. False where there is no glibc."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError, TypeError):
        return False


def giving_back(
    trim: Callable[[], object] = give_back, every: float = EVERY, clock: Callable[[], float] = time.monotonic
) -> Watch:
    """A watch that gives memory back after a race, where the last time is a while ago. During one it would take time.

    glibc itself gives back only what lies at the end of a heap, and something small always lies there.
    """
    last = clock()

    def watch(visitor: str, choice: Any, request: Any, news: RaceStream) -> RaceStream:
        nonlocal last
        try:
            yield from news
        finally:
            if clock() - last >= every:
                last = clock()
                trim()

    return watch
