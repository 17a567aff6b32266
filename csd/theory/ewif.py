"""The paper's model of speed: expected walltime improvement factors (EWIF) in closed form.

Source: Cascade Speculative Drafting, arXiv 2312.11462, section 4; speculative decoding as in Leviathan et al., theorem 3.8.
The model assumes independent acceptances, a review that costs one run whatever its width, and no overhead.
Real reviews cost more the wider they are, so a measured speed-up is usually lower.

Symbols: alpha is the share of a draft's tokens that its reviewer accepts, from 0 to 1; c is the time of one draft run in
target runs; k counts tokens. An EWIF is the expected number of tokens per target run, divided by the cost of a round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, repeat
from operator import mul


def phi(x: float, alpha: float, k: int) -> float:
    """Probability generating function of the tokens that one draft run emits, at x (paper, theorem 4.3).

    The draft reviews k tokens that it accepts with rate alpha; it emits 1 to k + 1 tokens, N >= j with chance alpha^(j-1).
    """
    _check_rates(alpha)
    _check_counts(k)
    return 1 + (x - 1) * _geometric(x * alpha, k + 1)


def ewif_speculative(alpha: float, c: float, k: int) -> float:
    """Speculative decoding with k draft tokens a round: (1 - alpha^(k+1)) / ((1 - alpha)(1 + c k)) (Leviathan, theorem 3.8).

    At k = 0 this is autoregressive decoding, hence 1.
    """
    _check_rates(alpha)
    _check_costs(c)
    _check_counts(k)
    return _geometric(alpha, k + 1) / (1 + c * k)


def ewif_vertical(alpha: float, alpha_inner: float, c1: float, c2: float, n: int, k: int) -> float:
    """Vertical cascade: n runs of the first draft a round, each reviewing k tokens of the second (paper, theorem 4.3).

    alpha: target against the first draft; alpha_inner: first draft against the second; c1 and c2 are both in target runs.
    The paper's (1 - alpha phi(alpha)^n) / (1 - alpha) is divided out here, so that alpha = 1 needs no limit.
    """
    _check_rates(alpha, alpha_inner)
    _check_costs(c1, c2)
    _check_counts(n, k)
    # 1 - phi = (1 - alpha) g, so (1 - alpha phi^n) / (1 - alpha) = 1 + alpha g (1 + phi + ... + phi^(n-1)).
    g = _geometric(alpha * alpha_inner, k + 1)
    tokens = 1 + alpha * g * _geometric(phi(alpha, alpha_inner, k), n)
    return tokens / (1 + n * c1 + n * k * c2)


def ewif_horizontal(stages: Iterable[tuple[float, float, int]]) -> float:
    """Horizontal cascade: stages of (alpha, c, k), each drafting k tokens at cost c apiece, in order (paper, theorem 4.5)."""
    stages = tuple(stages)
    _check_counts(*(k for _, _, k in stages))
    alphas = chain.from_iterable(repeat(alpha, k) for alpha, _, k in stages)
    costs = chain.from_iterable(repeat(c, k) for _, c, k in stages)
    return ewif_positions(tuple(alphas), tuple(costs))


def ewif_positions(alphas: Sequence[float], costs: Sequence[float]) -> float:
    """Theorem 4.5 in full: position i is drafted at costs[i] and, once reached, accepted with rate alphas[i]."""
    if len(alphas) != len(costs):
        raise ValueError(f"Give one cost for each position: there are {len(alphas)} rates and {len(costs)} costs.")
    _check_rates(*alphas)
    _check_costs(*costs)
    return sum(accumulate(alphas, mul, initial=1.0)) / (1 + sum(costs))


def best_k(alpha: float, c: float, k_max: int) -> int:
    """The draft length from 0 to k_max with the highest `ewif_speculative`, the shortest on ties; 0: drafting does not pay."""
    _check_counts(k_max)
    return max(range(k_max + 1), key=lambda k: ewif_speculative(alpha, c, k))


def _geometric(x: float, n: int) -> float:
    """1 + x + ... + x^(n-1), also right at x = 1."""
    return sum(x**i for i in range(n))


def _check_rates(*alphas: float) -> None:
    for alpha in alphas:
        if not 0 <= alpha <= 1:
            raise ValueError(f"An acceptance rate lies between 0 and 1; {alpha} does not.")


def _check_costs(*costs: float) -> None:
    for c in costs:
        if not 0 <= c < float("inf"):
            raise ValueError(f"A cost is a finite number of target runs, 0 or more; {c} is not.")


def _check_counts(*counts: int) -> None:
    for k in counts:
        if k < 0:
            raise ValueError(f"A number of tokens or runs is 0 or more; {k} is not.")
