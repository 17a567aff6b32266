"""The paper's model on the blocks that a lane really drafted, for methods whose plan is not fixed."""

from __future__ import annotations

from statistics import fmean

from csd.decoding.methods.method import TARGET
from csd.record.trace import Proposal, Review, Step, Trace, walk
from csd.theory.measurement import drafters
from csd.theory.prediction import CostModel, RoundEstimate


def predict_blocks(trace: Trace, model: CostModel) -> RoundEstimate:
    """The mean round of a lane with at least one step.

    Each block keeps its length, its drafters and the passes that they took; which of its tokens are accepted is
    predicted: each with the alpha of its drafter, independently of the others.
    """
    rounds = [_predict_round(step, model) for step in trace.steps]
    return RoundEstimate(
        fmean(one.tokens for one in rounds),
        fmean(one.drafting for one in rounds),
        fmean(one.review for one in rounds),
        fmean(one.block for one in rounds),
    )


def _predict_round(step: Step, model: CostModel) -> RoundEstimate:
    tokens = survives = 1.0  # the target always adds a token of its own
    for _, drafter in zip(step.review.tokens, drafters(step.review), strict=False):
        survives *= model.alphas.get((TARGET, drafter), 0.0)
        tokens += survives
    length = len(step.review.tokens)
    drafting = sum(_cost(record, model) for inner in step.review.inner for record in walk(inner))
    return RoundEstimate(tokens, drafting, 1 + model.per_reviewed_token * length, length)


def _cost(record: Review | Proposal, model: CostModel) -> float:
    """Of one pass of a draft, or of the tokens that were copied, in target passes."""
    if isinstance(record, Review):
        return 0.0 if record.skipped else model.costs.get(record.by, 0.0)
    return len(record.tokens) * model.costs.get(record.by, 0.0)
