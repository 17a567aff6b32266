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

ASSUMPTIONS = """<h3>What the curves assume</h3>
<p>α is the share of a drafter's tokens that its reviewer accepts; c is the time of one of its forward passes, in
passes of the target. The model treats acceptances as independent, a review as one pass however long the block is, and
everything else (bookkeeping of the drafts, the page) as free. In reality wider reviews cost more and acceptances are
correlated, so measured speed-ups differ. A speed-up is the expected number of tokens per round over the cost of the
round in target passes.</p>
<dl class="glossary">
<dt>speculative</dt><dd><code>(1 − α^(k+1)) / ((1 − α) (1 + c k))</code>: the target reviews k tokens of the draft
(Leviathan et al., theorem 3.8).</dd>
<dt>vertical cascade</dt><dd><code>(1 − α φ(α)^n) / ((1 − α) (1 + n c₁ + n k c₂))</code> with
<code>φ(x) = 1 + (x − 1) (1 − (x α′)^(k+1)) / (1 − x α′)</code>: n passes of the draft, each reviewing k tokens of a
smaller draft, which it accepts at rate α′ (theorem 4.3).</dd>
<dt>horizontal cascade</dt><dd><code>(1 + α₁ + α₁α₂ + …) / (1 + c₁ + c₂ + …)</code>: each position of the block has the
α and the c of its drafter (theorem 4.5).</dd>
<dt>both</dt><dd>The vertical cascade followed by copied tokens. For an arbitrary K the page evaluates the tree the same
way.</dd>
</dl>"""


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
