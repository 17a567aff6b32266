"""The look that all figures share: transparent, readable on light and dark pages, one ink for lanes.

Bars have the levels' colours and patterns; lanes differ by dash and marker.
"""

from __future__ import annotations

import plotly.graph_objects as go

from csd import theme

DASHES = ("dot", "dash", "solid", "dashdot")
SYMBOLS = ("circle", "square", "triangle-up", "diamond")
SIZE = 15  # px of the text


def style(figure: go.Figure, title: str, across: str, up: str) -> go.Figure:
    """The figure with the look that all of them share: transparent, one ink, a legend above; and its titles."""
    axis = {"gridcolor": theme.FIGURE_GRID, "linecolor": theme.FIGURE_INK, "zerolinecolor": theme.FIGURE_GRID}
    figure.update_layout(
        template="none",
        title={"text": title, "font": {"size": SIZE + 2}, "x": 0.01, "xanchor": "left", "y": 0.97, "yanchor": "top"},
        font={"size": SIZE, "color": theme.FIGURE_INK, "family": "Arial, Liberation Sans, sans-serif"},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 70, "r": 20, "t": 84, "b": 58},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        hoverlabel={"bgcolor": theme.LIGHT_INK, "font": {"color": theme.LIGHT_GROUND, "size": SIZE}},
        bargap=0.3,
        showlegend=True,
    )
    figure.update_xaxes(title={"text": across}, **axis)
    return figure.update_yaxes(title={"text": up}, rangemode="tozero", **axis)


def fill(colour: str, shape: str) -> dict:
    pattern = {"shape": shape, "bgcolor": colour, "fgcolor": "rgba(255,255,255,0.85)", "size": 8, "solidity": 0.25}
    return {"color": colour, "line": {"color": colour, "width": 1}, **({"pattern": pattern} if shape else {})}


def explained(title: str, sentence: str) -> go.Figure:
    """An empty figure that says why it is empty."""
    figure = style(go.Figure(), title, "", "")
    figure.update_layout(showlegend=False)
    figure.add_annotation(text=sentence, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False)
