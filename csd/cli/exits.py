"""How a command ends: its exit codes, messages on standard error, refused input and Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import NoReturn

import typer

from csd.decoding.errors import Refusal
from csd.models.spec import FamilyError

DIFFERS, REFUSED, INTERRUPTED = 1, 2, 130


def say(sentence: str) -> None:
    """Print a message to standard error."""
    typer.echo(sentence, err=True)


def refuse(sentence: object) -> NoReturn:
    """Print what was wrong and what to do, and exit with code 2."""
    say(str(sentence))
    raise typer.Exit(REFUSED)


@contextmanager
def refusals() -> Iterator[None]:
    """Exit with the message of a Refusal or FamilyError that is raised inside."""
    try:
        yield
    except (Refusal, FamilyError) as error:
        refuse(error)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yields a function that returns True after the first Ctrl-C; the second one interrupts immediately."""
    pressed = Event()

    def press(signum: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
