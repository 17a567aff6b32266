"""Visitors whose files are being opened. Files take turns; where that would be long, a sentence says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from csd.decoding.errors import Refusal

MOST = 6  # files that are opened or wait for their turn; the longest valid race takes seconds
YOURS = "Your last file is still being opened. Wait for it, then open the next one."
MANY = "Many files are being opened at the moment. Try again in a minute."


class Openings:
    """One file per visitor, and few in all. For calls from one thread, which is that of the server's event loop."""

    def __init__(self, most: int = MOST):
        self._most = most
        self._visitors: set[str] = set()

    @contextmanager
    def admit(self, visitor: str) -> Iterator[None]:
        """While this visitor's file waits and is opened. Raises Refusal with a sentence."""
        if visitor in self._visitors:
            raise Refusal(YOURS)
        if len(self._visitors) >= self._most:
            raise Refusal(MANY)
        self._visitors.add(visitor)
        try:
            yield
        finally:
            self._visitors.discard(visitor)
