"""Predictions for any K against the closed forms and the real combinators; tables from a race worked out by hand."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import product

import pytest
from coins import ROOM, Counter, Walked, sessions
from handmade import LEVELS, RACE, autoregressive, cascade

from csd.decoding.acceptance import Verdict
from csd.decoding.combinators import Vertical
from csd.decoding.combinators import cascade as tree_of
from csd.decoding.draft import Draft
from csd.decoding.methods import Refusal
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Proposal
from csd.theory import prediction as theory
from csd.theory.ewif import ewif_horizontal, ewif_speculative, ewif_vertical
from csd.theory.prediction import Node, World, predicted

A, B, COPY = "mid", "small", "MaxGram"


# ---- where closed forms hold


@pytest.mark.parametrize(
    ("alpha", "c", "k"), [(0.7, 0.1, 1), (0.7, 0.1, 5), (0.95, 0.02, 12), (0.0, 0.3, 3), (1.0, 0.1, 4)]
)
def test_speculative(alpha, c, k):
    assert predicted((Node(A, k),), World({("target", A): alpha}, {A: c})).ewif == pytest.approx(
        ewif_speculative(alpha, c, k)
    )


def test_nothing_drafted_is_autoregressive():
    assert predicted((), World()).ewif == 1


@pytest.mark.parametrize("ks", [(2, 3, 4), (1, 0, 2), (0, 0, 5), (4, 0, 0)])
def test_horizontal(ks):
    alphas, costs = (0.85, 0.6, 0.3), (0.2, 0.05, 0.001)
    stages = list(zip(alphas, costs, ks))
    world = World(
        {("target", name): alpha for name, alpha in zip((A, B, COPY), alphas)}, dict(zip((A, B, COPY), costs))
    )
    K = (tuple(sum(ks[: i + 1]) for i in range(3)), (0, 0, 0), (0, 0, 0))
    assert predicted(theory.nodes(K, (A, B)), world).ewif == pytest.approx(ewif_horizontal(stages))


@pytest.mark.parametrize(
    ("alpha", "inner", "goal", "n", "k"),
    [(0.8, 0.6, 1, 1, 4), (0.8, 1.0, 10, 2, 4), (0.8, 0.0, 3, 3, 4), (0.5, 1.0, 12, 4, 2)],
)
def test_vertical_where_the_number_of_runs_is_certain(alpha, inner, goal, n, k):
    """Theorem 4.3 counts runs and K tokens: they are the same where one run is enough, or all or no copies are accepted."""
    world = World({("target", A): alpha, (A, COPY): inner}, {A: 0.2, COPY: 0.01})
    tree = theory.nodes(((goal, goal), (0, k)), (A,))
    assert predicted(tree, world).ewif == pytest.approx(ewif_vertical(alpha, inner, 0.2, 0.01, n, k))


# ---- any K, against the real combinators


@dataclass(frozen=True)
class Copier:
    """A leaf that drafts what is asked of it."""

    name: str = COPY
    divisible: bool = True

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        at = len(sequence)
        tokens, authors = (2,) * room, (self.name,) * room
        return Draft(tokens, authors, None, (Proposal(self.name, at, tokens, authors, 0.0, 0.0),))


@dataclass
class ByHand:
    """Accepts each token with the rate of whoever handed it up, which the draft's reviews tell."""

    reviewer: str
    alphas: dict
    coin: object

    def __call__(self, draft: Draft, logits, at: int) -> Verdict:
        handed = []
        for inner in draft.reviews:
            own = getattr(inner, "accepted", len(inner.tokens) - 1) + 1
            handed += [inner.by] * own
        assert len(handed) == len(draft)
        accepted = 0
        while accepted < len(draft) and self.coin.flip(self.alphas[self.reviewer, handed[accepted]]):
            accepted += 1
        return Verdict(accepted, 1, 0.0)


def real(coin, K, drafts, alphas):
    """The tree that `methods` would build, with every reviewer throwing coins."""
    counters = [Counter(name) for name in drafts]
    drafter = tree_of(counters, Copier(), K, None)
    return Vertical(Counter("target"), _coins(drafter, alphas, coin), ByHand("target", alphas, coin))


