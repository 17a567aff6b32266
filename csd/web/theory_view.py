"""The theory as HTML: the table of predictions beside measurements, and what the model assumes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from csd.theme import display_name
from csd.theory.comparison import LaneComparison, format_spread

HEADINGS = ("lane", "α in this race", "c in this race", "predicted", "measured", "why they differ")
CAPTION = (
    "The paper's prediction beside this race. α: share of the judged tokens that the reviewer accepted (reviewer ← "
    "who drafted them). c: time of one pass, for Max-Gram of one copied token, in target passes over a single token."
)


def comparison_table(lanes: Sequence[LaneComparison]) -> str:
    """The lanes as an HTML table with a caption; everything that comes from a trace is escaped."""
    heads = "".join(f'<th scope="col">{heading}</th>' for heading in HEADINGS)
    return (
        '<div class="theory-table" tabindex="0" role="region" aria-label="Prediction and measurement"><table>'
        f"<caption>{CAPTION}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(map(_row, lanes))}</tbody></table></div>"
    )


def _row(lane: LaneComparison) -> str:
    alphas = (
        f"{display_name(reviewer)} ← {display_name(drafter)}: {count.rate:.2f} ({count.accepted}/{count.proposed})"
        for (reviewer, drafter), count in lane.acceptance.items()
    )
    cells = (
        _lines(alphas),
        _lines(f"{display_name(name)}: {_format_cost(c)}" for name, c in lane.costs.items()),
        f"{_prediction(lane)}<br><small>{escape(lane.formula)}</small>",
        escape(format_spread(lane.measured)),
        _lines(lane.reasons),
    )
    return f'<tr><th scope="row">{escape(lane.name)}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _prediction(lane: LaneComparison) -> str:
    if lane.flat is None or lane.wide is None:
        return "–"
    more = f", {lane.wide:.2f}× with this lane's cost of wide reviews" if abs(lane.wide - lane.flat) >= 0.005 else ""
    return f"<b>{lane.flat:.2f}×</b>{more}"


def _lines(items: Iterable[str]) -> str:
    return "<br>".join(escape(item) for item in items) or "–"


def _format_cost(c: float) -> str:
    return f"{c:.2f}" if c >= 0.1 else f"{c:.2g}"
