"""The Theory tab: the what-if panel and the paper's curves. Needs no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.decoding.k_matrix import format_K
from csd.request.defaults import Defaults
from csd.theory.what_if import MOST_DRAFTS
from csd.web import tour, views
from csd.web.race_form import Values
from csd.web.theory_view import ASSUMPTIONS
from csd.web.updates import StatusLine
from csd.web.what_if import (
    ALL_LEVELS,
    MAX_ALPHAS,
    Knob,
    Prediction,
    WhatIf,
    WhatIfPanel,
    level_choices,
    starting_panel,
)

UNUSED = Knob("", 0.5, 1.0)  # a slider that the family has no use for


@dataclass(frozen=True)
class WhatIfParts:
    """The what-if panel. `alphas` and `costs` are as many sliders as two drafts need; those of fewer are hidden."""

    drafts: gr.State
    draft: gr.Dropdown
    k: gr.Number
    K: gr.Textbox
    removed: gr.Radio
    alphas: tuple[gr.Slider, ...]
    costs: tuple[gr.Slider, ...]
    width: gr.Slider
    figure: gr.Plot
    status: gr.HTML
    measure: gr.Button

    @property
    def inputs(self) -> list[Component]:
        return [self.drafts, self.draft, self.k, self.K, self.removed, *self.alphas, *self.costs, self.width]

    def read(self, values: Values) -> WhatIf:
        return WhatIf(
            drafts=tuple(values[self.drafts]),
            draft=values[self.draft],
            k=values[self.k],
            K=values[self.K],
            removed=values[self.removed],
            alphas=tuple(values[slider] for slider in self.alphas),
            costs=tuple(values[slider] for slider in self.costs),
            width=values[self.width],
        )

    def show(self, prediction: Prediction) -> dict[Component, Any]:
        """A figure, or what is wrong with the knobs; the figure before stays."""
        state = "refused" if prediction.figure is None else ""
        figure = gr.skip() if prediction.figure is None else prediction.figure
        return {self.figure: figure, self.status: views.status_html(StatusLine(prediction.text, state))}

    def set(self, panel: WhatIfPanel) -> dict[Component, Any]:
        """The knobs of a panel."""
        changes: dict[Component, Any] = {self.drafts: panel.drafts}
        if not panel.alphas:
            return changes
        changes[self.draft] = gr.Dropdown(list(panel.drafts), value=panel.draft)
        changes |= {} if panel.k is None else {self.k: panel.k}
        changes |= {} if panel.K is None else {self.K: panel.K}
        changes[self.removed] = gr.Radio(list(level_choices(panel.drafts)), value=ALL_LEVELS)
        sliders = _sliders(panel.alphas, MAX_ALPHAS) + _sliders(panel.costs, MOST_DRAFTS)
        return {**changes, **dict(zip((*self.alphas, *self.costs), sliders, strict=True)), self.width: panel.width}


@dataclass(frozen=True)
class CurveParts:
    """The paper's curves, for a draft of cost c and a share of copied tokens that are accepted."""

    c: gr.Slider
    copies: gr.Slider
    figures: tuple[gr.Plot, ...]


@dataclass(frozen=True)
class TheoryTab:
    tab: gr.Tab
    what_if: WhatIfParts
    curves: CurveParts


def build_theory_tab(defaults: Defaults) -> TheoryTab:
    with gr.Tab("Theory", id="theory", elem_id="theory") as tab:
        gr.HTML("<h2>What if? The speed-up that the paper's model predicts</h2>")
        what_if = _build_what_if(defaults)
        gr.HTML("<h2>The paper's curves</h2>")
        curves = _build_curves()
        with gr.Accordion("Glossary", open=False):
            gr.HTML(tour.glossary_html())
    return TheoryTab(tab, what_if, curves)


def _build_what_if(defaults: Defaults) -> WhatIfParts:
    preset, drafts = defaults.preset, defaults.drafts
    panel = starting_panel(defaults)
    state = gr.State(drafts)
    with gr.Row():
        with gr.Column(scale=3, min_width=420):
            figure = gr.Plot(show_label=False, elem_id="what-if-figure")
            status = gr.HTML(views.status_html(StatusLine("")), elem_id="what-if-words")
            measure = gr.Button("Measure it: race with this k and K", variant="primary", elem_id="measure")
        with gr.Column(scale=2, min_width=420):
            with gr.Row():
                draft = gr.Dropdown(
                    list(drafts),
                    value=preset.draft,
                    label="Speculative: draft",
                    min_width=120,
                    allow_custom_value=True,
                )
                k = gr.Number(preset.k, label="Speculative: k", precision=0, min_width=100, elem_id="what-if-k")
                K = gr.Textbox(format_K(preset.K), label="Cascade: K (cumulative)", min_width=200, elem_id="what-if-K")
            removed = gr.Radio(
                list(level_choices(drafts)), value=ALL_LEVELS, label="Levels of the cascade", elem_id="what-if-drop"
            )
            with gr.Row(elem_id="what-if-sliders"):
                alphas = tuple(_sliders(panel.alphas, MAX_ALPHAS))
                costs = tuple(_sliders(panel.costs, MOST_DRAFTS))
                width = gr.Slider(0, 0.2, step=0.001, value=panel.width, label="c of a reviewed token", min_width=180)
    return WhatIfParts(state, draft, k, K, removed, alphas, costs, width, figure, status, measure)


def _sliders(knobs: Sequence[Knob], count: int) -> list[gr.Slider]:
    """A slider for each knob, and hidden ones up to `count`."""
    shown = [(knob, True) for knob in knobs] + [(UNUSED, False)] * (count - len(knobs))
    return [
        gr.Slider(0, knob.maximum, value=knob.value, step=0.001, label=knob.label, visible=is_used, min_width=180)
        for knob, is_used in shown
    ]


def _build_curves() -> CurveParts:
    with gr.Row():
        c = gr.Slider(0.01, 1, value=0.2, step=0.01, label="c of the draft", min_width=200)
        copies = gr.Slider(0, 0.95, value=0.5, step=0.05, label="Accepted share of copied tokens", min_width=200)
    with gr.Row():
        figures = [gr.Plot(show_label=False, min_width=420) for _ in range(2)]
    with gr.Row():
        figures.append(gr.Plot(show_label=False, min_width=420))
        gr.HTML(ASSUMPTIONS, elem_id="laws", min_width=420)
    return CurveParts(c, copies, tuple(figures))
