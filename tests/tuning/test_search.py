"""The search over budgets."""

from __future__ import annotations

from toy import DRAFTS

from csd.decoding.k_matrix import check_K, from_budgets
from csd.decoding.methods import Cascade
from csd.tuning import search
from csd.tuning.search import climb, neighbours, search_budgets, starting_points

BUDGETS = ((4, 2, 4), (0, 2, 2), (0, 0, 3))


def test_neighbours_differ_in_one_budget_and_are_the_papers():
    found = list(neighbours(BUDGETS))
    assert ((5, 2, 4), (0, 2, 2), (0, 0, 3)) in found and ((0, 2, 4), (0, 2, 2), (0, 0, 3)) in found
    for near in found:
        assert sum(a != b for row, other in zip(near, BUDGETS) for a, b in zip(row, other)) == 1
        Cascade(("draft-3", "draft-2"), from_budgets(near)).check(DRAFTS)


def test_neighbours_keep_a_draft_and_stay_within_the_longest_one():
    assert ((0,),) not in neighbours(((1,),))
    assert list(neighbours(((64,),))) == [((63,),), ((62,),), ((60,),)]


def test_starting_points_are_max_gram_alone_and_each_draft():
    found = list(starting_points([7, 5]))
    assert found == [
        ((0, 0, 8), (0, 0, 0), (0, 0, 0)),
        ((7, 0, 2), (0, 0, 3), (0, 0, 0)),
        ((7, 0, 2), (0, 4, 3), (0, 0, 2)),
        ((0, 5, 2), (0, 0, 0), (0, 0, 3)),
    ]
    for budgets in found:
        check_K(from_budgets(budgets), 2)
    assert list(starting_points([])) == [((8,),)]


def test_climbing_ends_at_the_top_and_scores_nothing_twice():
    scored = []

    def score(budgets):
        scored.append(budgets)
        return 100.0 - abs(budgets[0][0] - 20) - abs(budgets[0][1] - 3)

    known = {}
    top = climb(((1, 1), (0, 0)), score, known)
    assert top[0] == (20, 3) and len(scored) == len(set(scored)) == len(known)
    assert climb(top, score, known) == top and len(scored) == len(known)


def test_each_climb_scores_a_limited_number_of_new_budgets(monkeypatch):
    monkeypatch.setattr(search, "MOST_SCORED", 5)
    scored = []
    found = search_budgets({"a": 4}, lambda budgets: scored.append(budgets) or float(sum(map(sum, budgets))))
    assert len(found) == 2 and len(scored) == len(set(scored)) <= 10
