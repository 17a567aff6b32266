"""What is said of a race that measured a prediction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from csd.decoding.methods.method import TARGET
from csd.record.race import Race
from csd.roles import roles_of_family
from csd.sentences import listed
from csd.stage.standing import times
from csd.theme import method_phrase
from csd.theory.assumed import WIDTH, Number, OtherNumber, Prediction, are_near, wrongly_moved
from csd.theory.what_if import Measured, settings_of_race

COLUMNS = ("predicted", "theory with this race's numbers", "measured")


@dataclass(frozen=True)
class Row:
    """The speed-ups of a method: as predicted, as predicted with the race's numbers, and as measured; None before the
    race has ended."""

    method: str
    predicted: float
    again: float | None = None
    measured: float | None = None


@dataclass(frozen=True)
class Outcome:
    """Whether theory held in a race, in a sentence, and the speed-ups that show it."""

    said: str
    rows: tuple[Row, ...]


def judge_prediction(predicted: Prediction, race: Race) -> Outcome | None:
    """What a race measured beside what was predicted, and why they differ. None for a race of other plans."""
    settings = settings_of_race(race)
    lanes = {lane.name: lane for lane in settings.measured if lane.name in predicted.plans}
    if lanes.keys() != predicted.plans.keys() or not predicted.is_of(settings):
        return None
    measured = {name: lane.speedup for name, lane in lanes.items()}
    before, again = predicted.speedups, predicted.with_numbers_of(settings).speedups
    rows = tuple(Row(name, before[name], again[name], measured[name]) for name in lanes)
    if are_near(measured, before):
        return Outcome("Theory held.", rows)
    moved = _tell_moved(wrongly_moved(predicted, settings), roles_of_family(predicted.drafts))
    if not are_near(again, before) and _farthest(again, measured) < _farthest(before, measured):
        why = moved or "it had the acceptance and the costs of another race"
        rest = _tell_gaps(lanes) or _tell_misses(again, measured)
        right = "it holds" if are_near(measured, again) else f"it is nearer; still, {rest}"
        return Outcome(f"Theory was off: {why}. With this race's own numbers {right}.", rows)
    return Outcome(f"Theory was off: {_tell_gaps(lanes) or _tell_misses(before, measured)}.", rows)


def _farthest(predicted: Mapping[str, float], measured: Mapping[str, float]) -> float:
    """The largest factor by which a speed-up was missed, as a logarithm."""
    return max(abs(math.log(predicted[name] / measured[name])) for name in measured)


def predicted_rows(predicted: Prediction) -> tuple[Row, ...]:
    """Before the race."""
    return tuple(Row(method, speedup) for method, speedup in predicted.speedups.items())


def rows_html(rows: Sequence[Row]) -> str:
    """A table that keeps its size when the race ends."""
    heads = "".join(f'<th scope="col">{head}</th>' for head in COLUMNS)
    body = "".join(map(_row, rows))
    return f'<table class="outcome"><thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table>'


def _row(row: Row) -> str:
    cells = (f"<td>{'–' if one is None else times(one)}</td>" for one in (row.predicted, row.again, row.measured))
    return f'<tr><th scope="row">{row.method}</th>{"".join(cells)}</tr>'


def _tell_moved(moved: Sequence[OtherNumber], called: Mapping[str, str]) -> str:
    """Empty where the visitor had moved none of them."""
    if not moved:
        return ""
    chosen = listed([f"{_phrase(one.number, called)} to {_digits(one.assumed)}" for one in moved])
    were = "it was" if len(moved) == 1 else "they were"
    return f"you set {chosen}; in this race {were} {listed([_digits(one.found) for one in moved])}"


def _phrase(number: Number, called: Mapping[str, str]) -> str:
    if number == WIDTH:
        return "the cost of a guess in a check"
    if isinstance(number, str):
        return f"the {called[number]}'s cost"
    reviewer, drafter = number
    return f"the {called[drafter]}'s acceptance" + ("" if reviewer == TARGET else f" by the {called[reviewer]}")


def _digits(number: float) -> str:
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def _tell_gaps(lanes: Mapping[str, Measured]) -> str:
    """Why the steps of a race were others than theory gives with the race's own numbers; empty where none were."""
    gaps = [
        f"{method_phrase(name)} was {'faster' if lane.speedup > lane.predicted else 'slower'}: {lane.gap}"
        for name, lane in lanes.items()
        if lane.gap and lane.predicted
    ]
    return "; ".join(gaps)


def _tell_misses(predicted: Mapping[str, float], measured: Mapping[str, float]) -> str:
    """By how much each method was faster or slower than predicted."""
    ratios = {name: measured[name] / predicted[name] for name in measured}
    return listed(
        [
            f"{method_phrase(name)} was {abs(ratio - 1):.0%} {'faster' if ratio > 1 else 'slower'} than predicted"
            for name, ratio in ratios.items()
            if f"{abs(ratio - 1):.0%}" != "0%"
        ]
    )
