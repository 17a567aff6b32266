"""Predictions for any K against the closed forms, and against the real combinators with tokens accepted by chance."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import pytest
from coins import ROOM, Counter, Walked, sessions
from plans import plan

from csd.decoding.acceptance import Acceptance, Decision
from csd.decoding.combinators import Vertical
from csd.decoding.draft import Draft, Drafter
from csd.decoding.stages import Stage, build_stages
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Proposal
from csd.theory.ewif import ewif_combined, ewif_horizontal, ewif_speculative, ewif_vertical
from csd.theory.prediction import CostModel, predict_round

A, B, COPY = "mid", "small", "MaxGram"


# ---- where closed forms hold


@pytest.mark.parametrize(
    ("alpha", "c", "k"), [(0.7, 0.1, 1), (0.7, 0.1, 5), (0.95, 0.02, 12), (0.0, 0.3, 3), (1.0, 0.1, 4)]
)
def test_speculative(alpha, c, k):
    assert predict_round((Stage(A, k),), CostModel({("target", A): alpha}, {A: c})).ewif == pytest.approx(
        ewif_speculative(alpha, c, k)
    )


def test_nothing_drafted_is_autoregressive():
    assert predict_round((), CostModel()).ewif == 1


@pytest.mark.parametrize("ks", [(2, 3, 4), (1, 0, 2), (0, 0, 5), (4, 0, 0)])
def test_horizontal(ks):
    alphas, costs = (0.85, 0.6, 0.3), (0.2, 0.05, 0.001)
    stages = list(zip(alphas, costs, ks, strict=True))
    model = CostModel(
        {("target", name): alpha for name, alpha in zip((A, B, COPY), alphas, strict=True)},
        dict(zip((A, B, COPY), costs, strict=True)),
    )
    K = (tuple(sum(ks[: i + 1]) for i in range(3)), (0, 0, 0), (0, 0, 0))
    assert predict_round(plan(K, (A, B)), model).ewif == pytest.approx(ewif_horizontal(stages))


@pytest.mark.parametrize(
    ("alpha", "inner", "goal", "n", "k"),
    [(0.8, 0.6, 1, 1, 4), (0.8, 1.0, 10, 2, 4), (0.8, 0.0, 3, 3, 4), (0.5, 1.0, 12, 4, 2)],
)
def test_vertical_where_the_number_of_runs_is_certain(alpha, inner, goal, n, k):
    """Theorem 4.3 counts passes, K counts tokens: they agree if one pass is enough or all or no copies are accepted."""
    model = CostModel({("target", A): alpha, (A, COPY): inner}, {A: 0.2, COPY: 0.01})
    tree = plan(((goal, goal), (0, k)), (A,))
    assert predict_round(tree, model).ewif == pytest.approx(ewif_vertical(alpha, inner, 0.2, 0.01, n, k))


# ---- any K, against the real combinators


@dataclass(frozen=True)
class Copier(Drafter):
    """A leaf that drafts exactly what it is asked for."""

    exact_length: ClassVar[bool] = True

    name: str = COPY

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        at = len(sequence)
        tokens, authors = (2,) * room, (self.name,) * room
        return Draft(tokens, authors, None, (Proposal(self.name, at, tokens, authors, 0.0, 0.0),))


@dataclass
class ByHand:
    """Accepts each token at the rate of the drafter that handed it up, known from the draft's reviews."""

    reviewer: str
    alphas: dict
    coin: object
    lenience: float = 1.0

    def launch(self, draft: Draft, logits, start: int, choice=None) -> Decision:
        handed = []
        for inner in draft.reviews:
            own = getattr(inner, "accepted", len(inner.tokens) - 1) + 1
            handed += [inner.by] * own
        assert len(handed) == len(draft)
        accepted = 0
        while accepted < len(draft) and self.coin.flip(self.alphas[self.reviewer, handed[accepted]]):
            accepted += 1
        return Decision(lambda: Acceptance(accepted, 1, 0.0))


def real(coin, K, drafts, alphas):
    """The tree that the cascade would build, with every reviewer tossing coins."""
    counters = {name: Counter(name) for name in drafts}
    drafter = build_stages(plan(K, drafts), counters, Copier(), None)
    return Vertical(Counter("target"), _coins(drafter, alphas, coin), ByHand("target", alphas, coin))


def _coins(drafter, alphas, coin):
    if isinstance(drafter, Vertical):
        rule = ByHand(drafter.session.name, alphas, coin)
        return replace(drafter, drafter=_coins(drafter.drafter, alphas, coin), rule=rule)
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
    """Over all outcomes of one round of the real combinators: the same tokens and the same passes of every model."""
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
    tree = plan(K, drafts)
    assert predict_round(tree, CostModel(alphas)).tokens == pytest.approx(tokens)
    for name in drafts:  # with c = 1 for one model and 0 for the others, the cost is the number of its passes
        assert predict_round(tree, CostModel(alphas, {name: 1.0})).drafting == pytest.approx(runs[name])


def test_reviewed_tokens_cost_for_the_whole_block():
    round = predict_round((Stage(A, 4),), CostModel({("target", A): 0.5}, {A: 0.1}, 0.05))
    assert (round.block, round.review) == (4, pytest.approx(1.2))
    assert round.ewif == pytest.approx((1 + 0.5 + 0.25 + 0.125 + 0.0625) / 1.6)


def test_the_combined_form_without_reviewed_copies_is_horizontal():
    assert ewif_combined(0.8, 0.5, 0.3, 0.2, 0.01, 3, 0, 5) == pytest.approx(
        ewif_horizontal([(0.8, 0.2, 3), (0.3, 0.01, 5)])
    )


def test_the_combined_form_where_the_number_of_runs_is_certain():
    """The closed form drafts 3 copies after a run of any length, K drafts up to position 4. Both agree where the run
    certainly writes one token, because none of its own copies is accepted."""
    model = CostModel({("target", A): 0.8, (A, COPY): 0.0, ("target", COPY): 0.3}, {A: 0.2, COPY: 0.01})
    run = Stage(A, 1, (Stage(COPY, 4),))
    assert predict_round((run, Stage(COPY, 3)), model).ewif == pytest.approx(
        ewif_combined(0.8, 0.0, 0.3, 0.2, 0.01, 1, 4, 3)
    )


@pytest.mark.parametrize(
    "fields", [{"alphas": {("target", A): 1.5}}, {"costs": {A: -1.0}}, {"per_reviewed_token": float("nan")}]
)
def test_an_impossible_cost_model_is_refused(fields):
    with pytest.raises(ValueError, match=r"\.$"):
        CostModel(**fields)
