"""A prediction from numbers that a visitor assumes, and which of them a race then found to be others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from csd.decoding.k_matrix import Matrix, to_budgets
from csd.decoding.methods import Cascade, Speculative
from csd.decoding.stages import Stage, cascade_stages
from csd.theory.comparison import is_near
from csd.theory.prediction import CostModel, Pair, predict_round
from csd.theory.what_if import PanelSettings, with_usual_values

Number = Pair | str
"""A number of a cost model: the pair whose alpha it is, the draft whose cost it is, or WIDTH."""
WIDTH = "width"
MOST_TOLD = 2  # numbers: more do not fit a sentence
SHARE = 0.2  # of the gap between two predictions, that a number must close to be told
LEAST = math.log(1.1)  # the same in itself


@dataclass(frozen=True)
class Prediction:
    """What a race is to measure: speculative decoding with `draft` and k, and the cascade with K, predicted from the
    numbers of `model`, of which the visitor has `moved` some."""

    drafts: tuple[str, ...]
    draft: str
    k: int
    K: Matrix
    model: CostModel
    moved: frozenset[Number] = frozenset()

    @property
    def plans(self) -> dict[str, tuple[Stage, ...]]:
        budgets = to_budgets(self.K)
        return {Speculative.name: (Stage(self.draft, self.k),), Cascade.name: cascade_stages(self.drafts, budgets)}

    @property
    def speedups(self) -> dict[str, float]:
        """Over autoregressive decoding, by method."""
        return {method: predict_round(plan, self.model).ewif for method, plan in self.plans.items()}

    def is_of(self, race: PanelSettings) -> bool:
        """Whether a race ran these plans."""
        return (race.drafts, race.draft, race.k, race.K) == (self.drafts, self.draft, self.k, self.K)

    def with_numbers_of(self, race: PanelSettings) -> Prediction:
        """What the panel predicts once it has taken over the race's numbers."""
        return replace(self, model=with_usual_values(self.drafts, race.model), moved=frozenset())


@dataclass(frozen=True)
class OtherNumber:
    """A number that a race found to be another one than was `assumed`."""

    number: Number
    assumed: float
    found: float


def wrongly_moved(prediction: Prediction, race: PanelSettings) -> tuple[OtherNumber, ...]:
    """Of the numbers that the visitor has moved, the few that explain most of the gap between the prediction and the
    one with the race's numbers."""
    again = prediction.with_numbers_of(race)
    assumed, found = _numbers(prediction.model), _numbers(again.model)
    moved = [number for number in _numbers(race.model) if number in found and number in prediction.moved]
    known, told = prediction, []
    whole = left = _distance(known.speedups, again.speedups)
    while len(told) < MOST_TOLD:
        corrected = {number: _with(known, number, found[number]) for number in moved if number not in told}
        closed = {number: left - _distance(one.speedups, again.speedups) for number, one in corrected.items()}
        enough = [number for number, gain in closed.items() if gain >= max(LEAST, SHARE * whole)]
        if not enough:
            break
        best = max(enough, key=closed.__getitem__)
        known, left = corrected[best], left - closed[best]
        told.append(best)
    return tuple(OtherNumber(number, assumed.get(number, 0.0), found[number]) for number in told)


def are_near(some: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Whether all speed-ups are about the same, by method."""
    return all(is_near(some[method], others[method]) for method in others)


def _numbers(model: CostModel) -> dict[Number, float]:
    return {**model.alphas, **model.costs, WIDTH: model.per_reviewed_token}


def _with(prediction: Prediction, number: Number, value: float) -> Prediction:
    """The same with another value of one number."""
    model = prediction.model
    if number == WIDTH:
        return replace(prediction, model=replace(model, per_reviewed_token=value))
    if isinstance(number, str):
        return replace(prediction, model=replace(model, costs={**model.costs, number: value}))
    return replace(prediction, model=replace(model, alphas={**model.alphas, number: value}))


def _distance(some: Mapping[str, float], others: Mapping[str, float]) -> float:
    """How far speed-ups are apart, as the sum of logarithms of ratios."""
    return sum(abs(math.log(some[method] / others[method])) for method in others)
