"""How many heaps the C library keeps for the threads of the page."""

from __future__ import annotations

import ctypes
import os

MOST = 2
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
