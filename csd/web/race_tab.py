"""The Race tab: the form, the stage, and what is shown once a race has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.models import catalog
from csd.stage import bundle
from csd.web import views
from csd.web.context import PageContext
from csd.web.downloads import RaceFiles
from csd.web.example_chips import ExampleChips, build_example_chips
from csd.web.prompt_row import build_prompt_row
from csd.web.race_form import RaceForm, build_form
from csd.web.races import FinishedRace, replay_log
from csd.web.replays import Replays, build_replays
from csd.web.results import FIGURES, RaceResults
from csd.web.settings_drawer import build_settings_drawer
from csd.web.updates import FormUpdate, Landing, RaceUpdate, StageView, StatusLine

RECORDED = "A recorded race, with settings tuned to this text. Press Race to run it live, or type your own."


@dataclass(frozen=True)
class ResultParts:
    """What is filled in at the end of a race; `area` appears with the first one."""

    area: gr.Accordion
    figures: tuple[gr.Plot, ...]
    comparison: gr.HTML
    prediction: gr.Plot
    save_traces: gr.DownloadButton
    save_replay: gr.DownloadButton
    save_figures: Mapping[str, gr.Button]

    @property
    def outputs(self) -> list[Component | gr.Accordion]:
        files = (self.save_traces, self.save_replay)
        return [self.area, *self.figures, self.comparison, self.prediction, *files]

    def show(self, results: RaceResults) -> dict[Any, Any]:
        return {
            self.area: gr.Accordion(visible=True),
            **dict(zip(self.figures, results.figures, strict=True)),
            self.comparison: results.comparison,
            self.prediction: results.prediction,
            **self.offer(results.files),
        }

    def offer(self, files: RaceFiles) -> dict[Any, Any]:
        return {
            self.save_traces: gr.DownloadButton(value=files.traces, interactive=bool(files.traces)),
            self.save_replay: gr.DownloadButton(value=files.replay, interactive=bool(files.replay)),
        }


@dataclass(frozen=True)
class RaceTab:
    """`family` is the line on the chosen family in the head of the page."""

    form: RaceForm
    chips: ExampleChips
    replays: Replays
    family: gr.HTML
    status: gr.HTML
    stage: gr.HTML
    results: ResultParts

    @property
    def form_outputs(self) -> list[Any]:
        """What a FormUpdate may change."""
        form = [*self.form.fields.values(), self.form.preset, self.form.drawer.picture]
        shown = [self.stage, self.replays.earlier, self.results.save_traces, self.results.save_replay]
        return [*form, *self.chips.kinds, self.status, *shown]

    @property
    def race_outputs(self) -> list[Any]:
        return [
            self.status,
            self.family,
            self.form.drawer.about,
            self.stage,
            self.replays.earlier,
            *self.results.outputs,
        ]

    def fill(self, update: FormUpdate) -> dict[Any, Any]:
        changes = {**self.form.fill(update), **self._name_examples(update)}
        if update.status is not None:
            changes[self.status] = views.status_html(update.status)
        if update.stage is not None:
            changes |= self._draw(update.stage)
        if update.own_prompt is not None:
            changes |= self.chips.keep(update.own_prompt)
        return changes

    def show(self, update: RaceUpdate) -> dict[Any, Any]:
        changes: dict[Any, Any] = {self.status: views.status_html(update.status) if update.status else gr.skip()}
        if update.family is not None:
            changes[self.family] = views.family_html(update.family.status)
            changes[self.form.drawer.about] = views.about_html(update.family.about, update.family.context)
        if update.stage is not None:
            changes |= self._draw(update.stage)
            if not update.stage.race:
                changes[self.results.area] = gr.Accordion(visible=False)  # it shows another race
        if update.results is not None:
            listed = gr.Dropdown(list(update.results.listed), value=update.results.race_id)
            changes |= {self.replays.earlier: listed, **self.results.show(update.results)}
        if update.form is not None:
            changes |= {**self.form.fill(update.form), **self._name_examples(update.form)}
        return changes

    def _draw(self, view: StageView) -> dict[Any, Any]:
        """On the stage. Where it holds no race, none is chosen in the list and there are no files."""
        drawn = {self.stage: asdict(view)}
        return drawn if view.race else {**drawn, self.replays.earlier: None, **self.results.offer(RaceFiles())}

    def _name_examples(self, update: FormUpdate) -> dict[Any, Any]:
        return self.chips.name_kinds(update.kinds) if update.kinds is not None else {}


def build_race_tab(context: PageContext, family: gr.HTML) -> RaceTab:
    prompt_row = build_prompt_row(context)
    with gr.Row(elem_id="lines"):
        chips = build_example_chips(context)
        recorded = StatusLine(RECORDED if context.landing else "", "recorded")
        status = gr.HTML(views.status_html(recorded), elem_id="status")
        home = gr.Button(
            f"Back to {catalog.title(context.studio.home.spec.name)}",
            size="sm",
            min_width=92,
            scale=0,
            elem_id="back-home",
        )
        more = gr.Button("Settings", size="sm", min_width=92, scale=1, elem_id="more")
        replays = build_replays(context)
    form = build_form(prompt_row, more, home, build_settings_drawer(context))
    landing = land(context, context.landing) if context.landing else None
    show = gr.HTML(
        asdict(landing.stage if landing else StageView("", "")),
        html_template=bundle.HTML_TEMPLATE,
        js_on_load=bundle.gradio_script(),
        apply_default_css=False,
        elem_id="stage",
    )
    return RaceTab(form, chips, replays, family, status, show, _build_results(landing))


def land(context: PageContext, race: FinishedRace) -> Landing:
    """A recorded race, which replays as soon as it is drawn."""
    return Landing(StageView(race.id, replay_log(race, play=True)), context.downloads.save_race(race))


def _build_results(landing: Landing | None) -> ResultParts:
    files = landing and landing.files
    button = {"size": "sm", "scale": 0, "min_width": 160}
    with gr.Row(elem_id="downloads"):
        traces = gr.DownloadButton("Traces as JSON", files and files.traces, elem_id="save", **button)
        replay = gr.DownloadButton("Replay as HTML", files and files.replay, elem_id="replay", **button)
    with gr.Accordion("This race in figures", open=False, visible=False, elem_id="after") as area:
        plots = [gr.Plot(show_label=False, min_width=420, render=False) for _ in FIGURES]
        for pair in (plots[:2], plots[2:]):
            with gr.Row():
                for plot in pair:
                    plot.render()
        comparison = gr.HTML(elem_id="beside")
        prediction = gr.Plot(show_label=False, min_width=420)
        with gr.Row():
            formats = {kind: gr.Button(f"Figures as {kind.upper()}", elem_id=kind, **button) for kind in ("png", "svg")}
    return ResultParts(area, tuple(plots), comparison, prediction, traces, replay, formats)