def _coins(drafter, alphas, coin):
    if isinstance(drafter, Vertical):
        rule = ByHand(drafter.session.name, alphas, coin)
        return replace(drafter, drafter=_coins(drafter.drafter, alphas, coin), accept=rule)
    if isinstance(drafter, Copier):
        return drafter
    return replace(drafter, stages=tuple((_coins(one, alphas, coin), k) for one, k in drafter.stages))


@pytest.mark.parametrize(
    ("K", "drafts"),
    [
        (((2, 3), (0, 1)), (A,)),
        (((3, 3), (0, 2)), (A,)),
        (((2, 3, 4), (0, 1, 2), (0, 0, 1)), (A, B)),
        (((1, 1, 2), (0, 2, 2), (0, 0, 1)), (A, B)),
    ],
)
def test_any_tree_by_all_outcomes(K, drafts):
    """All flips of one round of the real combinators: the same tokens and the same runs of every model."""
    dice = random.Random(3)
    names = ("target", *drafts, COPY)
    alphas = {pair: round(dice.uniform(0.2, 0.9), 2) for pair in product(names, names)}
    todo, tokens, runs, total = [()], 0.0, dict.fromkeys(drafts, 0.0), 0.0
    while todo:
        coin = Walked(todo.pop(), todo)
        root = real(coin, K, drafts, alphas)
        tokens += len(root.draft(TokenSequence([0]), ROOM).tokens) * coin.chance
        for name, count in sessions(root).items():
            runs[name] = runs.get(name, 0.0) + count * coin.chance
        total += coin.chance
    assert total == pytest.approx(1)
    tree = theory.nodes(K, drafts)
    assert predicted(tree, World(alphas)).tokens == pytest.approx(tokens)
    for name in drafts:  # the price of one model alone is the number of its runs
        assert predicted(tree, World(alphas, {name: 1.0})).drafting == pytest.approx(runs[name])


def test_the_price_of_width_is_paid_for_the_whole_block():
    round = predicted((Node(A, 4),), World({("target", A): 0.5}, {A: 0.1}, 0.05))
    assert (round.block, round.review) == (4, pytest.approx(1.2))
    assert round.ewif == pytest.approx((1 + 0.5 + 0.25 + 0.125 + 0.0625) / 1.6)


def test_both_cascades_hold_each_of_them():
    assert theory.ewif_both(0.8, 0.5, 0.3, 0.2, 0.01, 3, 4, 0) == pytest.approx(
        ewif_vertical(0.8, 0.5, 0.2, 0.01, 3, 4)
    )
    assert theory.ewif_both(0.8, 0.5, 0.3, 0.2, 0.01, 3, 0, 5) == pytest.approx(
        ewif_horizontal([(0.8, 0.2, 3), (0.3, 0.01, 5)])
    )
    world = World({("target", A): 0.8, (A, COPY): 0.5, ("target", COPY): 0.3}, {A: 0.2, COPY: 0.01})
    tail = Node(A, 1, (Node(COPY, 4),))
    # One run of 1 to 5 tokens; then, whatever it wrote, 3 copied ones: the second stage's goal moves with it in the closed
    # form and not in K, so the forms meet where the run writes one token for sure.
    sure = replace(world, alphas={**world.alphas, (A, COPY): 0.0})
    assert predicted((tail, Node(COPY, 3)), sure).ewif == pytest.approx(
        theory.ewif_both(0.8, 0.0, 0.3, 0.2, 0.01, 1, 4, 3)
    )


@pytest.mark.parametrize("world", [{"alphas": {("target", A): 1.5}}, {"costs": {A: -1.0}}, {"width": float("nan")}])
def test_a_world_that_cannot_be(world):
    with pytest.raises(ValueError, match=r"\.$"):
        World(**world)


# ---- what a race measured, by hand (tests/test_figures.py has the race)


def test_rates_count_judged_tokens_by_who_handed_them_up():
    """Round one: small hands up two copies and its own 9, which dies: 2 of 3. Round two: 1 of 1. small kept both copies."""
    found = theory.rates(RACE)
    assert {pair: (count.accepted, count.proposed) for pair, count in found.items()} == {
        ("target", "small"): (3, 4),
        ("small", "MaxGram"): (2, 2),
    }


