"""The figures of the theory beside a race: prediction and measurement, and the what-if curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import plotly.graph_objects as go

from csd import theme
from csd.plots.dots import Dot, DotRow, dot_plot
from csd.plots.labels import LABELS, Label, add_labels, unit_label
from csd.plots.style import SPEEDUP, add_unit_line, axis_end, empty_figure, head_axis, marker, style
from csd.theory.comparison import LaneComparison, format_spread
from csd.theory.what_if import Curve, Measured

LEAST_HEIGHT = 320  # px, to which the labels are fitted; the page makes the what-if figure as high as it has room for
ABOVE = 30  # px, for the words above its y axis


def prediction(lanes: Sequence[LaneComparison]) -> go.Figure:
    """Each lane's predicted speed-up beside the measured one, with its range over the races of the same settings."""
    lanes = [lane for lane in lanes if lane.measured]
    if len(lanes) < 2:
        reason = "This needs an autoregressive lane and another lane, each with at least one token."
        return empty_figure("Speed-up, predicted and measured", reason)
    return dot_plot(_finding(lanes), [_lane_row(lane) for lane in lanes])


def what_if(curves: Sequence[Curve], measured: Sequence[Measured] = ()) -> go.Figure:
    """Speed-up over k, or the first number of K. What is predicted is dashed and open, and a symbol marks the current
    setting; what was measured is solid and filled: a point, or a thin line across for a method without k and K."""
    figure = go.Figure()
    for curve in curves:
        _add_curve(figure, curve)
    add_unit_line(figure)
    style(figure, "", "tokens guessed first (k, or K₁₁)", "")
    head_axis(figure, SPEEDUP)
    top = axis_end([*(max(curve.wide) for curve in curves), *(one.speedup for one in measured)])
    last = curves[0].ks[-1]
    labels = [Label(curve.name, last, curve.wide[-1], theme.method_look(curve.name).light) for curve in curves]
    labels.append(unit_label(last))
    for one in measured:
        look = theme.method_look(one.name)
        if not one.at:
            told = f"{one.name}, measured: {one.speedup:.2f}×<extra></extra>"
            line = {"color": look.light, "width": 1.5}
            figure.add_scatter(
                name=one.name, x=[0, last], y=[one.speedup] * 2, mode="lines", line=line, hovertemplate=told
            )
            labels.append(Label(f"adaptive {one.speedup:.1f}×", last, one.speedup, look.light))
        elif any((curve.name, curve.rest) == (one.name, one.rest) for curve in curves) and one.at <= last:
            _add_point(figure, f"{one.name}, measured", one.at, one.speedup, marker(one.name, size=10))
    figure.update_xaxes(range=[0, last])
    figure.update_yaxes(range=[0, top])
    margin = figure.layout.margin
    figure.update_layout(margin={"r": LABELS, "t": ABOVE, "b": margin.b})
    add_labels(figure, labels, top, LEAST_HEIGHT - ABOVE - margin.b)
    return figure


def _add_curve(figure: go.Figure, curve: Curve) -> None:
    figure.add_scatter(
        name=curve.name,
        x=list(curve.ks),
        y=list(curve.wide),
        mode="lines",
        line={"color": theme.method_look(curve.name).light, "width": 3, "dash": "8px,4px"},
        customdata=[f"{flat:.2f}" for flat in curve.flat],
        hovertemplate=f"{curve.name}, %{{x}}: predicted %{{y:.2f}}×, or %{{customdata}}× if every review cost one pass"
        "<extra></extra>",
    )
    now = marker(curve.name, filled=False, size=14)
    now["line"]["width"] = 3
    _add_point(figure, f"{curve.name} now", curve.current, curve.current_speedup, now)


def _add_point(figure: go.Figure, name: str, x: float, y: float, look: dict[str, Any]) -> None:
    told = f"{name}: {y:.2f}×"
    figure.add_scatter(name=name, x=[x], y=[y], mode="markers", marker=look, hovertemplate=f"{told}<extra></extra>")


def _lane_row(lane: LaneComparison) -> DotRow:
    """What was measured, with the range of the races, and as an open dot the prediction."""
    value = median(lane.measured)
    spread = (min(lane.measured), max(lane.measured)) if len(lane.measured) > 1 else None
    measured = Dot(value, f"{lane.name}, measured: {format_spread(lane.measured)}", spread=spread)
    if lane.is_reference:
        return DotRow(lane.name, lane.method, "1×", (replace(measured, spread=None),))
    if lane.wide is None:
        return DotRow(lane.name, lane.method, f"{value:.2f}×", (measured,))
    told = f"{lane.name}, predicted: {lane.wide:.2f}×; {lane.flat:.2f}× if every review cost one pass"
    text = f"{value:.2f}×, predicted: {lane.wide:.2f}×"
    return DotRow(lane.name, lane.method, text, (Dot(lane.wide, told, filled=False), measured))


def _finding(lanes: Sequence[LaneComparison]) -> str:
    """How far the predictions are off, at most."""
    off = [(abs(median(lane.measured) / lane.wide - 1), lane) for lane in lanes if lane.wide and not lane.is_reference]
    if not off:
        return "Speed-up, measured; no lane has a prediction"
    worst, lane = max(off, key=lambda pair: pair[0])
    share = f"{worst:.0%}" if worst >= 0.005 else "less than 1%"
    if len(off) == 1:
        return f"The prediction for {theme.method_phrase(lane.method)} is off by {share}"
    return f"The predictions are off by at most {share}, for {theme.method_phrase(lane.method)}"
