"""A table of words and figures, before it is written to a terminal, a page or a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A title, the heads of the columns, rows of cells, and a note on what the figures mean."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