def test_costs_are_in_target_runs():
    assert theory.unit(RACE) == pytest.approx(0.1)
    assert theory.costs(RACE, 0.1) == pytest.approx({"MaxGram": 0.025, "small": 0.25})
    assert theory.unit((cascade(),)) != theory.unit((cascade(),))  # nan: all of its runs reviewed something


def test_width_is_what_reviews_cost_beyond_one_run():
    slow = replace(
        cascade(),
        steps=tuple(replace(step, review=replace(step.review, seconds=0.14)) for step in cascade().steps),
    )
    assert theory.width((autoregressive(), slow), 0.1) == pytest.approx(2 * 0.4 / 4)
    assert theory.width(RACE, 0.1) == 0  # reviews cheaper than a run are not credited


def lanes_of(K=((2, 3), (0, 2))):
    made = cascade()
    return theory.beside((autoregressive(), replace(made, header=replace(made.header, K=K))))


def test_prediction_beside_measurement():
    alone, lane = lanes_of()
    assert (alone.flat, alone.measured) == (1, (1.0,))
    # small writes until 2 tokens stand there; with both copies kept its one run writes 3 and overshoots the leaf's place.
    tokens = 1 + 0.75 + 0.75**2 + 0.75**3
    assert lane.flat == pytest.approx(tokens / (1 + 0.25 + 2 * 0.025))
    assert lane.measured == pytest.approx((2.0,))
    assert "A round brought 2.0 tokens, the model says 2.7" in lane.words[0]
    assert lane.words[1].startswith(
        "It cost 1.00 target runs, the model says 1.30: the review of 2.0 drafted tokens took 0.65 and not 1, drafts 0.2"
    )
    assert theory._parts(cascade(), 0.1) == pytest.approx((1, 0.65, 0.275, 0.075))


def test_adaptive_has_no_closed_form():
    made = cascade()
    lane = theory.beside((autoregressive(), replace(made, header=replace(made.header, method="adaptive"))))[1]
    assert lane.flat is lane.wide is None
    assert "no closed form" in lane.formula
    (words,) = lane.words
    assert words.startswith(
        "A round brought 2.0 tokens and cost 1.00 target runs: the review of 2.0 drafted tokens 0.65,"
    )


def test_the_spread_is_over_races_with_the_same_settings():
    slower = (autoregressive(), replace(cascade(), steps=tuple(replace(s, seconds=0.125) for s in cascade().steps)))
    other = tuple(replace(trace, header=replace(trace.header, seed=9)) for trace in RACE)
    halted = tuple(replace(trace, end="stopped") for trace in RACE)
    lane = theory.beside(RACE, (RACE, slower, other, halted))[1]
    assert lane.measured == pytest.approx((2.0, 1.6))
    assert theory.spread(lane.measured) == "1.80x, 1.60 to 2.00 in 2 races"
    assert theory.spread((2.0,)).startswith("2.00x in one race")
    assert (theory.spread((1.0, 1.0)), theory.spread(())) == ("1.00x", "–")


def test_without_a_single_token_run_the_table_says_what_to_do():
    (lane,) = theory.beside((cascade(),))
    assert lane.flat is None and lane.words[0].endswith("Race with the autoregressive lane.")
    (empty,) = theory.beside((replace(cascade(), steps=()),))
    assert empty.words == ("This lane wrote nothing, so nothing was measured.",)


def test_the_table_is_escaped_and_has_heads():
    lane = replace(lanes_of()[1], name="<b>x</b>")
    html = theory.table((lane,))
    assert "<b>x" not in html and "&lt;b&gt;x" in html
    assert html.count('scope="col"') == 6 and '<th scope="row">' in html and "<caption>" in html
    assert "target ← small: 0.75 (3/4)" in html


