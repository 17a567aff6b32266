"""Hill climbing over the budgets of a cascade.

Row 0 belongs to the target, row i + 1 to draft i; there is a column for each draft and one for Max-Gram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile

from csd.decoding.k_matrix import Budgets
from csd.ranges import LONGEST_DRAFT

STEPS = (1, -1, 2, -2, 4, -4)  # by which one budget is changed
MOST_SCORED = 120  # budgets that are scored at most from one starting point
GAIN = 1.001  # a neighbour counts as better from this ratio on

Score = Callable[[Budgets], float]
"""How good budgets are; higher is better."""


def search_budgets(draft_lengths: Mapping[str, int], score: Score) -> list[Budgets]:
    """The best budgets found from each starting point.

    `draft_lengths` holds the best k of speculative decoding with each draft, strongest first. Nothing is scored twice.
    """
    known: dict[Budgets, float] = {}
    return [climb(start, score, known) for start in starting_points(list(draft_lengths.values()))]


def climb(start: Budgets, score: Score, known: dict[Budgets, float]) -> Budgets:
    """Move to the first better neighbour until there is none or too many have been scored. `known` collects scores."""
    limit = len(known) + MOST_SCORED

    def value(budgets: Budgets) -> float:
        if budgets not in known:
            known[budgets] = score(budgets)
        return known[budgets]

    best, least = start, value(start) * GAIN
    while True:
        affordable = takewhile(lambda _: len(known) < limit, neighbours(best))
        better = next((near for near in affordable if value(near) > least), None)
        if better is None:
            return best
        best, least = better, value(better) * GAIN


def starting_points(draft_lengths: Sequence[int]) -> Iterator[Budgets]:
    """Max-Gram alone; then for each draft: the draft reviewing Max-Gram, then also reviewing the next weaker draft.

    `draft_lengths` are the tokens that the target asks of each draft. The other numbers are small
    and grow in the search.
    """
    drafts = len(draft_lengths)
    copies = drafts  # the column of Max-Gram
    yield _budgets(drafts, {(0, copies): 8})
    for draft, k in enumerate(draft_lengths):
        row = draft + 1
        top = {(0, draft): k, (0, copies): 2, (row, copies): 3}
        yield _budgets(drafts, top)
        if row < drafts:
            yield _budgets(drafts, {**top, (row, row): 4, (row + 1, copies): 2})


def neighbours(budgets: Budgets) -> Iterator[Budgets]:
    """The same budgets with one entry changed by a step or removed, from the target's row downwards."""
    for r, row in enumerate(budgets):
        for c in range(r, len(row)):
            for step in (*STEPS, -row[c]):
                changed = (*row[:c], max(0, row[c] + step), *row[c + 1 :])
                near = (*budgets[:r], changed, *budgets[r + 1 :])
                if near != budgets and sum(near[0]) and sum(changed) <= LONGEST_DRAFT:
                    yield near


def _budgets(drafts: int, entries: Mapping[tuple[int, int], int]) -> Budgets:
    """Budgets for so many drafts and Max-Gram: these entries, and zeros."""
    size = range(drafts + 1)
    return tuple(tuple(entries.get((r, c), 0) for c in size) for r in size)
