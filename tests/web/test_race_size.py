"""What a race is expected to cost, from the fields that ask for it."""

from __future__ import annotations

import math

import pytest

from csd.decoding.methods import METHODS, Knobs
from csd.request.defaults import PAPER_K
from csd.request.request import Request
from csd.web.compare import BY_KIND
from csd.web.race_size import BEGINNING, MOST_WEIGHT, plan_weight, race_size, request_size


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ({"lanes": ["a", "b"], "max-new": 64}, 128),
        ({"methods": ["a"], "max_new": 64}, 64),
        ({"lanes": [], "max-new": 64}, 64),
        ({"lanes": ["a"] * 10**4, "max-new": 64}, 1200),
        ({"lanes": ["a"], "max-new": 64, "compare-what": "plans"}, 1200),
        ({"lanes": ["a"], "max-new": 64, "compare-what": BY_KIND}, 64),
        ({"lanes": ["a"], "max-new": math.nan}, 1200),
        ({"lanes": ["a"], "max-new": -5}, 1200),
        ({"lanes": ["a"], "max-new": 10**9}, 1200),
        ({"lanes": "abc", "max-new": "many"}, 1200),
        ({}, 1200),
        *(({"methods": ["cascade"], "max_new": 64, "K": K}, 64) for K in ("[]", "{}", "", [], {}, "[[]]", None)),
        *(({"methods": ["speculative"], "max_new": 64, "k": k}, 64) for k in (-(10**400), 10**400, 0, math.nan)),
    ],
)
def test_what_is_unclear_counts_as_the_largest_race(asked, size):
    assert race_size(asked, 1200) == size + BEGINNING


def test_a_plan_that_no_page_runs_counts_for_no_more_than_the_longest_that_one_does():
    """It would keep its network first in line for as long as it waits."""
    K = [[64 * (row + 1)] * 5 for row in range(5)]
    size = race_size({"methods": ["cascade"], "max_new": 64, "K": "[[64,64,64],[0,64,64],[0,0,64]]"}, 1200)
    assert size == MOST_WEIGHT * 64 + BEGINNING
    assert plan_weight(K) <= MOST_WEIGHT
    assert race_size({"methods": ["speculative"], "max_new": 64, "k": 999}, 1200) == MOST_WEIGHT * 64 + BEGINNING


def test_a_token_of_a_plan_with_many_rounds_counts_for_many_tokens():
    """About 490 rounds of drafts for a block, against 24 with the paper's K."""
    asked = {"methods": ["cascade"], "max_new": 64}
    heavy = "[[22,22,22],[0,21,21],[0,0,0]]"
    assert race_size({**asked, "K": heavy}, 1200) > 15 * 64 + BEGINNING
    assert race_size({**asked, "K": [[22, 22, 22], [0, 21, 21], [0, 0, 0]]}, 1200) > 15 * 64 + BEGINNING
    for K in PAPER_K.values():
        assert race_size({**asked, "K": [list(row) for row in K]}, 1200) == 64 + BEGINNING


def test_long_drafts_of_speculative_decoding_count_and_a_plan_only_where_a_lane_has_it():
    asked = {"max_new": 100, "K": "[[22,22,22],[0,21,21],[0,0,0]]"}
    assert race_size({**asked, "methods": ["speculative"], "k": 7}, 1200) == 100 + BEGINNING
    assert race_size({**asked, "methods": ["speculative"], "k": 75}, 1200) == 300 + BEGINNING
    assert race_size({**asked, "methods": ["autoregressive", "speculative"], "k": 75}, 1200) == 2 * 200 + BEGINNING
    for k in (math.nan, 10**30, "7", None, [7]):
        assert race_size({**asked, "methods": ["speculative"], "k": k}, 1200) == 100 + BEGINNING


@pytest.mark.parametrize("K", [None, "", "[[", 5, [[5, "a"], [0, 1]], [[1] * 40] * 40, math.nan, {"a": object()}])
def test_a_plan_that_cannot_be_read_weighs_as_usual(K):
    assert plan_weight(K) == 1.0


def test_the_next_race_of_a_comparison_has_the_size_that_it_would_have_alone():
    knobs = Knobs(k=75, K=((22, 22, 22), (0, 21, 21), (0, 0, 0)))
    for name in ("autoregressive", "speculative", "cascade"):
        request = Request("A fox", (METHODS[name].from_knobs(knobs),), max_new=40)
        asked = {"methods": [name], "max_new": 40, "k": knobs.k, "K": [list(row) for row in knobs.K]}
        assert request_size(request, 1200) == race_size(asked, 1200)
