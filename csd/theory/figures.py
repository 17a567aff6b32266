"""The figures of the theory beside a race: prediction and measurement, and the what-if curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import plotly.graph_objects as go

from csd import theme
from csd.decoding.methods import AdaptiveCascade, Cascade
from csd.plots.dots import Dot, DotRow, dot_plot
from csd.plots.findings import capital
from csd.plots.labels import LABELS, Label, add_labels, unit_label
from csd.plots.style import SPEEDUP, add_unit_line, axis_end, empty_figure, head_axis, marker, style
from csd.theory.comparison import LaneComparison, format_spread
from csd.theory.what_if import Curve

HEIGHT = 400  # px
MEASURED = 20  # px more for the name of what was measured


def prediction(lanes: Sequence[LaneComparison]) -> go.Figure:
    """Each lane's predicted speed-up beside the measured one, with its range over the races of the same settings."""
    lanes = [lane for lane in lanes if lane.measured]
    if len(lanes) < 2:
        reason = "This needs an autoregressive lane and another lane, each with at least one token."
        return empty_figure("Speed-up, predicted and measured", reason)
    return dot_plot(_finding(lanes), [_lane_row(lane) for lane in lanes])


def what_if(curves: Sequence[Curve], adaptive: float | None = None) -> go.Figure:
    """Predicted speed-up over k, or the first number of K; a large symbol marks the current setting. `adaptive` is the
    measured speed-up of an adaptive cascade: a line across, since it has neither."""
    figure = go.Figure()
    for curve in curves:
        look = theme.method_look(curve.name)
        if curve.wide != curve.flat:
            figure.add_scatter(
                name=f"{curve.name}, if every review cost one pass",
                x=list(curve.ks),
                y=list(curve.flat),
                mode="lines",
                line={"color": look.light, "width": 1.2, "dash": "dot"},
                hovertemplate="%{x}: %{y:.2f}× if every review cost one pass<extra></extra>",
            )
        figure.add_scatter(
            name=curve.name,
            x=list(curve.ks),
            y=list(curve.wide),
            mode="lines",
            line={"color": look.light, "width": 3},
            hovertemplate=curve.name + ", %{x}: %{y:.2f}×<extra></extra>",
        )
        figure.add_scatter(
            name=f"{curve.name} now",
            x=[curve.current],
            y=[curve.current_speedup],
            mode="markers",
            marker=marker(curve.name, size=15),
            hoverinfo="skip",
        )
    add_unit_line(figure)
    style(figure, _what_if_finding(curves), "k, or the first number of K (tokens)", "")
    head_axis(figure, SPEEDUP)
    top = axis_end([*(max(*curve.flat, *curve.wide) for curve in curves), adaptive or 0.0])
    last = curves[0].ks[-1]
    figure.update_xaxes(range=[0, last])
    figure.update_yaxes(range=[0, top])
    figure.update_layout(height=HEIGHT, margin={"r": LABELS + (MEASURED if adaptive else 0)})
    margin = figure.layout.margin
    labels = [Label(curve.name, last, curve.wide[-1], theme.method_look(curve.name).light) for curve in curves]
    labels.append(unit_label(last))
    if adaptive:
        look = theme.method_look(AdaptiveCascade.name)
        figure.add_hline(y=adaptive, line={"color": look.light, "width": 2, "dash": "dash"}, layer="below")
        labels.append(Label("adaptive, measured", last, adaptive, look.light))
    add_labels(figure, labels, top, HEIGHT - margin.t - margin.b)
    highest = max(curve.current_speedup for curve in curves)
    for curve in curves:
        value = curve.current_speedup
        shift = 17 if value == highest else -17
        figure.add_annotation(x=curve.current, y=value, yshift=shift, text=f"{value:.2f}×", showarrow=False)
    return figure


def _what_if_finding(curves: Sequence[Curve]) -> str:
    slow, fast = sorted(curves, key=lambda curve: curve.current_speedup)
    ratio = fast.current_speedup / slow.current_speedup
    this = {Cascade.name: " with this K"}
    words = [theme.method_phrase(one.name) + this.get(one.name, "") for one in (fast, slow)]
    if ratio < 1.005:
        return capital(f"{words[0]} and {words[1]} are predicted to be equally fast")
    return capital(f"{words[0]} is predicted to be {ratio:.2f} times as fast as {words[1]}")


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
