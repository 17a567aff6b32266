"""Pauses garbage collection while the page is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Imports and the page create objects that nearly all live as long as the program, so searching them for garbage
    only costs time: a fifth of the start. `gc.freeze` exempts them from later collections too."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
