"""Answers that repeat half of a surrogate pair, which a program may send in any text but which cannot be written.
Gradio would break the answer off, whatever sentence it had for it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from gradio import routes

from csd.record.untrusted import mend_surrogates

orjson: Any = vars(routes)["orjson"]  # Gradio's


def answer_in_characters() -> None:
    """From now on Gradio writes a question mark for what is no character."""
    setattr(routes, "orjson", SimpleNamespace(**{**vars(orjson), "dumps": dumps}))  # noqa: B010


def dumps(value: Any, default: Callable[[Any], Any] | None = None, option: int | None = None) -> bytes:
    """As orjson does. Answers are searched only where it refuses one."""
    try:
        return orjson.dumps(value, default, option)
    except orjson.JSONEncodeError:
        return orjson.dumps(mended(value), default, option)


def mended(value: Any) -> Any:
    """The same, with whole characters in all of its texts."""
    if isinstance(value, str):
        return mend_surrogates(value)
    if isinstance(value, dict):
        return {mended(key): mended(one) for key, one in value.items()}
    return [*map(mended, value)] if isinstance(value, (list, tuple)) else value
