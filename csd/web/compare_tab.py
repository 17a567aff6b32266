"""The Compare tab: several races as one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.decoding.k_matrix import format_K
from csd.request.defaults import Defaults
from csd.web import compare, views
from csd.web.compare_events import ComparisonForm
from csd.web.race_form import Values
from csd.web.updates import CompareUpdate, StatusLine


@dataclass(frozen=True)
class CompareTab:
    """`pair` holds the two cascades, and appears only when two are compared."""

    start: gr.Button
    stop: gr.Button
    what: gr.Radio
    repeats: gr.Slider
    pair: gr.Row
    first_K: gr.Textbox
    second_K: gr.Textbox
    status: gr.HTML
    table: gr.Dataframe
    save: gr.DownloadButton

    @property
    def inputs(self) -> list[Component]:
        return [self.what, self.repeats, self.first_K, self.second_K]

    @property
    def outputs(self) -> list[Component]:
        return [self.status, self.table, self.save]

    def read(self, values: Values) -> ComparisonForm:
        return ComparisonForm(
            what=values[self.what],
            repeats=values[self.repeats],
            first_K=values[self.first_K],
            second_K=values[self.second_K],
        )

    def show(self, update: CompareUpdate) -> dict[Component, Any]:
        changes: dict[Component, Any] = {}
        if update.status is not None:
            changes[self.status] = views.status_html(update.status)
        if update.rows is not None:
            changes[self.table] = update.rows
        if update.csv is not None:
            changes[self.save] = gr.DownloadButton(value=update.csv)
        return changes


def build_compare_tab(defaults: Defaults) -> CompareTab:
    with gr.Tab("Compare", id="compare", elem_id="compare-tab"):
        gr.HTML("<p>Runs several races in a row and collects the results. Uses the settings of the Race tab.</p>")
        with gr.Row(elem_id="compare-go"):
            start = gr.Button("Compare", variant="primary", min_width=110, scale=0, elem_id="compare")
            stop = gr.Button("Stop", variant="stop", min_width=90, scale=0, elem_id="compare-stop")
            what = gr.Radio(
                [compare.BY_KIND, compare.TWO_CASCADES],
                value=compare.BY_KIND,
                label="Compare",
                scale=3,
                elem_id="compare-what",
            )
            repeats = gr.Slider(
                1, compare.MAX_REPEATS, value=1, step=1, label="Repeats", min_width=160, elem_id="compare-repeats"
            )
        with gr.Row(visible=False) as pair:
            K = format_K(defaults.preset.K)
            first_K = gr.Textbox(K, label="First cascade: K (cumulative)", elem_id="compare-one")
            second_K = gr.Textbox("", label="Second cascade: K (cumulative)", elem_id="compare-other")
        status = gr.HTML(views.status_html(StatusLine("Press Compare.")), elem_id="compare-status")
        table = gr.Dataframe(
            headers=[column.name for column in compare.COLUMNS],
            datatype=[column.kind for column in compare.COLUMNS],
            column_count=len(compare.COLUMNS),
            column_widths=[column.width for column in compare.COLUMNS],
            type="array",
            interactive=False,
            label="Median over repeats, with minimum and maximum",
            wrap=True,
            elem_id="comparison",
        )
        save = gr.DownloadButton("Table as CSV", size="sm", scale=0, min_width=160, elem_id="compare-save")
    return CompareTab(start, stop, what, repeats, pair, first_K, second_K, status, table, save)
