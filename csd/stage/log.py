"""The log of a race: one JSON object per line, append-only, read by the stage (assets/stage/log.js).

`t` is the kind of a line, `i` the lane. Times are seconds on the lane's own clock, positions count from the first
prompt token; `by` is a level's name, `who` the authors of the tokens (a single name if they all have the same).

    open      race, example, models (their title, where they are not the page's first ones), note (who guesses for them,
              in a sentence), prompt, start (its length), heat (the temperature), p, ends (ids of the tokens that end a
              text), levels [{name, label, role, level, model, mark, look}], lanes [{method, name, label, words, plan,
              rule, max, look}]
    prefill   i, by, n, c (start), d (seconds)
    step      i, x (tokens), who, c, d, r (the review), p
    end       i, end ("eos", "budget" or "stopped")
    close     play, headline (see csd/stage/headline.py), lanes [{kind, badge, speed, notes}], notes, summary
    message   text
    ask       text, in place of a race or after an earlier one; the page offers to run the prompt of its form

A lane's `label` is its method's settings, such as "small, k=4"; it is empty for autoregressive decoding. `words`
are the same for those who do not know the letters, such as "small model guesses 4", and `plan` says how many guesses
a plan wants of which level. A level's `role` is "copier", "tiny model" and the like, see csd/roles.py. A lane's
`look` is {symbol, dash, light, dark}: marker, line and colours of the method, as in the figures.
A review is {by, at, x, who, ok (accepted), y (its own token), c, d, in: [...], p, q, m (margin), s (skipped)}; a
proposal is one without `ok`. Empty values are left out. `p` of a line holds the texts of ids that are new in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from csd import theme
from csd.record.race import Race
from csd.record.trace import Header, Level, Prefill, Proposal, Review, Step, Trace
from csd.roles import roles
from csd.stage.conclusion import conclude
from csd.stage.settings import ALONE, planned_guesses, settings_in_words

if TYPE_CHECKING:
    from csd.run import LaneAdvanced, LaneFinished, RaceStarted


def opened(event: RaceStarted, race_id: str, example_title: str = "", models: str = "", note: str = "") -> str:
    """The first line: lanes, levels, and the texts of the prompt's tokens."""
    return _open(event.headers, event.pieces, race_id, example_title, models, note)


def moved(event: LaneAdvanced) -> str:
    """One line per prefill or step of a lane."""
    record = event.record
    line = _prefill(event.lane, record) if isinstance(record, Prefill) else _step(event.lane, record)
    return _line({**line, **_pieces(event.pieces)})


def ended(event: LaneFinished) -> str:
    """The line that says how a lane ended."""
    return _line({"t": "end", "i": event.lane, "end": event.trace.end})


def closed(traces: Sequence[Trace], play: bool = True, again: Sequence[Race] = ()) -> str:
    """The last line: badges, speed-ups and notes; with `play` the stage replays the race right away. `again` are other
    races of the same visitor, which may give the spread of a speed."""
    return _line({"t": "close", "play": play, **conclude(Race(tuple(traces)), again)})


def message(sentence: str) -> str:
    """A sentence for the visitor, such as the position in the queue."""
    return _line({"t": "message", "text": sentence})


def ask(sentence: str) -> str:
    """Instead of the race that was asked for: a sentence and, on the page, a button that races the form's prompt."""
    return _line({"t": "ask", "text": sentence})


def log_of(
    traces: Sequence[Trace],
    race_id: str = "",
    example_title: str = "",
    play: bool = False,
    again: Sequence[Race] = (),
    models: str = "",
) -> str:
    """The whole log of finished traces: an earlier race, or a recorded one."""
    if not traces:
        return message("There is no race to show yet.")
    headers = tuple(trace.header for trace in traces)
    pieces = {token: piece for trace in traces for token, piece in trace.pieces.items()}
    lines = [_open(headers, pieces, race_id, example_title, models)]
    for lane, trace in enumerate(traces):
        lines += [_line(_prefill(lane, part)) for part in trace.prefill]
        lines += [_line(_step(lane, step)) for step in trace.steps]
        lines.append(_line({"t": "end", "i": lane, "end": trace.end}))
    return "".join(lines) + closed(traces, play, again)


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def _levels(headers: Sequence[Header]) -> tuple[Level, ...]:
    found = {level.name: level for header in headers for level in header.levels}
    return tuple(sorted(found.values(), key=lambda level: level.level))


def _pieces(pieces: dict[int, str | tuple[int, ...]]) -> dict[str, Any]:
    plain = {str(token): piece if isinstance(piece, str) else list(piece) for token, piece in pieces.items()}
    return {"p": plain} if plain else {}


def _open(
    headers: Sequence[Header],
    pieces: dict[int, str | tuple[int, ...]],
    race_id: str,
    example_title: str,
    models: str = "",
    note: str = "",
) -> str:
    levels = _levels(headers)
    called = roles(levels)
    target = max((level.level for level in levels), default=0)
    shown = [
        {
            "name": level.name,
            "label": theme.display_name(level.name),
            "role": called[level.name],
            "level": level.level,
            "model": level.model,
            "mark": theme.mark(level.level, target),
            "look": theme.look(level.level, target).key,
        }
        for level in levels
    ]
    lanes = [
        {
            "method": one.method,
            "label": one.label,
            "words": f"{models} alone" if models and words == ALONE else words,
            "plan": planned_guesses(one),
            "rule": one.rule,
            "max": one.max_new,
            "look": _look(one.method),
        }
        for one in headers
        for words in [settings_in_words(one, called)]
    ]
    first = headers[0]
    return _line(
        {
            "t": "open",
            "race": race_id,
            "example": example_title,
            "models": models,
            "note": note,
            "prompt": first.text,
            "start": len(first.prompt),
            "heat": first.temperature,
            "ends": list(first.eos),
            "levels": shown,
            "lanes": lanes,
            **_pieces(pieces),
        }
    )


def _look(method: str) -> dict[str, str]:
    look = theme.method_look(method)
    return {"symbol": look.symbol, "dash": look.dash, "light": look.light, "dark": look.dark}


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
    """Four significant figures; None for NaN and infinities, which JSON cannot express."""
    return float(f"{value:.4g}") if value is not None and math.isfinite(value) else None
