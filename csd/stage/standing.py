"""How the lanes of a race stand to each other in speed: whom its line is about, and who was faster, or as fast."""

from __future__ import annotations

from csd.record import metrics
from csd.record.race import Race
from csd.record.trace import Trace

# Whom the line is about. Whoever adds a fixed plan to the adaptive cascade wants to know what the plan is worth.
FIXED, ADAPTIVE, SPECULATIVE = "cascade", "adaptive cascade", "speculative"
CASCADES = (FIXED, ADAPTIVE, "vertical cascade", "horizontal cascade")

EVEN = 0.05  # a ratio this close to 1 is no difference
CLOSE = 0.15  # and one this close no victory of one method over another: a single race is not as exact as that
LEAST = 0.1  # a ratio that one decimal still shows
SMALL = 1.5  # a gain below this asks for its reason


def times(ratio: float) -> str:
    """A ratio of speeds: "5.6×", or "0.08×" where one decimal would be nothing."""
    return f"{ratio:.1f}×" if ratio >= LEAST else f"{ratio:.2f}×"


def find_subject(race: Race) -> Trace | None:
    """The cascade whose speed is told; without one, the last lane besides the autoregressive one."""
    written = [trace for trace in race.traces if trace.tokens and trace is not race.reference and trace.lossless]
    by_method = {trace.header.method: trace for trace in written}
    return next((by_method[name] for name in CASCADES if name in by_method), written[-1] if written else None)


def ratio_of(race: Race, subject: Trace) -> float | None:
    """The subject's speed over autoregressive decoding; None where one of the two was stopped."""
    compared = [trace for trace in (subject, race.reference) if trace is not None]
    return None if any(trace.end == "stopped" for trace in compared) else race.speedup(subject)


def adaptive_beside(race: Race, subject: Trace) -> Trace | None:
    """The adaptive lane beside one with a fixed plan."""
    if subject.header.method != FIXED:
        return None
    return next((one for one in rivals_of(race, subject) if one.header.method == ADAPTIVE), None)


def is_even(ratio: float) -> bool:
    return abs(ratio - 1) <= EVEN


def rivals_of(race: Race, subject: Trace) -> list[Trace]:
    """The other lanes whose speed counts, besides the autoregressive one."""
    written = [trace for trace in race.traces if trace.tokens and trace.lossless and trace.end != "stopped"]
    return [trace for trace in written if trace is not subject and trace is not race.reference]


def find_faster(race: Race, subject: Trace) -> Trace | None:
    """The fastest lane, the autoregressive one included, where that is clearly another one than the subject."""
    reference = race.reference
    others = [*rivals_of(race, subject), *([reference] if reference is not None and reference.end != "stopped" else [])]
    fastest = max(others, key=metrics.speed, default=None)
    enough = 1 + (EVEN if fastest is reference else CLOSE)
    if fastest is None or metrics.speed(fastest) <= metrics.speed(subject) * enough:
        return None
    return fastest


def find_level(race: Race, subject: Trace) -> Trace | None:
    """The fastest other lane, where it is faster than the subject, but not clearly."""
    fastest = max(rivals_of(race, subject), key=metrics.speed, default=None)
    if fastest is None or metrics.speed(fastest) <= metrics.speed(subject) * (1 + EVEN):
        return None
    return fastest


def find_tied(race: Race, subject: Trace) -> Trace | None:
    """The fastest other lane that was as fast as the subject."""
    own = metrics.speed(subject)
    tied = [rival for rival in rivals_of(race, subject) if is_even(own / metrics.speed(rival))]
    return max(tied, key=metrics.speed, default=None)
