"""Reads the fields of a form one after another, and tells all that are wrong in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from csd.decoding.errors import Refusal
from csd.sentences import counted

T = TypeVar("T")


@dataclass(frozen=True)
class FieldReader:
    """`refusals` are of the fields that were read and that count, in their order: those that the race uses, and if
    `strict` all that are not empty."""

    form: Any
    strict: bool
    refusals: list[Refusal] = field(default_factory=list)

    def read(self, name: str, read: Callable[[Any], T], otherwise: T, is_used: bool = True) -> T:
        """A field as `read` has it, or `otherwise` where that raises Refusal."""
        value = getattr(self.form, name)
        try:
            return read(value)
        except Refusal as refusal:
            if is_used or (self.strict and value not in (None, "")):
                self.refusals.append(Refusal(str(refusal), name))
            return otherwise

    def check(self) -> None:
        """Raise the first refusal, with the number of the others."""
        if not self.refusals:
            return
        first, *others = self.refusals
        verb = "needs" if len(others) == 1 else "need"
        more = f" {counted(len(others), 'more setting')} {verb} a change." if others else ""
        raise Refusal(f"{first}{more}", first.field)
