"""What a race measured, in the terms of the theory: acceptance rates of pairs, and costs in target passes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from statistics import fmean

from csd.decoding.methods.method import TARGET
from csd.record import metrics
from csd.record.metrics import AcceptanceCount
from csd.record.race import Race
from csd.record.trace import Proposal, Review, Trace
from csd.theory.prediction import CostModel, Pair


def measure_acceptance(traces: Sequence[Trace]) -> dict[Pair, AcceptanceCount]:
    """alpha of each pair: of the tokens that the reviewer judged individually, how many it accepted.

    Tokens after a rejected one were not judged and do not count, as in the paper's definition.
    """
    judged: dict[Pair, int] = defaultdict(int)
    accepted: dict[Pair, int] = defaultdict(int)
    for trace in traces:
        for record in metrics.records(trace):
            if isinstance(record, Review):
                shown = min(record.accepted + 1, len(record.tokens))
                for position, drafter in zip(range(shown), drafters(record), strict=False):
                    judged[record.by, drafter] += 1
                    accepted[record.by, drafter] += position < record.accepted
    return {pair: AcceptanceCount(judged[pair], accepted[pair]) for pair in judged}


def target_step_seconds(race: Race) -> float:
    """Seconds of a target pass over a single token, from the reference lane or from rounds without a draft; or nan."""
    reference = race.reference
    traces = (reference,) if reference is not None and reference.steps else race.traces
    steps = [step for trace in traces if trace.lossless for step in trace.steps]
    passes = [step.review.seconds for step in steps if not step.review.tokens]
    mean = sum(passes) / len(passes) if passes else math.nan
    return mean if 0 < mean < math.inf else math.nan


def measure_costs(traces: Sequence[Trace], target_step: float) -> dict[str, float]:
    """c of every drafter that ran, in target passes: the mean time of a pass, for Max-Gram of a copied token."""
    seconds: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for trace in traces:
        for record in metrics.records(trace):
            if record.by != TARGET and not (isinstance(record, Review) and record.skipped):
                seconds[record.by] += record.seconds
                counts[record.by] += len(record.tokens) if isinstance(record, Proposal) else 1
    costs = {name: seconds[name] / counts[name] / target_step for name in seconds if counts[name]}
    return {name: cost for name, cost in costs.items() if math.isfinite(cost)}


def cost_per_reviewed_token(traces: Sequence[Trace], target_step: float) -> float:
    """How much of a target pass each drafted token added to the target's reviews; 0 where nothing was drafted."""
    reviews = [step.review for trace in traces for step in trace.steps if step.review.tokens]
    if not reviews:
        return 0.0
    extra = sum(review.seconds - target_step for review in reviews) / target_step
    cost = extra / sum(len(review.tokens) for review in reviews)
    return cost if 0 < cost < math.inf else 0.0


def measure_cost_model(traces: Sequence[Trace], target_step: float) -> CostModel:
    """alpha, c and the cost of reviewed tokens over these lanes; empty where `target_step` is nan."""
    if math.isnan(target_step):
        return CostModel()
    alphas = {pair: count.rate for pair, count in measure_acceptance(traces).items()}
    return CostModel(alphas, measure_costs(traces, target_step), cost_per_reviewed_token(traces, target_step))


@dataclass(frozen=True)
class MeasuredRound:
    """A lane's mean round: `tokens` emitted, `drafted` tokens reviewed, and its times in target passes."""

    tokens: float
    drafted: float
    total: float
    review: float
    drafts: float
    overhead: float


def measure_round(trace: Trace, target_step: float) -> MeasuredRound:
    """The mean over all rounds of a lane that has at least one."""
    seconds = metrics.seconds_by_level(trace)
    scale = 1 / (len(trace.steps) * target_step)
    total, review, overhead = trace.decode_seconds, seconds.get(TARGET, 0.0), seconds[metrics.OVERHEAD]
    return MeasuredRound(
        tokens=metrics.mat(trace),
        drafted=fmean(len(step.review.tokens) for step in trace.steps),
        total=total * scale,
        review=review * scale,
        drafts=(total - review - overhead) * scale,
        overhead=overhead * scale,
    )


def drafters(review: Review) -> Iterator[str]:
    """For each token of the reviewed block, who handed it up (not who first proposed it)."""
    for inner in review.inner:
        if isinstance(inner, Review):
            yield from repeat(inner.by, inner.accepted + (inner.token is not None))
        else:
            yield from repeat(inner.by, len(inner.tokens))
