"""The closed forms against numbers computed elsewhere, by hand, and by direct summation."""

from __future__ import annotations

import random
from itertools import product

import pytest

from csd.theory.ewif import best_k, ewif_combined, ewif_horizontal, ewif_speculative, ewif_vertical, phi

# Costs of FLAN-T5 small and base in runs of FLAN-T5-XXL, by parameter count (millions).
SMALL, BASE = 77 / 11300, 248 / 11300

# Table 1 of the paper, recomputed to three digits: (stages of (alpha, c, k), EWIF).
TABLE_1 = [
    ([(0.65, SMALL, 9)], 2.656),
    ([(0.73, BASE, 8)], 2.965),
    ([(0.73, BASE, 5), (0.65, SMALL, 3)], 3.028),
    ([(0.73, BASE, 5), (0.65, SMALL, 5)], 3.046),
    ([(0.75, SMALL, 12)], 3.610),
    ([(0.80, BASE, 10)], 3.748),
    ([(0.80, BASE, 5), (0.75, SMALL, 8)], 3.929),
]

# Best speculative setting and best vertical cascade with an inner draft of cost 0.002:
# (c1, alpha, speculative, vertical at alpha_inner = 0.2, 0.4, 0.6).
BEST = [
    (0.05, 0.7, 2.35, (2.42, 2.50, 2.61)),
    (0.05, 0.8, 3.09, (3.20, 3.37, 3.58)),
    (0.05, 0.9, 4.67, (4.93, 5.33, 5.87)),
    (0.10, 0.7, 1.98, (2.06, 2.17, 2.31)),
    (0.10, 0.8, 2.47, (2.61, 2.80, 3.06)),
    (0.10, 0.9, 3.43, (3.71, 4.13, 4.73)),
    (0.20, 0.7, 1.58, (1.67, 1.79, 1.96)),
    (0.20, 0.8, 1.87, (2.01, 2.21, 2.48)),
    (0.20, 0.9, 2.37, (2.63, 3.00, 3.56)),
    (0.40, 0.7, 1.22, (1.29, 1.40, 1.56)),
    (0.40, 0.8, 1.36, (1.48, 1.65, 1.90)),
    (0.40, 0.9, 1.58, (1.77, 2.06, 2.52)),
    (0.80, 0.7, 0.94, (1.00, 1.09, 1.22)),
    (0.80, 0.8, 1.00, (1.08, 1.20, 1.40)),
    (0.80, 0.9, 1.06, (1.17, 1.37, 1.70)),
]


@pytest.mark.parametrize(("stages", "expected"), TABLE_1)
def test_table_1(stages, expected):
    assert ewif_horizontal(stages) == pytest.approx(expected, abs=6e-4)
    if len(stages) == 1:
        assert ewif_speculative(*stages[0]) == pytest.approx(ewif_horizontal(stages), rel=1e-12)


@pytest.mark.parametrize(("c1", "alpha", "speculative", "vertical"), BEST)
def test_best_settings(c1, alpha, speculative, vertical):
    assert max(ewif_speculative(alpha, c1, k) for k in range(1, 60)) == pytest.approx(speculative, abs=6e-3)
    for alpha_inner, expected in zip((0.2, 0.4, 0.6), vertical, strict=True):
        best = max(ewif_vertical(alpha, alpha_inner, c1, 0.002, n, k) for n in range(1, 41) for k in range(1, 21))
        assert best == pytest.approx(expected, abs=6e-3)


def test_hand_computed():
    assert ewif_speculative(0.5, 0.1, 2) == pytest.approx(1.75 / 1.2)
    # One run of the draft emits 1 token with chance 1/2, else 2: phi(x) = x/2 + x^2/2.
    assert phi(0.3, 0.5, 1) == pytest.approx(0.3 / 2 + 0.09 / 2)
    # A draft of 1 or 2 tokens, each accepted with 1/2: (1.5 + 1.75) / 2 tokens a round.
    assert ewif_vertical(0.5, 0.5, 0.1, 0.05, 1, 1) == pytest.approx(1.625 / 1.15)
    # 1 + 0.9 + 0.9 * 0.5 tokens for 1 + 0.2 + 0.1 runs.
    assert ewif_horizontal([(0.9, 0.2, 1), (0.5, 0.1, 1)]) == pytest.approx(2.35 / 1.3)


def test_speculative_as_in_leviathan():
    for alpha, c, k in product((0.0, 0.3, 0.9), (0.0, 0.2), (0, 1, 7)):
        assert ewif_speculative(alpha, c, k) == pytest.approx((1 - alpha ** (k + 1)) / ((1 - alpha) * (1 + c * k)))


def test_vertical_as_in_the_paper():
    for alpha, inner, n, k in product((0.2, 0.9), (0.3, 1.0), (1, 4), (0, 3)):
        tokens = (1 - alpha * phi(alpha, inner, k) ** n) / (1 - alpha)
        assert ewif_vertical(alpha, inner, 0.2, 0.01, n, k) == pytest.approx(tokens / (1 + n * 0.2 + n * k * 0.01))


def test_two_stages_closed_form():
    a1, a2, c1, c2, k1, k2 = 0.85, 0.6, 0.2, 0.03, 4, 7
    tokens = (1 - a1 ** (k1 + 1)) / (1 - a1) + a1**k1 * a2 * (1 - a2**k2) / (1 - a2)
    assert ewif_horizontal([(a1, c1, k1), (a2, c2, k2)]) == pytest.approx(tokens / (1 + c1 * k1 + c2 * k2))


