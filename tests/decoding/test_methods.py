"""Methods: the trees that they build, their settings, and what is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import TableSession, table

from csd.decoding.acceptance import Greedy
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Nothing
from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import check_K, example_K, from_budgets, parse_K, to_budgets
from csd.decoding.maxgram import MAX_GRAM, MaxGram
from csd.decoding.methods import (
    METHODS,
    Autoregressive,
    Cascade,
    DraftAlone,
    HorizontalCascade,
    Knobs,
    LaneParts,
    Method,
    PromptLookup,
    Speculative,
    VerticalCascade,
    find_method,
    restore_method,
    settings_of,
    title,
)
from csd.decoding.stages import Stage
from csd.decoding.suffix_index import SuffixIndex
from csd.ranges import LONGEST_DRAFT

DRAFTS = ("mid", "small")
TABLE = table(3, 0)
SESSIONS = {name: TableSession(name, TABLE) for name in ("target", *DRAFTS)}
STRICT, INNER = Greedy(), Greedy(3.0)
INDEX = SuffixIndex()
LEAF = MaxGram(INDEX, LONGEST_DRAFT)


def build(method: Method) -> Vertical:
    method.check(DRAFTS)
    return method.build(LaneParts(SESSIONS, STRICT, INDEX))


def reviewer(name: str, *stages, rule=INNER) -> Vertical:
    return Vertical(SESSIONS[name], Horizontal(stages) if stages else Nothing(), rule)


def root(drafter) -> Vertical:
    return Vertical(SESSIONS["target"], drafter, STRICT)


WORKED = ((5, 19, 29), (0, 1, 11), (0, 0, 10))
SMALL_OVER_COPY = reviewer("small", (LEAF, 10))

TREES = {
    "autoregressive": (Autoregressive(), root(Nothing())),
    "speculative": (
        Speculative("small", 4),
        root(Horizontal(((Vertical(SESSIONS["small"], Nothing(), STRICT), 4),))),
    ),
    "prompt lookup": (PromptLookup(9), root(MaxGram(INDEX, 9))),
    # The official code writes increments, [[5,14,10],[0,1,10],[0,0,10]]; the paper's cumulative form is WORKED.
    "worked example": (
        Cascade(DRAFTS, WORKED, 3.0),
        root(Horizontal(((reviewer("mid", (SMALL_OVER_COPY, 1), (LEAF, 10)), 5), (SMALL_OVER_COPY, 14), (LEAF, 10)))),
    ),
    "vertical": (
        VerticalCascade(DRAFTS, (6, 3, 4), 3.0),
        root(Horizontal(((reviewer("mid", (reviewer("small", (LEAF, 4)), 3)), 6),))),
    ),
    "horizontal": (
        HorizontalCascade(DRAFTS, (2, 6, 10)),
        root(Horizontal(((reviewer("mid", rule=STRICT), 2), (reviewer("small", rule=STRICT), 4), (LEAF, 4)))),
    ),
    "no drafts": (Cascade((), ((7,),)), root(Horizontal(((LEAF, 7),)))),
    "draft alone": (DraftAlone("small"), Vertical(SESSIONS["small"], Nothing(), STRICT)),
    "one draft": (Cascade(("small",), ((4, 4), (0, 8)), 3.0), root(Horizontal(((reviewer("small", (LEAF, 8)), 4),)))),
}


@pytest.mark.parametrize("name", TREES)
def test_a_method_builds_the_tree_that_one_would_write_by_hand(name):
    method, by_hand = TREES[name]
    assert build(method) == by_hand


def test_the_worked_example_in_its_two_forms():
    code = ((5, 14, 10), (0, 1, 10), (0, 0, 10))
    assert from_budgets(code) == WORKED and to_budgets(WORKED) == code
    assert check_K(WORKED, 2) == WORKED


def test_vertical_and_horizontal_are_a_diagonal_and_a_first_row():
    """The same plans as those of a K with only a diagonal, or only a first row."""
    knobs = Knobs(DRAFTS, K=((2, 6, 10), (0, 4, 8), (0, 0, 9)))
    vertical, horizontal = VerticalCascade.from_knobs(knobs), HorizontalCascade.from_knobs(knobs)
    assert vertical.ks == (2, 4, 9) and horizontal.ks == (2, 6, 10)
    assert vertical.stages() == Cascade(DRAFTS, ((2, 2, 2), (0, 4, 4), (0, 0, 9))).stages()
    assert horizontal.stages() == Cascade(DRAFTS, ((2, 6, 10), (0, 0, 0), (0, 0, 0))).stages()


def test_vertical_only_keeps_the_helper_of_a_draft_that_skips_a_level():
    """In the tuned K the middle model asks the copier at once; the zone of the copier goes, its help stays."""
    vertical = VerticalCascade.from_knobs(Knobs(DRAFTS, K=((16, 16, 20), (0, 0, 7), (0, 0, 0))))
    assert vertical.ks == (16, 0, 7)
    assert vertical.stages() == (Stage("mid", 16, (Stage(MAX_GRAM, 7),)),)
    assert vertical.to_knobs()["K"] == ((16, 16, 16), (0, 0, 7), (0, 0, 0))
    assert VerticalCascade.from_knobs(Knobs(DRAFTS, K=vertical.to_knobs()["K"])) == vertical
    late = VerticalCascade.from_knobs(Knobs(DRAFTS, K=((0, 4, 8), (0, 9, 9), (0, 0, 3))))
    assert late.stages() == (Stage("small", 4, (Stage(MAX_GRAM, 3),)),)
    late.check(DRAFTS)


def test_models_and_leaves_of_a_method():
    assert Autoregressive().models() == ("target",) and not Autoregressive.leaves
    assert Speculative("small", 3).models() == ("small", "target") and not Speculative.leaves
    assert PromptLookup(3).models() == ("target",) and "MaxGram" in PromptLookup.leaves
    assert Cascade(DRAFTS, WORKED).models() == ("small", "mid", "target") and "MaxGram" in Cascade.leaves


def test_titles():
    assert [title(method) for method, _ in TREES.values()][:4] == [
        "autoregressive",
        "speculative, small, k=4",
        "prompt lookup, k=9",
        "cascade, K=[[5,19,29],[0,1,11],[0,0,10]], l=3",
    ]
    assert title(VerticalCascade(("mid",), (3, 4), 2.5)) == "vertical cascade, k=3,4, l=2.5"
    assert title(HorizontalCascade(("mid",), (3, 4))) == "horizontal cascade, k=3,4"


@pytest.mark.parametrize("name", TREES)
def test_settings_restore_the_method(name):
    method, _ = TREES[name]
    settings = settings_of(method)
    assert json.loads(json.dumps(settings)) == settings
    assert restore_method(method.name, settings) == method


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("magic", {}),
        ("speculative", {"k": 4}),
        ("speculative", {"draft": "small", "k": "many"}),
        ("cascade", {"drafts": ["mid"], "K": [[1, "x"], [0, 1]]}),
    ],
)
def test_invalid_settings_are_refused(name, settings):
    with pytest.raises(Refusal):
        restore_method(name, settings)


def test_methods_are_found_by_name_however_it_is_spelled():
    assert all(find_method(name) is method for name, method in METHODS.items())
    assert find_method("prompt-lookup") is PromptLookup
    assert find_method("cascade, vertical only") is find_method("vertical") is VerticalCascade
    with pytest.raises(Refusal, match="no method “magic”. Choose one of: autoregressive"):
        find_method("magic")


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
        (((1, 3, 2), (0, 1, 2), (0, 0, 1)), 2, "row 1 every number must be at least"),
        (((1, 2, 3), (0, 2, 1), (0, 0, 1)), 2, "row 2 every number must be at least"),
        (((-1, 2), (0, 1)), 1, "from 0 to 64"),
        (((1, 65), (0, 1)), 1, "from 0 to 64"),
        (((1, 2.0), (0, 1)), 1, "whole numbers"),
        (((1, True), (0, 1)), 1, "whole numbers"),
        (((1, "2"), (0, 1)), 1, "whole numbers"),
        (((0, 0), (0, 1)), 1, "nothing would be drafted"),
    ],
)
def test_an_invalid_K_is_refused(K, drafts, words):
    with pytest.raises(Refusal, match=words) as refusal:
        check_K(K, drafts)
    assert str(refusal.value).endswith(".")


@given(st.integers(0, 20))
def test_the_example_in_a_refusal_is_valid(drafts):
    assert check_K(example_K(drafts), drafts)


def test_lists_become_tuples():
    assert check_K([[1, 2], [0, 1]], 1) == ((1, 2), (0, 1))
    assert parse_K("[[2,6,10],[0,4,8],[0,0,8]]") == ((2, 6, 10), (0, 4, 8), (0, 0, 8))
    assert parse_K(" [ [ 3 ] ] ") == ((3,),)


@pytest.mark.parametrize("text", ["", "2", "[1,2]", "[[1,2],[0,", "null", "K", "[" * 100_000, None, "[[1],2]"])
def test_a_K_that_cannot_be_read_is_refused(text):
    with pytest.raises(Refusal, match="must be a list of rows"):
        parse_K(text)


@pytest.mark.parametrize(
    "text", ['{"ab": 1}', '["ab", "cd"]', "[[1.5, 2], [0, 1]]", "[[null, 2], [0, 1]]", "[]", "[[[1], 2], [0, 1]]"]
)
def test_what_can_be_read_but_is_not_a_K_is_refused(text):
    with pytest.raises(Refusal):
        check_K(parse_K(text), 1)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Speculative("large", 3), "no draft “large”. Its drafts are: mid, small"),
        (Speculative("target", 3), "no draft “target”"),
        (Speculative("small", 0), "from 1 to 64"),
        (Speculative("small", 65), "from 1 to 64"),
        (Speculative("small", True), "k must be"),
        (Speculative("small", None), "k is empty"),
        (PromptLookup(2.0), "k must be"),
        (PromptLookup("3"), "k must be"),
        (Cascade(("small", "mid"), WORKED), "strongest to the weakest"),
        (Cascade(("mid", "mid"), WORKED), "strongest to the weakest"),
        (Cascade(("large",), ((1, 2), (0, 1))), "no draft “large”"),
        (Cascade(("mid",), WORKED), "2 rows of 2"),
        *[
            (Cascade(DRAFTS, WORKED, lenience), "Lenience (must be|is empty)")
            for lenience in (0.5, 0, -1, float("nan"), float("inf"), None, "2", True)
        ],
        (VerticalCascade(DRAFTS, (1, 2)), "3 whole numbers"),
        (VerticalCascade(DRAFTS, (0, 0, 0)), "nothing would be drafted"),
        (HorizontalCascade(DRAFTS, (4, 2, 3)), "must not decrease"),
        (HorizontalCascade(DRAFTS, (0, 0, 0)), "nothing would be drafted"),
    ],
)
def test_a_method_that_the_family_cannot_run_is_refused(method, words):
    with pytest.raises(Refusal, match=words) as refusal:
        method.check(DRAFTS)
    assert str(refusal.value).endswith(".") and str(refusal.value)[0].isupper() or str(refusal.value)[0] == "k"


def test_a_family_without_drafts():
    with pytest.raises(Refusal, match="Its drafts are: none"):
        Speculative("small", 3).check(())
    for method in (Autoregressive(), PromptLookup(4), Cascade((), ((4,),))):
        method.check(())


def test_a_draft_without_tokens_is_not_run():
    def models(K) -> tuple[str, ...]:
        return Cascade(DRAFTS, K).models()

    assert models(((8, 8, 10), (0, 0, 2), (0, 0, 0))) == ("mid", "target")
    assert models(((0, 6, 10), (0, 3, 5), (0, 0, 8))) == ("small", "target")
    assert models(((4, 4, 4), (0, 1, 3), (0, 0, 2))) == ("small", "mid", "target")
    assert models(((0, 0, 9), (0, 3, 5), (0, 0, 8))) == ("target",)
    assert Cascade(DRAFTS, ((0, 6, 10), (0, 3, 5), (0, 0, 8))).stages() == (
        Stage("small", 6, (Stage("MaxGram", 8),)),
        Stage("MaxGram", 4),
    )
