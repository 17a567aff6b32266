"""The theory as HTML: the table of predictions beside measurements, and what the model assumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from csd.record.levels import Level
from csd.roles import roles
from csd.sentences import capitalized, listed
from csd.theme import display_name
from csd.theory.assumptions import FORMULAS
from csd.theory.comparison import LaneComparison, format_spread

HEADINGS = ("lane", "α in this race", "c in this race", "predicted", "measured", "why they differ")
CAPTION = (
    "The theory beside this race. α: the share of the judged tokens that the reviewer accepted (reviewer ← who guessed "
    "them). c: the time of one run, for the copier of one copied token, in runs of the big model over a single token."
)


def comparison_table(lanes: Sequence[LaneComparison], levels: Sequence[Level]) -> str:
    """The lanes as an HTML table, with a caption that says which of the race's levels is which model; everything that
    comes from a trace is escaped."""
    called = roles(levels)
    models = [
        f"the {role} is {' and '.join(display_name(name) for name, other in called.items() if other == role)}"
        for role in dict.fromkeys(called.values())
    ]
    heads = "".join(f'<th scope="col">{heading}</th>' for heading in HEADINGS)
    return (
        '<div class="theory-table" tabindex="0" role="region" aria-label="Prediction and measurement"><table>'
        f"<caption>{CAPTION} {escape(capitalized(listed(models)))}.</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(_row(lane, called) for lane in lanes)}</tbody></table></div>"
    )


def _row(lane: LaneComparison, called: Mapping[str, str]) -> str:
    alphas = (
        f"{called.get(one, one)} ← {called.get(other, other)}: {count.rate:.2f} ({count.accepted}/{count.proposed})"
        for (one, other), count in lane.acceptance.items()
    )
    cells = (
        _lines(alphas),
        _lines(f"{called.get(name, name)}: {_format_cost(c)}" for name, c in lane.costs.items()),
        f"{_prediction(lane)}<br><small>{_formula(lane)}</small>",
        escape(format_spread(lane.measured)),
        _lines(lane.reasons),
    )
    return f'<tr><th scope="row">{escape(lane.name)}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _prediction(lane: LaneComparison) -> str:
    if lane.flat is None or lane.wide is None:
        return "–"
    flat = f", {lane.flat:.2f}× if every review cost one pass" if abs(lane.wide - lane.flat) >= 0.005 else ""
    return f"<b>{lane.wide:.2f}×</b>{flat}"


def _formula(lane: LaneComparison) -> str:
    """Typeset where the method has one; what is to be said of it follows."""
    typeset = FORMULAS.get(lane.method)
    if typeset is None:
        return escape(lane.formula)
    _, _, more = lane.formula.partition(", ")
    return f"<math>{typeset}</math> {escape(more)}"


def _lines(items: Iterable[str]) -> str:
    return "<br>".join(escape(item) for item in items) or "–"


def _format_cost(c: float) -> str:
    return f"{c:.2f}" if c >= 0.1 else f"{c:.2g}"