def test_drafts_and_trees_of_headers():
    header = autoregressive().header
    assert theory.drafts_of(header) == ("small",)
    assert theory.drafts_of(replace(header, levels=())) == ()
    speculative = replace(autoregressive(), header=replace(header, method="speculative", draft="small", k=3))
    assert theory.stages_of(speculative) == (Node("small", 3),)
    unused = replace(autoregressive(), header=replace(header, method="cascade", K=((0, 4), (0, 0)), levels=LEVELS))
    assert theory.stages_of(unused) == (Node(COPY, 4),)
    unknown = replace(autoregressive(), header=replace(header, method="cascade", K=((1, 1, 1),) * 3))
    assert theory.stages_of(unknown) is None


# ---- what if

WORLD = World(
    {("target", A): 0.8, ("target", B): 0.6, ("target", COPY): 0.3, (A, B): 0.7, (A, COPY): 0.4, (B, COPY): 0.4},
    {A: 0.2, B: 0.05, COPY: 0.001},
)
K = ((2, 6, 10), (0, 4, 8), (0, 0, 8))


def test_dropping_a_level_keeps_the_others_tokens():
    assert theory.dropped(K, 1) == ((2, 2, 6), (0, 0, 4), (0, 0, 0))
    assert theory.dropped(K, 0) == ((0, 4, 8), (0, 0, 0), (0, 0, 8))
    assert theory.dropped(K, 2) == ((2, 6, 6), (0, 4, 4), (0, 0, 0))


def test_shifting_moves_the_first_number_that_is_there():
    assert theory.shifted(K, 5)[0] == (5, 9, 13)
    assert theory.shifted(((0, 4, 8), (0, 0, 0), (0, 0, 8)), 1)[0] == (0, 1, 5)


def test_curves_pass_through_the_predictions():
    guess, both = theory.what_if((A, B), A, 4, K, WORLD)
    assert guess.here() == pytest.approx(ewif_speculative(0.8, 0.2, 4))
    assert guess.flat[9] == pytest.approx(ewif_speculative(0.8, 0.2, 10))
    assert (both.at, both.here()) == (2, pytest.approx(predicted(theory.nodes(K, (A, B)), WORLD).ewif))
    wide = theory.what_if((A, B), A, 4, K, replace(WORLD, width=0.1))[0]
    assert wide.flat == guess.flat and wide.here() == pytest.approx(3.3616 / (1 + 0.8 + 0.4))
    assert "the best of its curve" in theory.what_if_words((guess,))
    assert "highest at 4 with 1.87x" in theory.what_if_words((replace(guess, at=9),))


@pytest.mark.parametrize(
    ("change", "word"), [({"K": ((1, 2),)}, "3 rows"), ({"draft": "x"}, "no draft"), ({"k": 0}, "k must be")]
)
def test_what_cannot_be_predicted_is_a_sentence(change, word):
    asked = {"drafts": (A, B), "draft": A, "k": 4, "K": K, "world": WORLD} | change
    with pytest.raises(Refusal, match=word):
        theory.what_if(**asked)


def test_knobs_stand_where_the_race_left_them():
    assert theory.pairs((A, B)) == tuple(WORLD.alphas)
    alphas, prices, width = theory.knobs((A, B), replace(WORLD, width=0.0314))
    assert (alphas, prices, width) == ((0.8, 0.6, 0.3, 0.7, 0.4, 0.4), (0.2, 0.05), 0.031)
    back = theory.world_of((A, B), alphas, prices, width)
    assert (back.alphas, back.costs[B]) == (WORLD.alphas, 0.05)
    alphas, prices, _ = theory.knobs(("small",), theory.measured_world(RACE))
    assert alphas == (0.75, theory.COPIED, 1.0) and prices == (0.25,)  # the target never judged a copy by itself


def test_what_a_race_was_run_with():
    guess = replace(autoregressive(), header=replace(autoregressive().header, method="speculative", draft="small", k=3))
    made = replace(cascade(), header=replace(cascade().header, K=((2, 3), (0, 2))))
    assert theory.asked_of((guess, made)) == (("small",), "small", 3, ((2, 3), (0, 2)))
    assert theory.asked_of(RACE) == (("small",), "small", None, None)
    assert theory.asked_of(()) == ((), "", None, None)
