"""Python's garbage collector stands still until the page is there."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Nearly everything that an import or the page makes stays, so nothing of it is searched for garbage: not at the
    start, a fifth of which that took, nor later, such as in the middle of a race."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
