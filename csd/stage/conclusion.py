"""What a race showed, in words: badge, speed-up and remarks for each lane, notes on the text, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from csd.record import metrics
from csd.record.race import Race
from csd.record.trace import Trace
from csd.record.verdict import Verdict
from csd.sentences import capitalized, counted, listed
from csd.stage.headline import headline, over_races, with_prefill

COPIED = 0.25  # share of a lane's tokens from the statistical level above which copying explains its speed

STOPPED = "This lane or the autoregressive one was stopped, so only their shared length was compared."

Badge = tuple[str, str, tuple[str, ...]]  # kind, text, remarks


def conclude(race: Race, again: Sequence[Race] = ()) -> dict[str, Any]:
    """What is shown after a race: {headline, lanes: [{kind, badge, speed, notes}], notes, summary}. `again` are other
    races of the same visitor."""
    lanes = []
    for trace, verdict in zip(race.traces, race.verdicts):
        kind, badge, notes = _badge(trace, verdict)
        lanes.append({"kind": kind, "badge": badge, "speed": speedup_text(race, trace), "notes": list(notes)})
    shown = {"headline": asdict(headline(race)), "lanes": lanes}
    notes = [*_repetition_notes(race), *filter(None, [with_prefill(race), over_races(race, again)])]
    return {**shown, "notes": notes, "summary": summary(race)}


def speedup_text(race: Race, trace: Trace) -> str:
    """Such as "1.80x autoregressive, 1.62x with prefill"; empty if there is nothing to compare."""
    decoding, whole = race.speedup(trace), race.speedup_with_prefill(trace)
    if trace is race.reference or decoding is None or whole is None:
        return ""
    slower = "slower here: " if decoding < 0.995 else ""
    return f"{slower}{decoding:.2f}x autoregressive, {whole:.2f}x with prefill"


def summary(race: Race) -> str:
    """One spoken sentence per lane, for screen readers."""
    parts = []
    for trace in race.traces:
        text = speedup_text(race, trace)
        end = {"stopped": "stopped after", "eos": "finished with"}.get(trace.end, "wrote")
        speed = f" at {metrics.speed(trace):.0f} tokens per second" if trace.tokens else ""
        parts.append(
            f"{trace.header.method} {end} {counted(len(trace.tokens), 'token')}{speed}" + (f", {text}" if text else "")
        )
    return "The race has ended. " + "; ".join(parts) + "."


def _badge(trace: Trace, verdict: Verdict) -> Badge:
    if verdict.kind == "reference":
        return "reference", "the reference: one run of the big model per token", ()
    if verdict.kind == "not lossless":
        return "lossy", _lossy(verdict), ("The target did not review this text: it is another model's.",)
    if verdict.kind == "same distribution":
        promise = (
            "The acceptance rule guarantees the target's distribution, not the same text; one run cannot show that."
        )
        return "law", "same distribution as autoregressive, different sample", (promise,)
    if verdict.kind == "not compared":
        return "none", f"not checked: {verdict.reason}", ()
    if verdict.kind == "identical":
        part = () if verdict.whole else (STOPPED,)
        return (
            "identical",
            f"= identical to autoregressive, {verdict.compared} of {counted(len(trace.tokens), 'token')}",
            part,
        )
    margin = "" if verdict.margin is None else f" (margin {_small(verdict.margin)})"
    return "differs", f"differs from position {verdict.position}{margin}", (_cause(verdict, trace.header.dtype),)


def _lossy(verdict: Verdict) -> str:
    """How long another model's text is the target's."""
    if not verdict.compared:
        return "not lossless: another model's text"
    if verdict.position is None:
        return f"not lossless, but the same text here: {counted(verdict.compared, 'token')}"
    return f"not lossless: differs from position {verdict.position}"


def _cause(verdict: Verdict, dtype: str) -> str:
    """What a difference under greedy or coupled decoding means."""
    number_format = dtype.removeprefix("torch.")
    if verdict.margin is None:
        return "No margin was recorded at that position, so the cause is unknown."
    apart = _small(verdict.margin)
    if verdict.kind == "near-tie":
        return f"A near-tie: the two best scores there differ by {apart}, within {number_format} rounding."
    too_large = f"which is too large to be {number_format} rounding"
    return f"The two best scores there differ by {apart}, {too_large}. This is a bug."


def _repetition_notes(race: Race) -> list[str]:
    """One note per text that repeats itself, and one per lane that is fast because it copies such a text."""
    looping = [trace for trace in race.traces if metrics.repeats_itself(trace)]
    texts = {trace.tokens: _how_repetitive(trace) for trace in looping}
    notes = [f"This text is repetitive ({how}), so it is easy to guess." for how in texts.values()]
    faster = [trace for trace in looping if (race.speedup(trace) or 0) > 1]
    shares = [(trace.header.method, metrics.copied(trace)) for trace in faster]
    copied = listed([f"the lane {name} copied {share:.0%}" for name, share in shares if share >= COPIED])
    more = f"{capitalized(copied)} of its tokens: expect a smaller speed-up on less repetitive text."
    return [*notes, more] if copied else notes


def _how_repetitive(trace: Trace) -> str:
    if metrics.repeated(trace) > metrics.REPEATED_LIMIT:
        return f"{metrics.repeated(trace):.0%} of its 8-grams occurred earlier"
    return f"{metrics.looped(trace):.0%} of its words only continue a loop"


def _small(value: float) -> str:
    """A margin with two significant figures and no exponent: 0.000021, 0.34."""
    if value == 0:
        return "0"
    digits = 2
    while digits < 12 and abs(value) < 10 ** (1 - digits):
        digits += 1
    return f"{value:.{digits}f}"
