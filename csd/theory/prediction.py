"""The expected speed-up of any plan of stages, under the assumptions of `csd.theory.ewif`.

The closed forms cover regular trees only. Here the recursion of Algorithm 1 is evaluated directly, so that every K
has a prediction; where a closed form exists, both agree (tests/theory).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from csd.decoding.methods.method import TARGET
from csd.decoding.stages import Stage

Pair = tuple[str, str]
"""A reviewer and the drafter whose tokens it reviews."""
Distribution = dict[int, float]
"""The probability of each number of tokens."""


@dataclass(frozen=True)
class CostModel:
    """What a prediction needs: alpha of each pair, and c of each drafter in target passes; what is missing counts as 0.

    c is per pass, for Max-Gram per copied token. `per_reviewed_token` is how much of a target pass each drafted token
    adds to the target's review; the paper assumes 0.
    """

    alphas: Mapping[Pair, float] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)
    per_reviewed_token: float = 0.0

    def __post_init__(self) -> None:
        for (reviewer, drafter), alpha in self.alphas.items():
            if not 0 <= alpha <= 1:
                raise ValueError(f"alpha of {reviewer} and {drafter} must be between 0 and 1, not {alpha:g}.")
        for name, cost in {**self.costs, "a reviewed token": self.per_reviewed_token}.items():
            if not 0 <= cost < math.inf:
                raise ValueError(f"The cost of {name} must be a finite number, 0 or more, not {cost:g}.")


@dataclass(frozen=True)
class RoundEstimate:
    """Expectations for one round of the target: `tokens` emitted, `drafting` and `review` costs in target passes, and
    the length of the reviewed `block` in tokens."""

    tokens: float
    drafting: float
    review: float
    block: float

    @property
    def passes(self) -> float:
        """What the round costs in all."""
        return self.drafting + self.review

    @property
    def ewif(self) -> float:
        return self.tokens / self.passes

    @property
    def flat_ewif(self) -> float:
        """The same if the review cost one pass whatever its length, as in the paper."""
        return self.tokens / (self.drafting + 1)


def predict_round(stages: Sequence[Stage], model: CostModel) -> RoundEstimate:
    """One round of the target over this plan. Time grows with the size of the tree and the square of its lengths."""
    block = _draft_and_review(TARGET, stages, model)
    length = _mean(block.lengths)
    return RoundEstimate(_mean(block.emitted), block.cost, 1 + model.per_reviewed_token * length, length)


@dataclass(frozen=True)
class _Block:
    """One round of some reviewer: the length of the block it reviews, how many tokens its review emits, and the
    expected cost of the drafts in target passes."""

    lengths: Distribution
    emitted: Distribution
    cost: float


def _draft_and_review(reviewer: str, stages: Sequence[Stage], model: CostModel) -> _Block:
    """Follow the block as it grows, run by run, and judging each token as soon as it is written.

    `reached[n]` is the probability that the block has n tokens at this point; `intact[n]` is the part of it in which
    the reviewer accepts all n. A stage runs its drafter while the block is shorter than the stage's goal. A run emits
    N tokens, distributed as what the drafter's own review emits (the recursion), and the reviewer accepts each with
    probability alpha. So from an intact block of n tokens

        all N tokens survive:            the block is intact at n + N,  P(N) alpha^N
        the j-th token is the first bad: the review emits n + j tokens, P(N >= j) alpha^(j-1) (1 - alpha)

    (j - 1 accepted tokens and the reviewer's correction). A block that is intact at the end emits all its tokens and a
    bonus. The block keeps growing after a bad token, because the review comes only at its end: hence two distributions.
    """
    reached: Distribution = defaultdict(float, {0: 1.0})
    intact: Distribution = defaultdict(float, {0: 1.0})
    emitted: Distribution = defaultdict(float)
    cost, goal = 0.0, 0
    for stage in stages:
        goal += stage.k
        run = _draft_and_review(stage.name, stage.below, model)
        run_cost = model.costs.get(stage.name, 0.0) + run.cost
        alpha = model.alphas.get((reviewer, stage.name), 0.0)
        survives = {n: p * alpha**n for n, p in run.emitted.items()}
        first_bad = _first_rejection(run.emitted, alpha)
        for length in range(goal):  # upwards, since every run adds at least one token
            here, good = reached.pop(length, 0.0), intact.pop(length, 0.0)
            if here:
                cost += here * run_cost
                _add(reached, run.emitted, length, here)
                _add(intact, survives, length, good)
                _add(emitted, first_bad, length, good)
    _add(emitted, intact, 1, 1.0)
    return _Block(reached, emitted, cost)


def _first_rejection(run: Distribution, alpha: float) -> Distribution:
    """For each j, the probability that a run has a j-th token and that it is the first one to be rejected."""
    found, at_least = {}, 1.0
    for j in range(1, max(run) + 1):
        found[j] = at_least * alpha ** (j - 1) * (1 - alpha)
        at_least -= run.get(j, 0.0)
    return found


def _add(to: Distribution, more: Distribution, offset: int, weight: float) -> None:
    """Add a distribution, moved by `offset` tokens and scaled by `weight`."""
    for tokens, p in more.items():
        to[tokens + offset] += weight * p


def _mean(distribution: Distribution) -> float:
    return sum(tokens * p for tokens, p in distribution.items())
