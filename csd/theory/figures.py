"""The figure of the theory beside a race: prediction and measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import plotly.graph_objects as go

from csd import theme
from csd.plots.dots import Dot, DotRow, dot_plot
from csd.plots.style import empty_figure
from csd.theory.comparison import LaneComparison, format_spread


def prediction(lanes: Sequence[LaneComparison]) -> go.Figure:
    """Each lane's predicted speed-up beside the measured one, with its range over the races of the same settings."""
    lanes = [lane for lane in lanes if lane.measured]
    if len(lanes) < 2:
        reason = "This needs an autoregressive lane and another lane, each with at least one token."
        return empty_figure("Speed-up, predicted and measured", reason)
    return dot_plot(_finding(lanes), [_lane_row(lane) for lane in lanes])


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
