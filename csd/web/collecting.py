"""Pauses garbage collection while very many objects come to be."""

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


@contextmanager
def collecting_later() -> Iterator[None]:
    """Pauses garbage collection while a file is opened. Its parts are up to a million objects that die together, and
    each search among them holds Python's lock for a quarter of a second. Must not be entered twice at once."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect(1)  # what was left by others in the meantime
