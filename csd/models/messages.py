"""What the user is told while models load: progress in sentences, and errors cut to one line."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str], None]
"""Receives a sentence about what is happening now."""


def ignore(sentence: str) -> None:
    """A `Progress` that shows nothing."""


def without_frames(error: Exception) -> Exception:
    """The same error, to be kept: its traceback and causes would keep alive the tensors of their frames."""
    error.__traceback__ = error.__cause__ = error.__context__ = None
    return error


def first_line(error: BaseException) -> str:
    """The first line of an error's message, at most 300 characters; the error's type if it has no message."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300]
