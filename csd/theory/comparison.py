"""The prediction beside the measurement, lane by lane, and in sentences why they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.stages import Stage
from csd.record.metrics import AcceptanceCount
from csd.record.race import REFERENCE, Race, same_settings
from csd.record.trace import Trace
from csd.theory.blocks import predict_blocks
from csd.theory.measurement import (
    MeasuredRound,
    measure_acceptance,
    measure_cost_model,
    measure_costs,
    measure_round,
    target_step_seconds,
)
from csd.theory.plan import formula_of, plan_of
from csd.theory.prediction import Pair, RoundEstimate, predict_round

SAME_TOKENS = 0.05  # relative difference up to which measured and predicted tokens per round count as equal
BLOCKS = (
    "Its plan is not fixed: the prediction takes the blocks that it drafted, and predicts what is accepted of them."
)
NEAR = 0.1  # relative difference up to which a measured speed-up is near the predicted one
CHANCES = (
    "The theory gives every guess the same chance. Real text has easy and hard places: the adaptive cascade guesses on "
    "in the easy ones and stops in the hard ones, which no fixed plan can."
)
SHORT_BLOCK = 0.9  # share of the predicted block length below which blocks count as cut short


@dataclass(frozen=True)
class LaneComparison:
    """One lane: acceptance and costs in this race, the predicted speed-up, and the measured ones, this race's first.

    `flat` is the paper's prediction, `wide` adds this lane's own cost of reviewed tokens; None where nothing was
    measured. For a method without a fixed plan both are predictions for the blocks that the lane drafted. `reasons` are
    sentences, and `gap` says in a few words why `wide` is far from what was measured; empty where it is near. `about`
    is a sentence instead, where an adaptive lane got more tokens out of its blocks than equal chances give.
    """

    name: str
    method: str
    formula: str
    acceptance: Mapping[Pair, AcceptanceCount]
    costs: Mapping[str, float]
    flat: float | None
    wide: float | None
    measured: tuple[float, ...]
    reasons: tuple[str, ...]
    gap: str = ""
    about: str = ""

    @property
    def is_reference(self) -> bool:
        return self.method == REFERENCE


def compare_with_theory(race: Race, earlier: Sequence[Race] = ()) -> tuple[LaneComparison, ...]:
    """Every lane beside its prediction. Those of the `earlier` races that had the same settings give the spread."""
    target_step = target_step_seconds(race)
    races = (race, *(other for other in earlier if same_settings(race, other)))
    return tuple(
        _compare_lane(name, trace, target_step, _speedups(races, lane))
        for lane, (name, trace) in enumerate(zip(race.names, race.traces, strict=True))
    )


def format_spread(speedups: Sequence[float]) -> str:
    """Such as "2.31×, 2.25 to 2.40 in 3 races"; a dash where there is none, "1.00×" for the reference."""
    if not speedups:
        return "–"
    if set(speedups) == {1.0}:
        return "1.00×"
    if len(speedups) == 1:
        return f"{speedups[0]:.2f}× in one race; race again to see the spread"
    return f"{median(speedups):.2f}×, {min(speedups):.2f} to {max(speedups):.2f} in {len(speedups)} races"


def _speedups(races: Sequence[Race], lane: int) -> tuple[float, ...]:
    ratios = (race.speedup(race.traces[lane]) for race in races)
    return tuple(ratio for ratio in ratios if ratio is not None)


def _compare_lane(name: str, trace: Trace, target_step: float, measured: tuple[float, ...]) -> LaneComparison:
    method, formula = trace.header.method, formula_of(trace)
    if missing := _missing(trace, target_step):
        return LaneComparison(name, method, formula, {}, {}, None, None, measured, (missing,))
    acceptance, costs = measure_acceptance((trace,)), measure_costs((trace,), target_step)
    found, plan, model = measure_round(trace, target_step), plan_of(trace), measure_cost_model((trace,), target_step)
    estimate = predict_blocks(trace, model) if plan is None else predict_round(plan, model)
    reasons = (_explain_tokens(found, estimate, plan or ()), _explain_cost(found, estimate))
    if plan is None:
        reasons = (BLOCKS, *reasons)
    elif not plan:
        reasons = ()
    flat, wide = estimate.flat_ewif, estimate.ewif
    lane = LaneComparison(name, method, formula, acceptance, costs, flat, wide, measured, reasons)
    if not measured or is_near(measured[0], wide):
        return lane
    if plan is None and measured[0] > wide and found.tokens > (1 + SAME_TOKENS) * estimate.tokens:
        return replace(lane, about=CHANCES)
    return replace(lane, gap=_name_gap(trace, found, estimate, measured[0] > wide))


def is_near(measured: float, predicted: float, relative: float = NEAR) -> bool:
    """Whether a prediction holds, as far as one race can tell."""
    return abs(measured / predicted - 1) < relative


def _name_gap(trace: Trace, found: MeasuredRound, estimate: RoundEstimate, is_faster: bool) -> str:
    """Why a lane was faster or slower than predicted, for those who do not know the theory."""
    if not is_near(found.tokens, estimate.tokens, SAME_TOKENS) and is_faster == (found.tokens > estimate.tokens):
        if is_faster:
            return "right guesses came in streaks"
        had_wrong = any(step.review.accepted < len(step.review.tokens) for step in trace.steps)
        return "wrong guesses came in clusters" if had_wrong else "steps had fewer guesses than predicted"
    return f"steps took {'less' if found.total < estimate.drafting + estimate.review else 'more'} time"


def _missing(trace: Trace, target_step: float) -> str:
    """Why nothing can be said of a lane; empty where something can."""
    if not trace.steps:
        return "This lane generated nothing, so nothing was measured."
    if not trace.lossless:
        return "The big model takes no part in this lane, so there is nothing to predict."
    if math.isnan(target_step):
        return "No run of the big model over one token was measured to compare with. Race with the autoregressive lane."
    return ""


def _explain_tokens(found: MeasuredRound, estimate: RoundEstimate, plan: Sequence[Stage]) -> str:
    """Why a round emitted more or fewer tokens than independent acceptance gives."""
    start = f"A step emitted {found.tokens:.1f} tokens; the theory predicts {estimate.tokens:.1f}"
    if is_near(found.tokens, estimate.tokens, SAME_TOKENS):
        return f"{start}. Acceptances were close to independent."
    if found.tokens > estimate.tokens:
        return f"{start}. Acceptances are correlated: easy stretches of the text are accepted in long runs."
    if found.drafted < SHORT_BLOCK * estimate.block:
        cause = "The copier found less to copy" if _copies(plan) else "The end of the text cut blocks short"
        return f"{start}. {cause}: blocks had {found.drafted:.1f} tokens instead of {estimate.block:.1f}."
    return f"{start}. Acceptances are correlated: rejections cluster in hard stretches."


def _explain_cost(found: MeasuredRound, estimate: RoundEstimate) -> str:
    """Why a round cost more or less than the paper's model counts."""
    return (
        f"It cost {found.total:.2f} runs of the big model; the theory predicts {1 + estimate.drafting:.2f}. The "
        f"review of {found.drafted:.1f} drafted tokens took {found.review:.2f} instead of 1, drafting "
        f"{found.drafts:.2f} instead of {estimate.drafting:.2f}, overhead {found.overhead:.2f} instead of 0."
    )


def _copies(plan: Sequence[Stage]) -> bool:
    return any(MAX_GRAM in stage.names() for stage in plan)
