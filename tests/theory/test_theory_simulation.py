"""The paper's formulas against the real combinators: tokens are accepted by chance, and model passes are counted.

Coins are tossed in two ways: all outcomes are enumerated, which must give the formula exactly, or a seeded generator
tosses them, for trees that are too large for that.
"""

from __future__ import annotations

import random

import pytest
from coins import ROOM, Bernoulli, Counter, Runs, Seeded, Walked, sessions

from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Nothing
from csd.decoding.tokens import TokenSequence
from csd.theory.ewif import ewif_horizontal, ewif_speculative, ewif_vertical, phi


def speculative(coin, alpha: float, k: int):
    draft = Vertical(Counter("d"), Nothing(), Bernoulli({}, coin))
    return Vertical(Counter("t"), Horizontal(((draft, k),)), Bernoulli({"d": alpha}, coin))


def vertical(coin, alpha: float, alpha_inner: float, n: int, k: int):
    """The target's rate is one for all that the first draft hands up, accepted or its own."""
    small = Vertical(Counter("d2"), Nothing(), Bernoulli({}, coin))
    first = Vertical(Counter("d1"), Horizontal(((small, k),)), Bernoulli({"d2": alpha_inner}, coin))
    return Vertical(Counter("t"), Runs(first, n), Bernoulli({"d1": alpha, "d2": alpha}, coin))


def horizontal(coin, stages):
    drafts = [(Vertical(Counter(str(i)), Nothing(), Bernoulli({}, coin)), k) for i, (_, _, k) in enumerate(stages)]
    rates = {str(i): alpha for i, (alpha, _, _) in enumerate(stages)}
    return Vertical(Counter("t"), Horizontal(tuple(drafts)), Bernoulli(rates, coin))


def one_round(tree) -> int:
    return len(tree.draft(TokenSequence([0]), ROOM).tokens)


def expected(make) -> tuple[float, dict[str, float]]:
    """Tokens per round and runs of each model, over all outcomes of one round of the tree `make(coin)`."""
    todo, tokens, runs, total = [()], 0.0, {}, 0.0
    while todo:
        coin = Walked(todo.pop(), todo)
        tree = make(coin)
        length = one_round(tree)
        total += coin.chance
        tokens += coin.chance * length
        for name, count in sessions(tree).items():
            runs[name] = runs.get(name, 0.0) + coin.chance * count
    assert total == pytest.approx(1, abs=1e-12)
    return tokens, runs


def improvement(make, costs: dict[str, float]) -> float:
    """Tokens per round over the cost of a round in target runs: what the theory calls EWIF, from counted runs."""
    tokens, runs = expected(make)
    assert runs["t"] == pytest.approx(1)
    return tokens / sum(costs[name] * count for name, count in runs.items())


@pytest.mark.parametrize(
    ("alpha", "c", "k"), [(0.7, 0.1, 1), (0.7, 0.1, 5), (0.95, 0.02, 12), (0.0, 0.3, 3), (1.0, 0.1, 4)]
)
def test_speculative(alpha, c, k):
    assert improvement(lambda coin: speculative(coin, alpha, k), {"t": 1, "d": c}) == pytest.approx(
        ewif_speculative(alpha, c, k)
    )


@pytest.mark.parametrize(
    ("alpha", "inner", "n", "k"),
    [(0.7, 0.5, 1, 3), (0.7, 0.5, 3, 2), (0.9, 0.8, 2, 4), (1.0, 0.6, 2, 2), (0.5, 0.0, 3, 3)],
)
def test_vertical(alpha, inner, n, k):
    costs = {"t": 1, "d1": 0.2, "d2": 0.03}
    found = improvement(lambda coin: vertical(coin, alpha, inner, n, k), costs)
    assert found == pytest.approx(ewif_vertical(alpha, inner, 0.2, 0.03, n, k))


@pytest.mark.parametrize(
    "stages",
    [((0.8, 0.1, 2), (0.5, 0.02, 3)), ((0.9, 0.2, 1), (0.7, 0.05, 2), (0.3, 0.0, 4)), ((0.6, 0.1, 0), (0.5, 0.1, 2))],
)
def test_horizontal(stages):
    costs = {"t": 1} | {str(i): c for i, (_, c, _) in enumerate(stages)}
    found = improvement(lambda coin: horizontal(coin, stages), costs)
    assert found == pytest.approx(ewif_horizontal(stages))
    by_position = [(alpha, c, 1) for alpha, c, k in stages for _ in range(k)]
    assert found == pytest.approx(ewif_horizontal(by_position))


@pytest.mark.parametrize(("inner", "k", "x"), [(0.6, 3, 0.7), (0.9, 5, 0.2), (0.0, 2, 0.5), (1.0, 4, 0.9)])
def test_phi_generates_the_length_of_one_draft_run(inner, k, x):
    lengths: dict[int, float] = {}
    todo: list[tuple[bool, ...]] = [()]
    while todo:
        coin = Walked(todo.pop(), todo)
        length = one_round(vertical(coin, 0.5, inner, 1, k).drafter)
        lengths[length] = lengths.get(length, 0.0) + coin.chance
    assert phi(x, inner, k) == pytest.approx(sum(chance * x**length for length, chance in lengths.items()))


@pytest.mark.slow
def test_a_large_tree_by_throwing_coins():
    """Mean tokens of 8,000 rounds within four standard errors of the formula, and outside for another rate."""
    alpha, inner, n, k, rounds = 0.8, 0.7, 4, 5, 8_000
    tree = vertical(Seeded(random.Random(5)), alpha, inner, n, k)
    lengths = [one_round(tree) for _ in range(rounds)]
    mean = sum(lengths) / rounds
    error = (sum((length - mean) ** 2 for length in lengths) / rounds / rounds) ** 0.5
    runs = sessions(tree)
    assert runs == {"t": rounds, "d1": n * rounds, "d2": n * k * rounds}
    cost = 1 + n * 0.2 + n * k * 0.03
    assert abs(mean - ewif_vertical(alpha, inner, 0.2, 0.03, n, k) * cost) < 4 * error
    assert abs(mean - ewif_vertical(alpha + 0.02, inner, 0.2, 0.03, n, k) * cost) > 4 * error
