"""The paper's model of speed in closed form: the expected walltime improvement factor (EWIF).

An EWIF is the expected number of tokens per round, divided by the cost of the round in target passes. The model assumes
that acceptances are independent, that a review costs one pass however long the block is, and that nothing else takes
time.

Symbols: alpha is the share of a drafter's tokens that its reviewer accepts, from 0 to 1; c is the time of one pass of a
drafter (for Max-Gram: of one copied token) in target passes; k and n count tokens and passes.

Sources: Cascade Speculative Drafting (arXiv 2312.11462, section 4); Leviathan et al. (arXiv 2211.17192, theorem 3.8).
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def ewif_speculative(alpha: float, c: float, k: int) -> float:
    """Speculative decoding with k draft tokens per round: (1 - alpha^(k+1)) / ((1 - alpha) (1 + c k)) (Leviathan, 3.8).

    k = 0 is autoregressive decoding, hence 1.
    """
    return ewif_horizontal([(alpha, c, k)])


def ewif_horizontal(stages: Iterable[tuple[float, float, int]]) -> float:
    """Horizontal cascade (paper, theorem 4.5): (1 + a_1 + a_1 a_2 + ...) / (1 + c_1 + c_2 + ...) over the positions.

    A stage (alpha, c, k) stands for k consecutive positions with the same alpha and c.
    """
    tokens, cost, survives = 1.0, 1.0, 1.0
    for alpha, c, k in stages:
        _check_rates(alpha)
        _check_costs(c)
        _check_counts(k)
        tokens += survives * alpha * _geometric(alpha, k)
        survives *= alpha**k
        cost += c * k
    return tokens / cost


def ewif_vertical(alpha: float, alpha_inner: float, c1: float, c2: float, n: int, k: int) -> float:
    """Vertical cascade (paper, theorem 4.3): (1 - alpha phi(alpha)^n) / ((1 - alpha) (1 + n c1 + n k c2)).

    n passes of the first draft (accepted by the target at rate alpha, cost c1), each reviewing k tokens of the second
    (accepted by the first at rate alpha_inner, cost c2). Both costs are in target passes.
    """
    return ewif_combined(alpha, alpha_inner, 0.0, c1, c2, n, k, 0)


def ewif_combined(
    alpha: float, alpha_inner: float, alpha_tail: float, c1: float, c2: float, n: int, k: int, tail: int
) -> float:
    """Both cascades: the vertical one (theorem 4.3), then `tail` more tokens of the second draft (theorem 4.5).

    alpha_tail: rate at which the target accepts the second draft's tokens. tail = 0 leaves the vertical cascade.
    The paper's (1 - alpha phi^n) / (1 - alpha) is divided out, so that alpha = 1 needs no limit: with
    1 - phi = (1 - alpha) g it is 1 + alpha g (1 + phi + ... + phi^(n-1)). The tail counts if all tokens before it are
    accepted, which has probability phi(alpha)^n.
    """
    _check_rates(alpha, alpha_inner, alpha_tail)
    _check_costs(c1, c2)
    _check_counts(n, k, tail)
    survives = phi(alpha, alpha_inner, k)
    vertical = 1 + alpha * _geometric(alpha * alpha_inner, k + 1) * _geometric(survives, n)
    horizontal = survives**n * alpha_tail * _geometric(alpha_tail, tail)
    return (vertical + horizontal) / (1 + n * c1 + (n * k + tail) * c2)


def phi(x: float, alpha: float, k: int) -> float:
    """Probability generating function, at x, of the number of tokens that a pass of a draft emits (paper, theorem 4.3).

    The draft reviews k tokens that it accepts at rate alpha and emits N of 1 to k + 1 tokens, P(N >= j) = alpha^(j-1).
    """
    _check_rates(alpha)
    _check_counts(k)
    return 1 + (x - 1) * _geometric(x * alpha, k + 1)


def best_k(alpha: float, c: float, k_max: int) -> int:
    """The draft length up to k_max with the highest `ewif_speculative`; 0 where drafting does not pay."""
    _check_counts(k_max)
    return max(range(k_max + 1), key=lambda k: ewif_speculative(alpha, c, k))


def _geometric(x: float, n: int) -> float:
    """1 + x + ... + x^(n-1), also correct at x = 1."""
    return sum(x**i for i in range(n))


def _check_rates(*alphas: float) -> None:
    for alpha in alphas:
        if not 0 <= alpha <= 1:
            raise ValueError(f"An acceptance rate must be between 0 and 1, not {alpha}.")


def _check_costs(*costs: float) -> None:
    for c in costs:
        if not 0 <= c < math.inf:
            raise ValueError(f"A cost must be a finite number of target passes, 0 or more, not {c}.")


def _check_counts(*counts: int) -> None:
    for k in counts:
        if k < 0:
            raise ValueError(f"A number of tokens or passes must be 0 or more, not {k}.")
