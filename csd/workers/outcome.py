"""How a call of a worker has ended, in a form that any process can read: the class of an error may need torch."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from csd.decoding.errors import Refusal

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """Well, with a sentence for the visitor and the field that it is about, or with an unexpected error: its name and
    its text."""

    refusal: str = ""
    error: tuple[str, str] | None = None
    field: str = ""

    def check(self) -> None:
        """Raises Refusal, or an error with the name and the text of the worker's."""
        if self.refusal:
            raise Refusal(self.refusal, self.field)
        if self.error:
            name, text = self.error
            raise type(name, (RuntimeError,), {})(text)


def outcome_of(call: Callable[[], None], what: str) -> Outcome:
    """Call, and say how it ended; `what` names it in the log."""
    try:
        call()
    except Refusal as refusal:
        return Outcome(refusal=str(refusal), field=refusal.field)
    except Exception as error:
        log.exception("%s", what)
        return Outcome(error=(type(error).__name__, str(error)))
    return Outcome()
