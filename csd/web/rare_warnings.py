"""Lines of the log that strangers can bring about at will, at most once a minute each."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from csd.web import log_faults

SERVER = ("uvicorn.error", "asyncio")  # the logs of a server: requests that are none, and clients that have left
# Those of the server of MCP, a part of whose lines goes to the root.
AGENTS = ("mcp.server.lowlevel.server", "mcp.server.streamable_http", "mcp.server.streamable_http_manager", "")
SECONDS = 60.0  # between two lines of the same kind
MOST = 100  # kinds of lines that are told apart


@dataclass(frozen=True)
class _Kind:
    let_through: float  # when
    text: str
    left_out: int = 0  # since then


class OncePerMinute(logging.Filter):
    """Lets a warning through unless one of its kind was logged less than a minute ago, and tells how many were left out
    since. Its kind is its text before anything is put into it. What is above `level` passes."""

    def __init__(self, level: int = logging.WARNING, clock: Callable[[], float] = time.monotonic):
        super().__init__()
        self._level, self._clock = level, clock
        self._kinds: dict[str, _Kind] = {}  # the latest to be let through is last

    def filter(self, record: logging.LogRecord) -> bool:
        if not logging.WARNING <= record.levelno <= self._level:
            return True
        name, now = str(record.msg), self._clock()
        kind = self._kinds.get(name)
        if kind is not None and now - kind.let_through < SECONDS:
            self._kinds[name] = replace(kind, left_out=kind.left_out + 1)
            return False
        forgotten = [self._kinds.pop(name)] if kind else []
        if len(self._kinds) >= MOST:
            forgotten.append(self._kinds.pop(next(iter(self._kinds))))
        self._kinds[name] = _Kind(now, record.getMessage())
        if said := " ".join(_tell(one, one is kind) for one in forgotten if one.left_out):
            record.msg, record.args = f"{record.getMessage()} ({said})", ()
        return True

    def tell_rest(self, log: logging.Logger) -> None:
        """Of which lines some were left out that nothing has told yet."""
        for name, kind in [*self._kinds.items()]:
            if kind.left_out:
                self._kinds[name] = replace(kind, left_out=0)
                log.warning(_tell(kind, False))


class WithoutWords(logging.Filter):
    """Leaves out of the lines on agents' messages what the agents wrote, which makes each a kind of its own."""

    def filter(self, record: logging.LogRecord) -> bool:
        if "mcp" in Path(record.pathname).parts:
            record.msg, record.args = str(record.msg).split(":")[0], ()
        return True


def _tell(kind: _Kind, is_this: bool) -> str:
    which = "the last such line" if is_this else f"the last line “{kind.text}”"
    return f"{kind.left_out} more since {which}."


def thin_out_warnings() -> None:
    """From now on strangers do not fill the log with requests that are none, or that the page does not send. A fault
    that they repeat is counted as well, of this project or below it."""
    for log in AGENTS:
        logging.getLogger(log).addFilter(WithoutWords())
    for log in (*SERVER, *AGENTS, log_faults.__name__):
        rare = OncePerMinute(logging.ERROR)
        logging.getLogger(log).addFilter(rare)
        atexit.register(rare.tell_rest, logging.getLogger(log))
