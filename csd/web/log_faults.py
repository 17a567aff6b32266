"""What the log says of a request that failed: a traceback where the code is at fault, one line where the request is.

Gradio prints a traceback for every request that does not fit its event, so strangers could flood the log.
"""

from __future__ import annotations

import logging
import sys
from traceback import walk_tb
from types import SimpleNamespace

from gradio import queueing, routes

from csd.ranges import quote

SERVER = ("gradio.", "starlette.routing")  # below their frames are those of whatever answers a request

log = logging.getLogger(__name__)


def log_fault(error: BaseException) -> None:
    """One line, and the traceback if the error came from this project's code."""
    line = f"{type(error).__name__}: {quote(str(error))}"
    if _is_ours(error):
        log.error("answering a request: %s", line, exc_info=error)
    else:
        log.warning("a request that the page does not send: %s", line)


def replace_tracebacks() -> None:
    """Let Gradio report its errors by `log_fault`. It prints them with `traceback.print_exc` and has no setting."""
    for module in (routes, queueing):
        vars(module).update(traceback=SimpleNamespace(print_exc=_log_current))


def _log_current() -> None:
    error = sys.exc_info()[1]
    if error is not None:
        log_fault(error)


def _is_ours(error: BaseException) -> bool:
    """Whether a frame of this project is below one of the server; above it there is only middleware."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    inner = next((number for number, name in enumerate(names) if name.startswith(SERVER)), len(names))
    return any(name.startswith("csd.") for name in names[inner:])
