"""The Compare tab: several races, a verdict on them, a figure and a table."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.decoding.k_matrix import Matrix
from csd.request.defaults import Defaults
from csd.stage.glossary import term_class
from csd.web import compare, views
from csd.web.compare_events import ComparisonForm
from csd.web.finding import Finding, finding_html
from csd.web.named_plans import OWN, PlanChoice, named_plans, plan_after
from csd.web.race_form import Values
from csd.web.races import prompt_start
from csd.web.staircase import build_staircase, staircase_value
from csd.web.updates import CompareUpdate, StatusLine

WHAT = (("every kind of prompt", compare.BY_KIND), ("two plans on my prompt", compare.TWO_PLANS))
LEAD = ("Which method is fastest?", "It depends on the text. Race all of them on every kind, or two plans on yours.")
LEAD_PAIR = (
    "Which of two plans is faster?",
    "Choose two plans, or drag the ends of the bars. Both race on “{prompt}”.",
)
USUAL = "Use the usual settings"
TO_OWN = f"() => {OWN!r}"


@dataclass(frozen=True)
class PlanParts:
    """One of the two plans: chosen by name, or made with the picture and the field of its K."""

    name: gr.Radio
    K: gr.Textbox
    picture: gr.HTML

    @property
    def outputs(self) -> list[Component]:
        return [self.name, self.K, self.picture]

    def read(self, values: Values) -> PlanChoice:
        return PlanChoice(values[self.name] or OWN, values[self.K] or "")

    def set(self, choice: PlanChoice, defaults: Defaults, of_text: Matrix | None) -> dict[Component, Any]:
        picture, names = staircase_value(choice.K, defaults.drafts), _names(defaults, of_text)
        return {self.name: gr.Radio(names, value=choice.name), self.K: choice.K, self.picture: picture}


@dataclass(frozen=True)
class CompareTab:
    """`pair` holds the two cascades, and appears only when two are compared. `settings` says what differs from the
    usual, which `usual` brings back, and appears only then; `other` shows another comparison, such as the recorded
    one."""

    tab: gr.Tab
    lead: gr.HTML
    start: gr.Button
    stop: gr.Button
    what: gr.Radio
    repeats: gr.Radio
    other: gr.Button
    settings: gr.Row
    differs: gr.HTML
    usual: gr.Button
    pair: gr.Row
    plans: tuple[PlanParts, PlanParts]
    status: gr.HTML
    finding: gr.HTML
    figure: gr.HTML
    table: gr.HTML
    save: gr.DownloadButton

    @property
    def inputs(self) -> list[Component]:
        return [self.what, self.repeats, *(part for plan in self.plans for part in (plan.name, plan.K))]

    @property
    def outputs(self) -> list[Component]:
        return [self.status, self.finding, self.figure, self.table, self.save, self.other]

    def read(self, values: Values) -> ComparisonForm:
        return ComparisonForm(
            what=values[self.what],
            repeats=values[self.repeats],
            plans=(self.plans[0].read(values), self.plans[1].read(values)),
        )

    def show(self, update: CompareUpdate) -> dict[Any, Any]:
        changes: dict[Any, Any] = {}
        if update.status is not None:
            changes[self.status] = views.status_html(update.status) + views.progress_html(update.progress)
        if update.rows is not None:
            changes[self.table] = compare.table_html(update.rows, update.words)
        if update.finding is not None:
            changes[self.finding] = finding_html(update.finding)
        if update.figure is not None:
            changes[self.figure] = update.figure
        if update.csv is not None:
            changes[self.save] = gr.DownloadButton(value=update.csv or None, interactive=bool(update.csv))
        if update.other is not None:
            changes[self.other] = gr.Button(update.other, visible=bool(update.other))
        return changes

    def tell_settings(self, sentence: str) -> dict[Any, Any]:
        """What differs from the usual; empty where nothing does."""
        return {self.settings: gr.Row(visible=bool(sentence)), self.differs: f"<p>{escape(sentence)}</p>"}


def lead_html(what: str, prompt: str = "") -> str:
    title, text = LEAD_PAIR if what == compare.TWO_PLANS else LEAD
    return f"<h2>{title}</h2><p>{escape(text.format(prompt=prompt_start(prompt)))}</p>"


def build_compare_tab(defaults: Defaults, of_text: Matrix | None) -> CompareTab:
    """`of_text` is the plan tuned to the prompt that the page begins with."""
    with gr.Tab("Compare", id="compare", elem_id="compare-tab") as tab:
        lead = gr.HTML(lead_html(compare.BY_KIND), elem_id="compare-lead")
        with gr.Row(elem_id="compare-go"):
            start = gr.Button("Compare", variant="primary", min_width=110, scale=0, elem_id="compare")
            stop = gr.Button("Stop", min_width=90, scale=0, elem_id="compare-stop")
            what = gr.Radio(list(WHAT), value=compare.BY_KIND, label="Compare", scale=0, elem_id="compare-what")
            repeats = gr.Radio(
                list(range(1, compare.MAX_REPEATS + 1)),
                value=compare.REPEATS,
                label="races of each",
                scale=0,
                elem_id="compare-repeats",
            )
            other = gr.Button("", visible=False, min_width=90, scale=0, elem_id="compare-other-one")
        with gr.Row(visible=False, elem_id="compare-settings") as settings:
            differs = gr.HTML("<p></p>")
            usual = gr.Button(USUAL, min_width=90, scale=0, elem_id="compare-usual")
        with gr.Row(visible=False, elem_id="compare-pair") as pair:
            plans = (
                _build_plan(defaults, of_text, 0, "compare-one"),
                _build_plan(defaults, of_text, 1, "compare-other"),
            )
        status = gr.HTML(views.status_html(StatusLine("")), elem_id="compare-status")
        finding = gr.HTML(finding_html(Finding("")), elem_id="compare-verdict")
        figure = gr.HTML(elem_id="compare-figure")
        with gr.Accordion("All numbers", open=False, elem_id="compare-numbers"):
            table = gr.HTML(elem_id="comparison")
            save = gr.DownloadButton("Table as CSV", size="sm", scale=0, min_width=160, elem_id="compare-save")
    return CompareTab(
        tab,
        lead,
        start,
        stop,
        what,
        repeats,
        other,
        settings,
        differs,
        usual,
        pair,
        plans,
        status,
        finding,
        figure,
        table,
        save,
    )


def _build_plan(defaults: Defaults, of_text: Matrix | None, number: int, elem_id: str) -> PlanParts:
    """The plan of this number; a K that is dragged or typed is the visitor's own."""
    choice = plan_after(PlanChoice("", ""), defaults, number, of_text)
    with gr.Column(min_width=320, elem_id=elem_id, elem_classes="compare-plan"):
        name = gr.Radio(
            _names(defaults, of_text),
            value=choice.name,
            label="One plan" if number == 0 else "Other plan",
            elem_classes="compare-name",
        )
        K = gr.Textbox(choice.K, label="K, the plan in numbers", elem_classes=term_class("K"), render=False)
        picture = build_staircase(K, defaults.drafts, f"{elem_id}-picture")
        with gr.Accordion("The plan in numbers", open=False, elem_classes="compare-matrix"):
            K.render()
    for typed in (picture.input, K.input):
        typed(None, None, [name], js=TO_OWN, queue=False, show_progress="hidden", api_visibility="private")
    return PlanParts(name, K, picture)


def _names(defaults: Defaults, of_text: Matrix | None) -> list[str]:
    return [*(plan.name for plan in named_plans(defaults, of_text)), OWN]
