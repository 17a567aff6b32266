"""Recipes by name: what is refused, and the trees they make."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import TableSession, table

from csd.decoding.acceptance import Greedy
from csd.decoding.combinators import Horizontal, Vertical, cascade
from csd.decoding.draft import Nothing
from csd.decoding.maxgram import Index, MaxGram
from csd.decoding.methods import (
    LONGEST_DRAFT,
    Method,
    Refusal,
    autoregressive,
    checked,
    checked_K,
    cs_drafting,
    example_K,
    horizontal,
    parsed_K,
    prompt_lookup,
    speculative,
    tree,
    used,
    vertical,
)

DRAFTS = ("mid", "small")
TABLE = table(3, 0)
SESSIONS = {name: TableSession(name, TABLE) for name in ("target", *DRAFTS)}
STRICT, INNER = Greedy(), Greedy(3.0)
INDEX = Index()
LEAF = MaxGram(INDEX, LONGEST_DRAFT)


def planted(method: Method) -> Vertical:
    return tree(checked(method, DRAFTS), SESSIONS, INDEX, None, STRICT, INNER)


def reviewer(name: str, *stages) -> Vertical:
    return Vertical(SESSIONS[name], Horizontal(stages), INNER)


def root(drafter) -> Vertical:
    return Vertical(SESSIONS["target"], drafter, STRICT)


WORKED = ((5, 19, 29), (0, 1, 11), (0, 0, 10))
SMALL_OVER_COPY = reviewer("small", (LEAF, 10))

TREES = {
    "autoregressive": (autoregressive(), root(Nothing())),
    "speculative": (
        speculative("small", 4),
        root(Horizontal(((Vertical(SESSIONS["small"], Nothing(), INNER), 4),))),
    ),
    "prompt lookup": (prompt_lookup(9), root(MaxGram(INDEX, 9))),
    # The official code writes increments, [[5,14,10],[0,1,10],[0,0,10]]; the paper's cumulative form is WORKED.
    "worked example": (
        cs_drafting(DRAFTS, WORKED),
        root(Horizontal(((reviewer("mid", (SMALL_OVER_COPY, 1), (LEAF, 10)), 5), (SMALL_OVER_COPY, 14), (LEAF, 10)))),
    ),
    "vertical": (
        vertical(DRAFTS, (6, 3, 4)),
        root(Horizontal(((reviewer("mid", (reviewer("small", (LEAF, 4)), 3)), 6),))),
    ),
    "horizontal": (
        horizontal(DRAFTS, (2, 6, 10)),
        root(Horizontal(((reviewer("mid"), 2), (reviewer("small"), 4), (LEAF, 4)))),
    ),
    "no drafts": (cs_drafting((), ((7,),)), root(Horizontal(((LEAF, 7),)))),
    "one draft": (cs_drafting(("small",), ((4, 4), (0, 8))), root(Horizontal(((reviewer("small", (LEAF, 8)), 4),)))),
}


@pytest.mark.parametrize("name", TREES)
def test_a_recipe_is_the_tree_that_one_would_write_by_hand(name):
    method, by_hand = TREES[name]
    assert planted(method) == by_hand


def test_the_worked_example_in_its_two_forms():
    code = ((5, 14, 10), (0, 1, 10), (0, 0, 10))
    assert tuple(tuple(sum(row[: i + 1]) if i >= r else 0 for i in range(3)) for r, row in enumerate(code)) == WORKED
    assert checked_K(WORKED, 2) == WORKED


def test_vertical_and_horizontal_are_a_diagonal_and_a_first_row():
    assert vertical(DRAFTS, (6, 3, 4)).K == ((6, 6, 6), (0, 3, 3), (0, 0, 4))
    assert horizontal(DRAFTS, (2, 6, 10)).K == ((2, 6, 10), (0, 0, 0), (0, 0, 0))
    assert cascade([], LEAF, ((0,),), INNER) == Horizontal(())


def test_a_method_knows_what_it_runs():
    assert autoregressive().models == ("target",) and not autoregressive().copies
    assert speculative("small", 3).models == ("small", "target") and not speculative("small", 3).copies
    assert prompt_lookup(3).models == ("target",) and prompt_lookup(3).copies
    assert cs_drafting(DRAFTS, WORKED).models == ("small", "mid", "target") and cs_drafting(DRAFTS, WORKED).copies


def test_titles():
    assert [method.title for method, _ in TREES.values()][:4] == [
        "autoregressive",
        "speculative, small, k=4",
        "prompt lookup, k=9",
        "cascade, K=[[5,19,29],[0,1,11],[0,0,10]]",
    ]
    assert vertical(("mid",), (3, 4), 2.5).title == "vertical cascade, K=[[3,3],[0,4]], l=2.5"
    assert horizontal(("mid",), (3, 4)).title == "horizontal cascade, K=[[3,4],[0,0]]"


@pytest.mark.parametrize(
    ("K", "drafts", "words"),
    [
        (((1, 2), (0, 1)), 2, "3 rows of 3 numbers"),
        (((1, 2, 3), (0, 1, 2)), 2, "3 rows of 3"),
        (((1, 2, 3), (0, 1), (0, 0, 1)), 2, "3 rows of 3"),
        (((1, 2),), 0, "1 row with 1 number"),
        ((1, 2), 1, "2 rows of 2"),
        (None, 1, "2 rows of 2"),
        ("ab", 1, "2 rows of 2"),
        (((1, 2), (3, 4)), 1, "row 2 must begin with 1 zeros"),
        (((3, 2), (0, 1)), 1, "cumulative"),
        (((1, 3, 2), (0, 1, 2), (0, 0, 1)), 2, "row 1 is"),
        (((1, 2, 3), (0, 2, 1), (0, 0, 1)), 2, "row 2 is"),
        (((-1, 2), (0, 1)), 1, "from 0 to 64"),
        (((1, 65), (0, 1)), 1, "from 0 to 64"),
        (((1, 2.0), (0, 1)), 1, "whole numbers"),
        (((1, True), (0, 1)), 1, "whole numbers"),
        (((1, "2"), (0, 1)), 1, "whole numbers"),
        (((0, 0), (0, 1)), 1, "nothing would be drafted"),
    ],
)
def test_a_K_that_cannot_be_is_refused(K, drafts, words):
    with pytest.raises(Refusal, match=words) as refusal:
        checked_K(K, drafts)
    assert str(refusal.value).endswith(".")


@given(st.integers(0, 20))
def test_the_example_that_a_refusal_gives_is_right(drafts):
    assert checked_K(example_K(drafts), drafts)


def test_lists_become_tuples():
    assert checked_K([[1, 2], [0, 1]], 1) == ((1, 2), (0, 1))
    assert parsed_K("[[2,6,10],[0,4,8],[0,0,8]]") == ((2, 6, 10), (0, 4, 8), (0, 0, 8))
    assert parsed_K(" [ [ 3 ] ] ") == ((3,),)


@pytest.mark.parametrize("text", ["", "2", "[1,2]", "[[1,2],[0,", "null", "K", "[" * 100_000, None, "[[1],2]"])
def test_a_K_that_cannot_be_read_is_refused(text):
    with pytest.raises(Refusal, match="must look like"):
        parsed_K(text)


@pytest.mark.parametrize(
    "text", ['{"ab": 1}', '["ab", "cd"]', "[[1.5, 2], [0, 1]]", "[[null, 2], [0, 1]]", "[]", "[[[1], 2], [0, 1]]"]
)
def test_what_can_be_read_but_is_no_K_is_refused_next(text):
    with pytest.raises(Refusal):
        checked_K(parsed_K(text), 1)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Method("magic"), "no method “magic”"),
        (speculative("large", 3), "no draft “large”. Its drafts are: mid, small"),
        (speculative("target", 3), "no draft “target”"),
        (speculative("small", 0), "from 1 to 64"),
        (speculative("small", 65), "from 1 to 64"),
        (speculative("small", True), "k must be"),
        (speculative("small", None), "k must be"),
        (prompt_lookup(2.0), "k must be"),
        (prompt_lookup("3"), "k must be"),
        (cs_drafting(("small", "mid"), WORKED), "strongest to the weakest"),
        (cs_drafting(("mid", "mid"), WORKED), "strongest to the weakest"),
        (cs_drafting(("large",), ((1, 2), (0, 1))), "no draft “large”"),
        (cs_drafting(("mid",), WORKED), "2 rows of 2"),
        *[
            (cs_drafting(DRAFTS, WORKED, lenience), "Lenience must be")
            for lenience in (0.5, 0, -1, float("nan"), float("inf"), None, "2", True)
        ],
        *[(replace(prompt_lookup(3), longest=longest), "longest match") for longest in (0, 65, None, True, 2.5)],
    ],
)
def test_a_method_that_the_family_cannot_run_is_refused(method, words):
    with pytest.raises(Refusal, match=words) as refusal:
        checked(method, DRAFTS)
    assert str(refusal.value).endswith(".") and str(refusal.value)[0].isupper() or str(refusal.value)[0] == "k"


def test_a_family_without_drafts():
    with pytest.raises(Refusal, match="Its drafts are: none"):
        checked(speculative("small", 3), ())
    for method in (autoregressive(), prompt_lookup(4), cs_drafting((), ((4,),))):
        assert checked(method, ()) == method


def test_a_draft_without_tokens_is_left_out():
    two = ("mid", "small")
    assert used(two, ((8, 8, 10), (0, 0, 2), (0, 0, 0))) == (("mid",), ((8, 10), (0, 2)))
    assert used(two, ((0, 6, 10), (0, 3, 5), (0, 0, 8))) == (("small",), ((6, 10), (0, 8)))
    assert used(two, ((4, 4, 4), (0, 1, 3), (0, 0, 2))) == (two, ((4, 4, 4), (0, 1, 3), (0, 0, 2)))
    assert used(two, ((0, 0, 9), (0, 3, 5), (0, 0, 8))) == ((), ((9,),))
    assert cs_drafting(two, ((8, 8, 10), (0, 0, 2), (0, 0, 0))).models == ("mid", "target")
