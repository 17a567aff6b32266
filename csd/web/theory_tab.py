"""The Theory tab: the what-if panel and the paper's curves. Needs no model."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.paths import ASSETS
from csd.record.race import Race
from csd.request.defaults import Defaults
from csd.roles import named_with_roles
from csd.stage import bundle
from csd.stage.glossary import glossary_html, term_class
from csd.theory.assumptions import ASSUMPTIONS
from csd.web import what_if
from csd.web.race_form import Values
from csd.web.slider_values import sliders_value
from csd.web.sliders import build_sliders
from csd.web.staircase import build_staircase, staircase_value
from csd.web.what_if import PlanCheck, WhatIf, WhatIfPanel, figure_value, starting_panel, step_value

LEAD = (
    "<h2>When does guessing ahead pay?</h2><p>A step is k guesses and one run of the big model that checks them. "
    "It pays when guesses are often right, and cheap. Move a slider, or click the chart.</p>"
)
FOLD = "Change the plan"
ABOUT_K = "<h3>Who guesses how far?<small>the plan K</small></h3>"
CURVES = "The paper's formulas and curves"
ABOUT_MEASURE = "<p>It races this plan and measures α and c.</p>"


SCRIPT = (
    bundle.join_modules(ASSETS / "theory", "whatif", "WhatIf")
    + bundle.join_modules(ASSETS / "controls", "cumulative", "Cumulative")
    + "const show = WhatIf.startWhatIf(element.querySelector('.whatif'), props.value, Cumulative.parseK, (asked) => {\n"
    "  props.value = { ...props.value, asked };\n"
    "  trigger('input');\n"
    "});\n"
    "watch('value', () => show(props.value));\n"
)
STEP_SCRIPT = (
    bundle.join_modules(ASSETS / "theory", "picture", "StepPicture")
    + bundle.join_modules(ASSETS / "controls", "cumulative", "Cumulative")
    + "const show = StepPicture.startStep(element.querySelector('.step-picture'), props.value, Cumulative.parseK);\n"
    "watch('value', () => show(props.value));\n"
)
TO_FIGURES = """(draft, k, K, sliders, figure, step) => [
  { ...figure, draft, k, K, sliders }, { ...step, K, sliders },
]"""
TO_ASKED = """(figure, sliders) => {
  const { draft, k, K, sliders: began } = figure.asked;
  const values = Object.fromEntries(began.groups.flatMap((group) => group.sliders.map((one) => [one.key, one.value])));
  const groups = sliders.groups.map((group) => ({
    ...group, sliders: group.sliders.map((one) => ({ ...one, value: values[one.key] })),
  }));
  return [draft, k, K, { groups, edit: (sliders.edit ?? 0) + 1 }];
}"""


@dataclass(frozen=True)
class WhatIfParts:
    """The what-if panel: what the theory predicts to the left, what it is asked to the right. `picture` shows the K of
    the field below it. The figure and the picture of one `step` compute in the browser; `words` are for what is wrong
    with the plan."""

    drafts: gr.State
    raced: gr.State
    draft: gr.Dropdown
    k: gr.Number
    K: gr.Textbox
    picture: gr.HTML
    sliders: gr.HTML
    words: gr.HTML
    figure: gr.HTML
    step: gr.HTML
    measure: gr.Button
    measure_parts: gr.Button
    parts: gr.HTML

    @property
    def inputs(self) -> list[Component]:
        return [self.drafts, self.draft, self.k, self.K, self.sliders]

    @property
    def outputs(self) -> list[Component]:
        """What a check of the plan may change."""
        return [self.words, self.sliders, self.parts]

    @property
    def knobs(self) -> list[Component]:
        """What a race sets."""
        return [*self.inputs, self.raced, self.picture, self.figure, self.step]

    def read(self, values: Values) -> WhatIf:
        return WhatIf(
            drafts=tuple(values[self.drafts]),
            draft=values[self.draft],
            k=values[self.k],
            K=values[self.K],
            sliders=values[self.sliders],
        )

    def show(self, check: PlanCheck) -> dict[Component, Any]:
        """What is wrong with the knobs; the curves before stay, dimmed."""
        changes: dict[Component, Any] = {self.words: refusal_html(check.refused)}
        if check.parts:
            changes[self.parts] = f"<p>{escape(check.parts)}</p>"
        if check.sliders is not None:
            changes[self.sliders] = check.sliders
        return changes

    def set(self, panel: WhatIfPanel) -> dict[Component, Any]:
        """The knobs of a panel."""
        changes: dict[Component, Any] = {self.drafts: panel.drafts, self.raced: panel.K}
        if not panel.groups:
            return changes
        changes[self.draft] = gr.Dropdown(named_with_roles(panel.drafts), value=panel.draft)
        changes |= {} if panel.k is None else {self.k: panel.k}
        changes |= {} if panel.K is None else {self.K: panel.K}
        picture = staircase_value(panel.K, panel.drafts)
        figures = {self.figure: figure_value(panel), self.step: step_value(panel)}
        return {**changes, **figures, self.picture: picture, self.sliders: sliders_value(panel.groups)}


def refusal_html(sentence: str) -> str:
    return f'<p class="whatif-refusal" data-state="refused" role="alert">{escape(sentence)}</p>' if sentence else ""


@dataclass(frozen=True)
class CurveParts:
    """The paper's curves, for a draft of cost c and a share of copied tokens that are accepted; drawn when the visitor
    unfolds them."""

    fold: gr.Accordion
    sliders: gr.HTML
    figures: tuple[gr.Plot, ...]


@dataclass(frozen=True)
class TheoryTab:
    tab: gr.Tab
    what_if: WhatIfParts
    curves: CurveParts


def build_theory_tab(defaults: Defaults, shown: Race | None = None) -> TheoryTab:
    """`shown` is the race that the page begins with: the panel starts from what it measured."""
    with gr.Tab("Theory", id="theory", elem_id="theory") as tab:
        panel = _build_what_if(defaults, starting_panel(defaults, shown))
        curves = _build_curves()
        with gr.Accordion("Glossary", open=False, elem_id="glossary"):
            gr.HTML(glossary_html())
    return TheoryTab(tab, panel, curves)


def _build_what_if(defaults: Defaults, panel: WhatIfPanel) -> WhatIfParts:
    drafts = defaults.drafts
    state, raced = gr.State(drafts), gr.State(panel.K)
    gr.HTML(LEAD, elem_id="what-if-lead")
    with gr.Row(elem_id="what-if"):
        with gr.Column(scale=11, min_width=320, elem_id="what-if-answer"):
            figure = gr.HTML(
                figure_value(panel),
                html_template='<div class="whatif"></div>',
                js_on_load=SCRIPT,
                apply_default_css=False,
                elem_id="what-if-figure",
            )
            step = gr.HTML(
                step_value(panel),
                html_template='<div class="step-picture"></div>',
                js_on_load=STEP_SCRIPT,
                apply_default_css=False,
                elem_id="what-if-step",
            )
        with gr.Column(scale=8, min_width=320, elem_id="what-if-knobs"):
            sliders = build_sliders(panel.groups, "what-if-sliders")
            gr.HTML(ABOUT_K)
            K = gr.Textbox(
                panel.K, label="K, the plan in numbers", elem_id="what-if-K", elem_classes=term_class("K"), render=False
            )
            picture = build_staircase(K, drafts, "what-if-picture", FOLD)
            with gr.Column(elem_id="what-if-plan"):
                K.render()
                with gr.Row(elem_id="what-if-speculative"):
                    draft = gr.Dropdown(
                        named_with_roles(drafts),
                        value=panel.draft,
                        label="Speculative guesser",
                        elem_classes=term_class("draft"),
                        min_width=120,
                        allow_custom_value=True,
                    )
                    k = gr.Number(
                        panel.k,
                        label="k",
                        precision=0,
                        min_width=100,
                        scale=0,
                        elem_id="what-if-k",
                        elem_classes=term_class("k"),
                    )
            words = gr.HTML(elem_id="what-if-words")
            with gr.Row(elem_id="what-if-races"):
                measure = gr.Button("Measure it in a race", variant="primary", scale=0, elem_id="measure")
                gr.HTML(ABOUT_MEASURE)
                measure_parts = gr.Button("Race each cascade alone", scale=0, elem_id="parts")
                parts = gr.HTML(elem_id="parts-about")
    return WhatIfParts(state, raced, draft, k, K, picture, sliders, words, figure, step, measure, measure_parts, parts)


def _build_curves() -> CurveParts:
    with gr.Accordion(CURVES, open=False, elem_id="curves") as fold:
        gr.HTML(ASSUMPTIONS)
        sliders = build_sliders(what_if.CURVES, "curve-sliders")
        with gr.Row(elem_id="paper-curves"):
            figures = [gr.Plot(show_label=False, container=False, min_width=280) for _ in range(3)]
    return CurveParts(fold, sliders, tuple(figures))
