"""Events of a race as lines of an append-only log that the stage's renderer (assets/stage.js) reads. No gradio.

One JSON object per line; `t` tells its kind, `i` the lane. Times are seconds on the lane's own clock, positions count
from the first prompt token; `by` is a level's name, `who` the authors of the tokens (one name where all are the same).

    open      race, example, prompt, start (its length), p,
              levels [{name, level, model, mark, look}], lanes [{method, title, rule, max}]
    prefill   i, by, n, c (start), d (seconds)
    step      i, x (tokens), who, c, d, r (the review), p
    end       i, end ("eos", "budget" or "stopped")
    close     play, lanes [{kind, badge, speed, notes}], notes, summary
    message   text

A review is {by, at, x, who, ok (accepted), y (its own token), c, d, in: [...], p, q, m (margin), s (skipped)}; a
proposal is one without `ok`. What is empty is left out. `p` of a line holds the pieces of ids not seen before.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from csd import theme
from csd.paths import ASSETS
from csd.record import metrics
from csd.record.trace import Header, Level, Prefill, Proposal, Review, Step, Trace
from csd.record.verdict import Verdict, judge

if TYPE_CHECKING:
    from csd.run import LaneAdvanced, LaneFinished, RaceStarted

COPIED = 0.25  # share of a lane's tokens from the statistical level above which copying explains its speed

HTML_TEMPLATE = '<div class="cascade-stage" data-state="idle" data-race=""></div>'
CSS = theme.css_variables() + (ASSETS / "stage.css").read_text(encoding="utf-8")
JS_ON_LOAD = (ASSETS / "stage.js").read_text(encoding="utf-8") + (
    "\nconst stage = CascadeStage.mount(element.querySelector('.cascade-stage'));"
    "\nstage.update(props.value);"
    "\nwatch('value', () => stage.update(props.value));\n"
)


def opened(event: RaceStarted, race_id: str, example_title: str = "") -> str:
    """The first line: lanes, levels, and the pieces of the prompt."""
    return _open(event.headers, event.pieces, race_id, example_title)


def moved(event: LaneAdvanced) -> str:
    """One line per prefill or step of a lane."""
    record = event.record
    line = _prefill(event.lane, record) if isinstance(record, Prefill) else _step(event.lane, record)
    return _line({**line, **_pieces(event.pieces)})


def ended(event: LaneFinished) -> str:
    """The line that says how a lane ended."""
    return _line({"t": "end", "i": event.lane, "end": event.trace.end})


def closed(traces: Sequence[Trace], play: bool = True) -> str:
    """The last line: badges, speed-ups and sentences; with `play` the stage replays the race at once."""
    return _line({"t": "close", "play": play, **verdict(traces)})


def message(sentence: str) -> str:
    """A sentence for the visitor, such as the place in the queue."""
    return _line({"t": "message", "text": sentence})


def log_of(traces: Sequence[Trace], race_id: str = "", example_title: str = "", play: bool = False) -> str:
    """The whole log of finished traces: an earlier race, or a recorded one."""
    if not traces:
        return message("There is no race to show yet.")
    headers = tuple(trace.header for trace in traces)
    pieces = {token: piece for trace in traces for token, piece in trace.pieces.items()}
    lines = [_open(headers, pieces, race_id, example_title)]
    for lane, trace in enumerate(traces):
        lines += [_line(_prefill(lane, part)) for part in trace.prefill]
        lines += [_line(_step(lane, step)) for step in trace.steps]
        lines.append(_line({"t": "end", "i": lane, "end": trace.end}))
    return "".join(lines) + closed(traces, play)


# ---- the verdict: what the numbers mean, in words


def verdict(traces: Sequence[Trace]) -> dict[str, Any]:
    """What stands under the lanes after a race: {lanes: [{kind, badge, speed, notes}], notes, summary}."""
    reference = next((trace for trace in traces if trace.header.method == "autoregressive"), None)
    lanes = []
    for trace in traces:
        kind, badge, notes = _badge(trace, reference)
        if 0 < len(trace.tokens) < metrics.SHORT_RUN:
            notes = (*notes, f"Short run: {len(trace.tokens)} tokens say little about speed.")
        if trace.end == "stopped":
            notes = (*notes, "Stopped before its end.")
        lanes.append({"kind": kind, "badge": badge, "speed": speedup_text(trace, reference), "notes": list(notes)})
    return {"lanes": lanes, "notes": _repeats(traces, reference), "summary": summary(traces, reference)}


def speedup_text(trace: Trace, reference: Trace | None) -> str:
    """Such as "1.80x autoregressive, 1.62x with prefill"; empty where there is nothing to compare."""
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


def _badge(trace: Trace, reference: Trace | None) -> tuple[str, str, tuple[str, ...]]:
    header = trace.header
    if trace is reference:
        return "reference", "the reference: one target run per token", ()
    if not trace.tokens:
        return "none", "no token was written", ()
    if header.rule == "rejection":
        promise = "The rule guarantees the target's distribution, not the same text; this run alone cannot show it."
        return "law", "same law as autoregressive, own text", (promise,)
    if reference is None:
        return "none", "not checked: no autoregressive lane", ()
    if not reference.tokens:
        return "none", "not checked: the autoregressive lane wrote nothing", ()
    found = judge(trace, reference)
    if found.kind == "identical":
        part = () if found.whole else ("One of the two lanes was stopped: compared as far as both went.",)
        return "identical", f"= identical to autoregressive, {found.compared} of {len(trace.tokens)} tokens", part
    margin = "" if found.margin is None else f" (margin {_small(found.margin)})"
    return "differs", f"differs from position {found.position}{margin}", (_why(found, header.dtype),)


def _why(found: Verdict, dtype: str) -> str:
    """What a difference under greedy or coupled decoding means."""
    if found.margin is None:
        return "No margin was recorded at that position, so the cause is unknown."
    if found.kind == "near-tie":
        return (
            f"A near-tie: the two best scores are {_small(found.margin)} apart there, within the rounding of {dtype}."
        )
    return f"The two best scores are {_small(found.margin)} apart there, too far for {dtype} rounding. This is a bug."


def _repeats(traces: Sequence[Trace], reference: Trace | None) -> list[str]:
    """Says once per different text that it repeats itself, and which lanes copied their way through it."""
    looping = [trace for trace in traces if metrics.repeated(trace) > metrics.REPEATED_LIMIT]
    texts = {trace.tokens: metrics.repeated(trace) for trace in looping}
    notes = [
        f"This text repeats itself: {share:.0%} of its 8-grams stood there before, which makes it easy to draft."
        for share in texts.values()
    ]
    for trace in looping:
        copied = _copied(trace)
        if copied >= COPIED and _ahead(trace, reference):
            gain = f"the lane {trace.header.method} copied {copied:.0%} of its tokens"
            notes.append(f"Lookup wins by that: {gain}. Expect less of it on other texts.")
    return notes


def _ahead(trace: Trace, reference: Trace | None) -> bool:
    ratio = _ratio(metrics.speed(trace), metrics.speed(reference)) if reference else None
    return ratio is not None and ratio > 1


def _copied(trace: Trace) -> float:
    statistical = {level.name for level in trace.header.levels if level.level == 0}
    return sum(n for name, n in metrics.shares(trace).items() if name in statistical) / max(1, len(trace.tokens))


def _ratio(one: float, other: float) -> float | None:
    """None where one of the two speeds is missing."""
    return one / other if math.isfinite(one) and math.isfinite(other) and one and other else None


def _small(value: float) -> str:
    """A margin with two figures and no exponent: 0.000021, 0.34."""
    if value == 0:
        return "0"
    digits = 2
    while digits < 12 and abs(value) < 10 ** (1 - digits):
        digits += 1
    return f"{value:.{digits}f}"


# ---- lines


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def _levels(headers: Sequence[Header]) -> tuple[Level, ...]:
    found = {level.name: level for header in headers for level in header.levels}
    return tuple(sorted(found.values(), key=lambda level: level.level))


def _pieces(pieces: dict[int, str | tuple[int, ...]]) -> dict[str, Any]:
    plain = {str(token): piece if isinstance(piece, str) else list(piece) for token, piece in pieces.items()}
    return {"p": plain} if plain else {}


def _open(headers: Sequence[Header], pieces: dict[int, str | tuple[int, ...]], race_id: str, example_title: str) -> str:
    levels = _levels(headers)
    target = max((level.level for level in levels), default=0)
    shown = [
        {
            "name": level.name,
            "level": level.level,
            "model": level.model,
            "mark": theme.mark(level.level, target),
            "look": theme.look(level.level, target).key,
        }
        for level in levels
    ]
    lanes = [{"method": one.method, "title": one.title, "rule": one.rule, "max": one.max_new} for one in headers]
    first = headers[0]
    return _line(
        {
            "t": "open",
            "race": race_id,
            "example": example_title,
            "prompt": first.text,
            "start": len(first.prompt),
            "levels": shown,
            "lanes": lanes,
            **_pieces(pieces),
        }
    )


def _prefill(lane: int, part: Prefill) -> dict[str, Any]:
    return {"t": "prefill", "i": lane, "by": part.by, "n": part.tokens, **_clock(part)}


def _step(lane: int, step: Step) -> dict[str, Any]:
    shared = {"x": list(step.tokens), "who": _authors(step.authors), **_clock(step)}
    return {"t": "step", "i": lane, **shared, "r": _record(step.review)}


def _record(record: Review | Proposal) -> dict[str, Any]:
    shared = {"by": record.by, "at": record.at, **_clock(record)}
    if record.tokens:
        shared |= {"x": list(record.tokens), "who": _authors(record.authors)}
    if isinstance(record, Proposal):
        return shared
    optional = {
        "in": [_record(inner) for inner in record.inner],
        "p": [_figures(value) for value in record.p],
        "q": [_figures(value) for value in record.q],
        "s": record.skipped,
    }
    own = {"y": record.token, "m": _figures(record.margin)}
    return {
        **shared,
        "ok": record.accepted,
        **{key: value for key, value in own.items() if value is not None},
        **{key: value for key, value in optional.items() if value},
    }


def _authors(authors: tuple[str, ...]) -> str | list[str]:
    return authors[0] if len(set(authors)) == 1 else list(authors)


def _clock(record: Prefill | Step | Review | Proposal) -> dict[str, float]:
    return {"c": round(record.start, 6), "d": round(record.seconds, 6)}


def _figures(value: float | None) -> float | None:
    """Four figures; None for what is not a number, which JSON cannot say."""
    return float(f"{value:.4g}") if value is not None and math.isfinite(value) else None
