"""Titles of figures: what a race found, in a sentence with its numbers."""

from __future__ import annotations

from csd.decoding.methods.method import TARGET
from csd.record import metrics
from csd.record.metrics import AcceptanceCount
from csd.record.race import Race
from csd.record.trace import Trace
from csd.sentences import capitalized
from csd.theme import method_phrase


def fastest(race: Race) -> str:
    """Which lane is fastest, and how much; lanes whose text is not the target's do not count."""
    best = _best(race, [trace for trace in race.traces if trace is not race.reference])
    ratio = best and race.speedup(best)
    if best is None or ratio is None:
        return "Speed-up over autoregressive decoding"
    if ratio <= 1:
        return f"Nothing is faster than autoregressive decoding here: {phrase(race, best)} reaches {ratio:.2f}×"
    rough = f", roughly, in {len(best.tokens)} tokens" if len(best.tokens) < metrics.SHORT_RUN else ""
    return capitalized(f"{phrase(race, best)} is {ratio:.2f} times as fast as autoregressive decoding{rough}")


def accepted(race: Race) -> str:
    """How much of what the best lane drafts is accepted."""
    lane = drafting_lane(race)
    if lane is None:
        return "Guesses that the big model accepts"
    total = total_acceptance(lane)
    return f"The big model accepts {total.accepted} of {total.proposed} tokens guessed by {phrase(race, lane)}"


def block(race: Race) -> str:
    """How long the best lane's blocks are, and how much of them survives."""
    lane = drafting_lane(race)
    if lane is None:
        return "Acceptance by position in the block"
    total, blocks = total_acceptance(lane), sum(bool(step.review.tokens) for step in lane.steps)
    drafted, kept = total.proposed / blocks, total.accepted / blocks
    return capitalized(f"{phrase(race, lane)} guesses {drafted:.1f} tokens per block; the big model accepts {kept:.1f}")


def target_time(race: Race) -> str:
    """How long the target works, in the best lane and without drafts."""
    reference, best = race.reference, _best(race, [trace for trace in race.traces if trace is not race.reference])
    lanes = [lane for lane in (reference, best) if lane is not None and lane.steps]
    times = [(lane, metrics.seconds_by_level(lane).get(TARGET, 0.0)) for lane in lanes]
    if not times:
        return "Decoding time by level"
    told = [f"{_seconds(seconds)} in {phrase(race, lane)}" for lane, seconds in times]
    return f"The big model works {', '.join(told)}"


def drafting_lane(race: Race) -> Trace | None:
    """The fastest lane of those that drafted."""
    drafting = [trace for trace in race.traces if total_acceptance(trace).proposed]
    return _best(race, drafting) or next(iter(drafting), None)


def total_acceptance(trace: Trace) -> AcceptanceCount:
    counts = metrics.acceptance(trace).values()
    return AcceptanceCount(sum(one.proposed for one in counts), sum(one.accepted for one in counts))


def phrase(race: Race, lane: Trace) -> str:
    """How a sentence calls a lane; by its number where a method runs in several."""
    name = race.names[next(i for i, trace in enumerate(race.traces) if trace is lane)]
    method = lane.header.method
    return method_phrase(method) if name == method else f"lane {name.replace(':', ',')}"


def _best(race: Race, traces: list[Trace]) -> Trace | None:
    ratios = [(race.speedup(trace) or 0.0, trace) for trace in traces if trace.lossless and trace.steps]
    return max(ratios, key=lambda pair: pair[0])[1] if ratios else None


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"