def test_phi_is_a_generating_function():
    alpha, k = 0.7, 5
    chances = [alpha ** (j - 1) * (1 - alpha) for j in range(1, k + 1)] + [alpha**k]
    assert sum(chances) == pytest.approx(1)
    for x in (0.0, 0.25, 0.9, 1.0, 1.3):
        assert phi(x, alpha, k) == pytest.approx(sum(p * x**j for j, p in enumerate(chances, start=1)))


@pytest.mark.parametrize(
    ("alpha", "alpha_inner", "n", "k"), [(0.8, 0.4, 2, 3), (0.6, 0.9, 3, 2), (1.0, 0.5, 2, 2), (0.3, 1.0, 2, 3)]
)
def test_vertical_by_direct_summation(alpha, alpha_inner, n, k):
    """Sums over every outcome of the inner runs; a draft of `length` tokens yields 1 + alpha + ... + alpha^length."""
    chances = [alpha_inner ** (j - 1) * (1 - alpha_inner) for j in range(1, k + 1)] + [alpha_inner**k]
    tokens = 0.0
    for outcome in product(range(1, k + 2), repeat=n):
        chance = 1.0
        for emitted in outcome:
            chance *= chances[emitted - 1]
        tokens += chance * sum(alpha**i for i in range(sum(outcome) + 1))
    c1, c2 = 0.21, 0.013
    assert ewif_vertical(alpha, alpha_inner, c1, c2, n, k) == pytest.approx(tokens / (1 + n * c1 + n * k * c2))


def test_vertical_by_simulation():
    """Rounds simulated with a random generator; five standard errors."""
    alpha, alpha_inner, c1, c2, n, k = 0.8, 0.45, 0.15, 0.01, 3, 4
    dice = random.Random(7)

    def run(rate: float, length: int) -> int:
        accepted = 0
        while accepted < length and dice.random() < rate:
            accepted += 1
        return accepted + 1

    rounds = [run(alpha, sum(run(alpha_inner, k) for _ in range(n))) for _ in range(40_000)]
    mean = sum(rounds) / len(rounds)
    error = (sum((tokens - mean) ** 2 for tokens in rounds) / len(rounds) ** 2) ** 0.5
    assert ewif_vertical(alpha, alpha_inner, c1, c2, n, k) * (1 + n * c1 + n * k * c2) == pytest.approx(
        mean, abs=5 * error
    )


def test_limits():
    # Nothing is ever accepted: one token for the cost of the round.
    assert ewif_speculative(0, 0.1, 5) == pytest.approx(1 / 1.5)
    assert ewif_vertical(0, 0.7, 0.1, 0.01, 2, 3) == pytest.approx(1 / (1 + 0.2 + 0.06))
    assert ewif_horizontal([(0, 0.1, 5)]) == pytest.approx(1 / 1.5)
    # All is accepted: k + 1 tokens, or the mean number of tokens of the inner runs and one.
    assert ewif_speculative(1, 0.1, 5) == pytest.approx(6 / 1.5)
    assert ewif_vertical(1, 1, 0.1, 0.01, 2, 3) == pytest.approx(9 / (1 + 0.2 + 0.06))
    # Without drafts every form is autoregressive decoding.
    assert ewif_speculative(0.7, 0.1, 0) == ewif_vertical(0.7, 0.5, 0.1, 0.1, 0, 4) == ewif_horizontal([]) == 1
    # An inner draft of no tokens leaves plain speculative decoding.
    assert ewif_vertical(0.7, 0.5, 0.1, 0.3, 4, 0) == pytest.approx(ewif_speculative(0.7, 0.1, 4))
    # Near 1 the closed form is continuous.
    assert ewif_vertical(1 - 1e-9, 0.5, 0.1, 0.01, 3, 4) == pytest.approx(
        ewif_vertical(1, 0.5, 0.1, 0.01, 3, 4), rel=1e-6
    )


def test_free_inner_draft_never_loses():
    """The paper's corollary: with a free inner draft, the vertical cascade beats speculation with as many passes."""
    for alpha, alpha_inner, n in product((0.2, 0.6, 0.95), (0.1, 0.5, 0.9), (1, 3, 8)):
        assert ewif_vertical(alpha, alpha_inner, 0.2, 0, n, 5) > ewif_speculative(alpha, 0.2, n)


def test_best_k():
    assert best_k(0.75, SMALL, 30) == 12
    assert best_k(0.2, 0.5, 20) == 0  # no draft pays
    assert best_k(1, 0.1, 7) == 7
    assert best_k(0, 0, 5) == 0  # a tie goes to the shortest


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: ewif_speculative(1.2, 0.1, 2), "1.2"),
        (lambda: ewif_speculative(0.5, -0.1, 2), "-0.1"),
        (lambda: ewif_speculative(0.5, 0.1, -2), "-2"),
        (lambda: ewif_horizontal([(0.5, 0.1, -1)]), "-1"),
        (lambda: ewif_combined(0.5, 0.5, 1.5, 0.1, 0.1, 1, 1, 1), "1.5"),
        (lambda: ewif_speculative(float("nan"), 0.1, 2), "nan"),
    ],
)
def test_refusals(call, word):
    with pytest.raises(ValueError, match=word):
        call()
