"""The paper's K: how far each drafter writes. Cumulative at the boundary, increments (budgets) everywhere inside.

Row 0 belongs to the target, row i + 1 to draft i; a column for each draft, strongest first, and one for Max-Gram. Entry
K[r][c] is the position up to which drafter c writes for reviewer r; `Budgets` hold the tokens that it adds.
"""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

from csd.decoding.errors import Refusal
from csd.ranges import ENTRY, LONGEST_DRAFT, quote, shorten
from csd.sentences import counted

LONGEST = 4000  # characters of K as text

Matrix = tuple[tuple[int, ...], ...]
"""K as in the paper, cumulative along each row."""
Budgets = tuple[tuple[int, ...], ...]
"""The same with increments: tokens that each stage adds."""


def parse_K(text: str) -> Matrix:
    """K from text such as [[2,6,10],[0,4,8],[0,0,8]]. Raises Refusal where it is not a list of lists."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        return tuple(tuple(row) for row in json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        found = repr(shorten(text, 80))
        raise Refusal(
            f"K must be a list of rows, such as [[4,6],[0,4]] for one small model and the copier; "
            f"this could not be read: {found}."
        ) from error


def format_K(K: Any) -> str:
    """K as text without spaces, as `parse_K` reads it."""
    return json.dumps([list(row) for row in K], separators=(",", ":"))


def check_K(K: Any, drafts: int) -> Matrix:
    """K if it is the paper's: (drafts + 1) square, upper triangular, cumulative along each row. Raises Refusal."""
    n = drafts + 1
    if not _is_square(K, n):
        rows = "1 row with 1 number" if n == 1 else f"{n} rows of {n} numbers"
        called = f"{counted(drafts, 'small model')} and the copier"
        raise Refusal(f"K must have {rows}: {called}. Example: {format_K(example_K(drafts))}.")
    for r, row in enumerate(K):
        if not all(entry in ENTRY for entry in row):
            raise Refusal(f"K holds whole numbers from 0 to {LONGEST_DRAFT}; row {r + 1} is {quote(list(row))}.")
        if any(row[:r]):
            raise Refusal(f"K is upper triangular: row {r + 1} must begin with {r} zeros, but is {list(row)}.")
        if any(a > b for a, b in zip(row[r:], row[r + 1 :])):
            raise Refusal(
                f"K is cumulative: in row {r + 1} every number must be at least the one before it, but the row is "
                f"{list(row)}."
            )
    if K[0][-1] < 1:
        raise Refusal("The first row of K is all zeros, so nothing would be drafted. Use autoregressive for that.")
    return tuple(tuple(row) for row in K)


def example_K(drafts: int) -> Matrix:
    """A K in the spirit of the paper's settings, for any number of drafts."""
    n = drafts + 1
    rows = [[0] * r + [min(LONGEST_DRAFT, (5 if r == 0 else 1) * (c - r + 1)) for c in range(r, n)] for r in range(n)]
    return tuple((*row[:-1], max([10, *row[:-1]])) for row in rows)


def to_budgets(K: Matrix) -> Budgets:
    """Increments along each row of a checked K."""
    return tuple(
        tuple(entry - row[c - 1] if c > r else entry for c, entry in enumerate(row)) for r, row in enumerate(K)
    )


def from_budgets(budgets: Budgets) -> Matrix:
    """The paper's cumulative K."""
    return tuple((0,) * r + tuple(accumulate(row[r:])) for r, row in enumerate(budgets))


def _is_square(K: Any, n: int) -> bool:
    rows = isinstance(K, (tuple, list)) and len(K) == n
    return rows and all(isinstance(row, (tuple, list)) and len(row) == n for row in K)
