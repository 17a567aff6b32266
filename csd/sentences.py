"""How sentences are put together: a capital at the beginning, lists with "and", counted nouns."""

from __future__ import annotations

from collections.abc import Sequence


def capitalized(text: str) -> str:
    """The text with a capital at its beginning; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def listed(words: Sequence[str]) -> str:
    """Such as "one, two and three"; empty without words."""
    *first, last = words or ("",)
    return f"{', '.join(first)} and {last}" if first else last


def counted(count: int, noun: str) -> str:
    """Such as "1 token" or "2,048 tokens"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
