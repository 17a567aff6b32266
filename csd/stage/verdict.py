"""What a race showed, in words: the badge, speed-up and remarks below each lane, notes on the text, and a summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from csd.record import metrics
from csd.record.trace import Trace

COPIED = 0.25  # share of a lane's tokens from the statistical level above which copying explains its speed

Badge = tuple[str, str, tuple[str, ...]]  # kind, text, remarks


def verdict(traces: Sequence[Trace]) -> dict[str, Any]:
    """What is shown below the lanes after a race: {lanes: [{kind, badge, speed, notes}], notes, summary}."""
    reference = next((trace for trace in traces if trace.header.method == "autoregressive"), None)
    lanes = []
    for trace in traces:
        kind, badge, notes = _badge(trace, reference)
        if 0 < len(trace.tokens) < metrics.SHORT_RUN:
            notes = (*notes, f"Short run: {len(trace.tokens)} tokens are too few to judge the speed.")
        if trace.end == "stopped":
            notes = (*notes, "Stopped early.")
        lanes.append({"kind": kind, "badge": badge, "speed": speedup_text(trace, reference), "notes": list(notes)})
    return {"lanes": lanes, "notes": _repetition_notes(traces, reference), "summary": summary(traces, reference)}


def speedup_text(trace: Trace, reference: Trace | None) -> str:
    """Such as "1.80x autoregressive, 1.62x with prefill"; empty if there is nothing to compare."""
    if reference is None or trace is reference or not trace.tokens or not reference.tokens:
        return ""
    decoding = _ratio(metrics.speed(trace), metrics.speed(reference))
    whole = _ratio(metrics.speed_with_prefill(trace), metrics.speed_with_prefill(reference))
    if decoding is None or whole is None:
        return ""
    slower = "slower here: " if decoding < 0.995 else ""
    return f"{slower}{decoding:.2f}x autoregressive, {whole:.2f}x with prefill"


def summary(traces: Sequence[Trace], reference: Trace | None) -> str:
    """One spoken sentence per lane, for screen readers."""
    parts = []
    for trace in traces:
        text = speedup_text(trace, reference)
        end = {"stopped": "stopped after", "eos": "finished with"}.get(trace.end, "wrote")
        speed = f" at {metrics.speed(trace):.0f} tokens per second" if trace.tokens else ""
        parts.append(f"{trace.header.method} {end} {len(trace.tokens)} tokens{speed}" + (f", {text}" if text else ""))
    return "The race has ended. " + "; ".join(parts) + "."


def _badge(trace: Trace, reference: Trace | None) -> Badge:
    header = trace.header
    if trace is reference:
        return "reference", "the reference: one target pass per token", ()
    if not trace.tokens:
        return "none", "no tokens were written", ()
    if header.rule == "rejection":
        promise = (
            "The acceptance rule guarantees the target's distribution, not the same text; one run cannot show that."
        )
        return "law", "same distribution as autoregressive, different sample", (promise,)
    if reference is None:
        return "none", "not checked: no autoregressive lane", ()
    if not reference.tokens:
        return "none", "not checked: the autoregressive lane wrote no tokens", ()
    found = metrics.compare(trace, reference)
    if found.identical:
        part = () if found.whole else ("One of the two lanes was stopped, so only the shared length was compared.",)
        return "identical", f"= identical to autoregressive, {found.compared} of {len(trace.tokens)} tokens", part
    margin = "" if found.margin is None else f" (margin {_small(found.margin)})"
    return "differs", f"differs from position {found.position}{margin}", (_cause(found.margin, header.dtype),)


def _cause(margin: float | None, dtype: str) -> str:
    """What a difference under greedy or coupled decoding means."""
    number_format = dtype.removeprefix("torch.")
    if margin is None:
        return "No margin was recorded at that position, so the cause is unknown."
    if margin <= metrics.NEAR_TIE.get(number_format, 0.0):
        return f"A near-tie: the two best scores there differ by {_small(margin)}, within {number_format} rounding."
    apart = f"The two best scores there differ by {_small(margin)}"
    return f"{apart}, which is too large to be {number_format} rounding. This is a bug."


def _repetition_notes(traces: Sequence[Trace], reference: Trace | None) -> list[str]:
    """One note per text that repeats itself, and one per lane that is fast because it copies such a text."""
    looping = [trace for trace in traces if metrics.repeated(trace) > metrics.REPEATED_LIMIT]
    texts = {trace.tokens: metrics.repeated(trace) for trace in looping}
    notes = [
        f"This text is repetitive ({share:.0%} of its 8-grams occurred earlier), so it is easy to draft."
        for share in texts.values()
    ]
    for trace in looping:
        copied = _copied(trace)
        if copied >= COPIED and _is_ahead(trace, reference):
            gain = f"lane {trace.header.method} copied {copied:.0%} of its tokens"
            notes.append(f"This favours copying: {gain}. Expect smaller gains elsewhere.")
    return notes


def _is_ahead(trace: Trace, reference: Trace | None) -> bool:
    ratio = _ratio(metrics.speed(trace), metrics.speed(reference)) if reference else None
    return ratio is not None and ratio > 1


def _copied(trace: Trace) -> float:
    statistical = {level.name for level in trace.header.levels if level.level == 0}
    return sum(n for name, n in metrics.shares(trace).items() if name in statistical) / max(1, len(trace.tokens))


def _ratio(one: float, other: float) -> float | None:
    """None if one of the two speeds is missing."""
    return one / other if math.isfinite(one) and math.isfinite(other) and one and other else None


def _small(value: float) -> str:
    """A margin with two significant figures and no exponent: 0.000021, 0.34."""
    if value == 0:
        return "0"
    digits = 2
    while digits < 12 and abs(value) < 10 ** (1 - digits):
        digits += 1
    return f"{value:.{digits}f}"
