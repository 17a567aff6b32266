"""The Compare tab: several races, a verdict on them, a figure and a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.decoding.k_matrix import format_K
from csd.request.defaults import Defaults
from csd.stage.glossary import term_class
from csd.web import compare, views
from csd.web.compare_events import ComparisonForm
from csd.web.finding import Finding, finding_html
from csd.web.race_form import Values
from csd.web.updates import CompareUpdate, StatusLine

WHAT = (("every kind of prompt", compare.BY_KIND), ("two cascades on my prompt", compare.TWO_CASCADES))


@dataclass(frozen=True)
class CompareTab:
    """`pair` holds the two cascades, and appears only when two are compared."""

    tab: gr.Tab
    start: gr.Button
    stop: gr.Button
    what: gr.Radio
    repeats: gr.Radio
    pair: gr.Row
    first_K: gr.Textbox
    second_K: gr.Textbox
    status: gr.HTML
    finding: gr.HTML
    figure: gr.Plot
    table: gr.HTML
    save: gr.DownloadButton

    @property
    def inputs(self) -> list[Component]:
        return [self.what, self.repeats, self.first_K, self.second_K]

    @property
    def outputs(self) -> list[Component]:
        return [self.status, self.finding, self.figure, self.table, self.save]

    def read(self, values: Values) -> ComparisonForm:
        return ComparisonForm(
            what=values[self.what],
            repeats=values[self.repeats],
            first_K=values[self.first_K],
            second_K=values[self.second_K],
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
        return changes


def build_compare_tab(defaults: Defaults) -> CompareTab:
    with gr.Tab("Compare", id="compare", elem_id="compare-tab") as tab:
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
        with gr.Row(visible=False, elem_id="compare-pair") as pair:
            K = format_K(defaults.preset.K)
            first_K = gr.Textbox(K, label="One K", elem_id="compare-one", elem_classes=term_class("K"))
            second_K = gr.Textbox("", label="Other K", elem_id="compare-other", elem_classes=term_class("K"))
        status = gr.HTML(views.status_html(StatusLine("")), elem_id="compare-status")
        finding = gr.HTML(finding_html(Finding("")), elem_id="compare-verdict")
        figure = gr.Plot(show_label=False, container=False, elem_id="compare-figure")
        with gr.Accordion("All numbers", open=False, elem_id="compare-numbers"):
            table = gr.HTML(elem_id="comparison")
            save = gr.DownloadButton("Table as CSV", size="sm", scale=0, min_width=160, elem_id="compare-save")
    return CompareTab(tab, start, stop, what, repeats, pair, first_K, second_K, status, finding, figure, table, save)
