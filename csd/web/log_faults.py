"""What the log says of a request that failed: a traceback where the code is at fault, one line where the request is.

Gradio prints a traceback for every request that does not fit its event, so strangers could flood the log.
"""

from __future__ import annotations

import logging
import re
import sys
import warnings
from pathlib import Path
from traceback import walk_tb
from types import SimpleNamespace
from typing import Any

from gradio import queueing, routes

from csd.ranges import quote
from csd.web.linked_races import NAME

SERVER = ("gradio.", "starlette.routing")  # below their frames are those of whatever answers a request

log = logging.getLogger(__name__)


MIDDLEWARE = "csd.web.paced"  # steps in between, with every request


def log_fault(error: BaseException) -> None:
    """One line, and the traceback if the error came from this project's code. What is not put in later says which fault
    it is, so that `OncePerMinute` tells faults apart. Values that are nested too deep are the request's fault: their
    tracebacks have thousands of lines, and they are noticed anywhere."""
    is_nested = isinstance(error, RecursionError)
    which = type(error).__name__ if is_nested else f"{type(error).__name__} at {_place(error)}"
    text = quote(without_names(str(error)))
    if _is_ours(error) and not is_nested:
        log.error(f"answering a request: {which}: %s", text, exc_info=error)
    else:
        log.warning(f"a request that the page does not send: {which}: %s", text)


def replace_tracebacks() -> None:
    """Let Gradio report its errors by `log_fault`. It prints them with `traceback.print_exc` and has no setting."""
    for module in (routes, queueing):
        vars(module).update(traceback=SimpleNamespace(print_exc=_log_current))


def log_warnings() -> None:
    """Let Python's warnings, such as Gradio's of a choice that is none, be lines of this log."""
    warnings.showwarning = _log_warning


def without_names(text: str) -> str:
    """Without the names of races behind links: whoever knows one may open the race."""
    return re.sub(NAME.pattern, "…", text)


def _log_warning(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
    which = f"{category.__name__} at {Path(filename).name}:{lineno}"
    log.warning(f"{which}: %s", quote(without_names(str(message))))


def _log_current() -> None:
    error = sys.exc_info()[1]
    if error is not None:
        log_fault(error)


def _place(error: BaseException) -> str:
    """Where it was raised."""
    places = [f"{frame.f_globals.get('__name__', '')}:{line}" for frame, line in walk_tb(error.__traceback__)]
    return places[-1] if places else "unknown"


def _is_ours(error: BaseException) -> bool:
    """Whether a frame of this project is below one of the server; above it there is only middleware."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    inner = next((number for number, name in enumerate(names) if name.startswith(SERVER)), len(names))
    return any(name.startswith("csd.") and name != MIDDLEWARE for name in names[inner:])
