"""Warnings of the server that strangers can bring about at will, at most once a minute each."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

SERVER = ("uvicorn.error", "asyncio")  # the logs of a server: requests that are none, and clients that have left
SECONDS = 60.0  # between two lines of the same warning
MOST = 100  # kinds of warnings that are told apart


class OncePerMinute(logging.Filter):
    """Lets a warning through unless it was logged less than a minute ago, and tells how many were left out since."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        super().__init__()
        self._clock = clock
        self._last: dict[str, tuple[float, int]] = {}  # when it was let through, and how many were left out since

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        kind, now = str(record.msg), self._clock()
        then, count = self._last.get(kind, (now - SECONDS, 0))
        if now - then < SECONDS:
            self._last[kind] = then, count + 1
            return False
        if len(self._last) >= MOST:
            self._last.clear()
        self._last[kind] = now, 0
        if count:
            record.msg = f"{record.getMessage()} ({count} more since the last such line.)"
            record.args = ()
        return True


def thin_out_warnings() -> None:
    """From now on strangers do not fill the log with requests that are none."""
    for name in SERVER:
        logging.getLogger(name).addFilter(OncePerMinute())
