"""The exception for invalid input, and the check of numbers that raises it."""

from __future__ import annotations

from typing import Any

from csd.ranges import Range


class Refusal(ValueError):
    """A sentence for the person who asked: what was wrong, and what to do. `field` names the field of the form that it
    is about, if there is one."""

    def __init__(self, sentence: str, field: str = ""):
        super().__init__(sentence)
        self.field = field


class NotFinite(ArithmeticError):
    """A model's numbers are infinite or NaN, so that nothing can be chosen by them; a sentence that names the model."""


def check_number(allowed: Range, value: object) -> None:
    """Raise Refusal for a value outside a range."""
    if fault := allowed.fault(value):
        raise Refusal(f"{fault}.")


def read_number(allowed: Range, value: object) -> Any:
    """A field's value as its range takes it. Raises Refusal."""
    number = allowed.read(value)
    check_number(allowed, number)
    return number
