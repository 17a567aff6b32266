"""Which component runs which event.

The handlers are plain functions of csd.web.*_events and csd.web.what_if. Here the tabs read their arguments from
components, by name, and turn what they return into new values of components.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.events import Dependency

from csd.web import compare_events, examples, form_events, race_events, scripts, views, what_if
from csd.web.compare import TWO_CASCADES
from csd.web.compare_tab import CompareTab
from csd.web.context import PageContext
from csd.web.race_form import Values
from csd.web.race_tab import RaceTab
from csd.web.theory_tab import TheoryTab, WhatIfParts
from csd.web.updates import FormUpdate, RaceUpdate, StatusLine

PRIVATE: dict[str, Any] = {"api_visibility": "private"}
QUICK = {**PRIVATE, "queue": False, "show_progress": "hidden"}  # neither needs the device nor waits for it
DEVICE: dict[str, Any] = {"concurrency_id": "device", "concurrency_limit": 1}  # everything that needs the device

Changes = dict[Any, Any]
"""New values of components."""


@dataclass(frozen=True)
class HiddenParts:
    """How events talk to the browser: `press` holds the id of a button that it presses next, or nothing; `leave_queue`
    cancels a race that waits; `query` and `omitted` are the link to copy and what it leaves out."""

    press: gr.Textbox
    leave_queue: gr.Button
    query: gr.Textbox
    omitted: gr.Textbox


def build_hidden() -> HiddenParts:
    press, query, omitted = (gr.Textbox(visible="hidden") for _ in range(3))
    leave_queue = gr.Button("Leave the queue", visible="hidden", elem_id="leave-queue")
    return HiddenParts(press, leave_queue, query, omitted)


def visitor_id(request: gr.Request | None) -> str:
    """Gradio's session; a new id for a caller without one."""
    return (request and request.session_hash) or uuid.uuid4().hex


# ---- the form


def wire_form(page: gr.Blocks, context: PageContext, tab: RaceTab, hidden: HiddenParts) -> Dependency:
    """Returns the event that fills in the form when the page is opened."""
    form = tab.form
    preset_outputs = [form.preset, *form.named(context.studio.home.defaults.preset.fields())]
    family_outputs = [*preset_outputs, form.drawer.copies, *tab.prompt_row.examples, tab.status]

    def open_link(request: gr.Request) -> Changes:
        return tab.fill(form_events.open_link(context, visitor_id(request), dict(request.query_params)))

    async def await_preferred(request: gr.Request) -> None:
        await race_events.await_preferred(context, visitor_id(request))

    def prefer_family(values: Values, request: gr.Request) -> Changes:
        return tab.fill(form_events.prefer_family(context, visitor_id(request), form.read(values)))

    def choose_family(values: Values, request: gr.Request) -> Changes:
        return tab.fill(form_events.choose_family(context, visitor_id(request), form.read_family(values)))

    def change_drafts(values: Values) -> Changes:
        return tab.fill(form_events.change_drafts(form.read_family(values)))

    def choose_copies(values: Values, request: gr.Request) -> Changes:
        return tab.fill(form_events.choose_copies(context, visitor_id(request), form.read_family(values)))

    def name_drafts(values: Values, request: gr.Request) -> Changes:
        return tab.fill(form_events.name_drafts(context, visitor_id(request), form.read_family(values)))

    def apply_preset(values: Values) -> Changes:
        return tab.fill(form_events.apply_preset(values[form.preset], form.read_family(values)))

    def copy_link(values: Values) -> tuple[str, str]:
        return form_events.copy_link(context, form.read(values))

    def load_family(values: Values) -> None:
        race_events.load_family(context, form.read_family(values))

    def follow(event: Dependency) -> None:
        _follow_family(event, context, tab)

    opening = page.load(open_link, None, tab.form_outputs, **QUICK)
    follow(opening)
    waiting = opening.then(await_preferred, None, None, concurrency_limit=None, show_progress="hidden", **PRIVATE)
    follow(waiting.then(prefer_family, form.inputs, tab.form_outputs, **QUICK))
    follow(form.family.input(choose_family, form.family_inputs, family_outputs, **QUICK))
    form.drawer.others.blur(name_drafts, form.family_inputs, family_outputs, **QUICK)
    form.drawer.copies.input(choose_copies, form.family_inputs, family_outputs, **QUICK)
    loading = form.drawer.load.click(change_drafts, form.family_inputs, family_outputs, **QUICK)
    follow(loading.then(load_family, form.family_inputs, None, **QUICK))
    form.preset.input(apply_preset, {form.preset, *form.family_inputs}, preset_outputs, **QUICK)
    form.more.click(None, js=scripts.TOGGLE_SETTINGS, **PRIVATE)
    form.drawer.close.click(None, js=scripts.CLOSE_SETTINGS, **PRIVATE)
    link = [hidden.query, hidden.omitted]
    copied = tab.replays.copy_link.click(copy_link, form.inputs, link, **QUICK)
    copied.then(None, link, [tab.status], js=scripts.COPY_LINK, **PRIVATE)
    for number, button in enumerate(tab.prompt_row.examples):
        _wire_example(context, tab, number, button)
    row = tab.prompt_row
    row.own.click(lambda typed: (typed, gr.Button(visible=False)), [row.typed], [row.prompt, row.own], **QUICK)
    return opening


def _follow_family(event: Dependency, context: PageContext, tab: RaceTab) -> None:
    """After an event, the lines on the chosen family follow what it is doing."""

    async def follow(values: Values) -> AsyncIterator[tuple[str, str]]:
        async for lines in race_events.follow_family(context, tab.form.read_family(values)):
            yield views.family_html(lines.status), views.about_html(lines.about)

    lines = [tab.family, tab.prompt_row.about]
    event.then(follow, tab.form.family_inputs, lines, concurrency_limit=None, show_progress="hidden", **PRIVATE)


def _wire_example(context: PageContext, tab: RaceTab, number: int, button: gr.Button) -> None:
    form, row = tab.form, tab.prompt_row

    def show(values: Values, request: gr.Request) -> Changes:
        visitor, family = visitor_id(request), form.read_family(values)
        return tab.fill(form_events.show_example(context, visitor, family, number, values[form.prompt]))

    outputs = [*form.named(examples.FIELDS), row.typed, row.own, tab.status]
    button.click(show, {form.prompt, *form.family_inputs}, outputs, trigger_mode="multiple", **QUICK)


# ---- races


@dataclass(frozen=True)
class RaceView:
    """Where a race is shown: in its tab, and in the what-if panel of the theory."""

    tab: RaceTab
    panel: WhatIfParts

    @property
    def outputs(self) -> list[Any]:
        return list(dict.fromkeys([*self.tab.race_outputs, *self.panel.knobs, *self.tab.form_outputs]))

    def show(self, update: RaceUpdate) -> Changes:
        knobs = self.panel.set(update.results.panel) if update.results else {}
        return {**self.tab.show(update), **knobs}


def wire_races(page: gr.Blocks, context: PageContext, view: RaceView, hidden: HiddenParts) -> Dependency:
    """Returns the event that races."""
    tab = view.tab
    form, replays = tab.form, tab.replays

    def run(values: Values, request: gr.Request) -> Iterator[Changes]:
        for update in race_events.run_race(context, visitor_id(request), form.read(values)):
            yield view.show(update)

    def show_race(values: Values, request: gr.Request) -> Changes:
        chosen = values[replays.earlier]
        return view.show(race_events.show_race(context, visitor_id(request), chosen, form.read(values)))

    def open_file(values: Values, request: gr.Request) -> Changes:
        data = values[replays.upload]
        return view.show(race_events.open_file(context, visitor_id(request), data, form.read(values)))

    def leave(request: gr.Request) -> None:
        context.studio.visitors.leave(visitor_id(request))

    # Gradio runs the events of one click in the order of their definition, each when the one before has ended.
    for pressed in (form.start.click, form.prompt.submit):
        pressed(None, js=scripts.BEGIN_RACE, **PRIVATE)
    replays.earlier.input(None, [replays.earlier], js=scripts.WRITE_RACE, **PRIVATE)
    replays.upload.upload(None, js=scripts.LEAVE_RACE, **PRIVATE)
    racing = gr.on(
        [form.start.click, form.prompt.submit],
        run,  # an event named like the endpoint would take its name
        form.inputs,
        view.outputs,
        trigger_mode="once",
        show_progress_on=[tab.status],
        **PRIVATE,
        **DEVICE,
    )
    replays.earlier.input(show_race, {replays.earlier, *form.inputs}, view.outputs, **QUICK)
    replays.upload.upload(open_file, {replays.upload, *form.inputs}, view.outputs, **QUICK)
    racing.then(None, js=scripts.END_RACE, **PRIVATE)
    _wire_stop(context, form.stop, tab.status, hidden)
    for kind, button in tab.results.save_figures.items():
        button.click(None, js=scripts.download_figures(kind), **PRIVATE)
    page.unload(leave)
    return racing


def _wire_stop(context: PageContext, button: gr.Button, status: gr.HTML, hidden: HiddenParts) -> None:
    """Stop runs at once, outside the queue. The browser cancels a race that waits; one that runs must not be
    cancelled, since that would lose its last events."""

    def stop(request: gr.Request) -> Changes:
        update = race_events.stop_race(context, visitor_id(request))
        press = hidden.leave_queue.elem_id if update.leave_queue else ""
        return {status: views.status_html(update.status), hidden.press: press}

    stopping = button.click(stop, None, [status, hidden.press], trigger_mode="multiple", **QUICK)
    stopping.then(None, [hidden.press], js=scripts.PRESS, **PRIVATE)


# ---- comparison and theory


def wire_comparison(context: PageContext, tab: CompareTab, race: RaceTab, hidden: HiddenParts) -> Dependency:
    """Returns the event that compares."""

    def compare(values: Values, request: gr.Request) -> Iterator[Changes]:
        asked, fields = tab.read(values), race.form.read(values)
        for update in compare_events.run_comparison(context, visitor_id(request), asked, fields):
            yield tab.show(update)

    def show_pair(what: str) -> Changes:
        return {tab.pair: gr.Row(visible=what == TWO_CASCADES)}

    tab.what.input(show_pair, [tab.what], [tab.pair], **QUICK)
    _wire_stop(context, tab.stop, tab.status, hidden)
    return tab.start.click(
        compare,
        {*tab.inputs, *race.form.inputs},
        tab.outputs,
        trigger_mode="once",
        show_progress="hidden",
        **PRIVATE,
        **DEVICE,
    )


def wire_theory(tab: TheoryTab, race: RaceTab, tabs: gr.Tabs, hidden: HiddenParts) -> None:
    panel, curves, form = tab.what_if, tab.curves, race.form

    def predict(values: Values) -> Changes:
        return panel.show(what_if.predict(panel.read(values)))

    def draw_curves(sliders: Any) -> tuple:
        return what_if.paper_curves(sliders) or tuple(gr.skip() for _ in curves.figures)

    def measure(values: Values) -> Changes:
        return start(what_if.measure(panel.read(values), what_if.MEASURED))

    def measure_parts(values: Values) -> Changes:
        return start(what_if.measure(panel.read(values), what_if.PARTS))

    def start(update: what_if.MeasureUpdate) -> Changes:
        if update.fields is None:
            return {panel.status: views.status_html(StatusLine(update.text, "refused")), hidden.press: ""}
        told = {panel.status: views.status_html(StatusLine(update.text)), tabs: gr.Tabs(selected="race")}
        return {**form.fill(FormUpdate(update.fields)), **told, hidden.press: form.start.elem_id}

    # K.change and not K.input: pasting is not an input event.
    events = [tab.tab.select, panel.K.change, panel.draft.input, panel.k.input, panel.sliders.input]
    gr.on(events, predict, set(panel.inputs), panel.outputs, trigger_mode="always_last", **QUICK)
    events = [tab.tab.select, curves.sliders.input]
    gr.on(events, draw_curves, [curves.sliders], list(curves.figures), trigger_mode="always_last", **QUICK)
    filled = form.named(("draft", "k", "K", "lanes"))
    for button, handler in ((panel.measure, measure), (panel.measure_parts, measure_parts)):
        measuring = button.click(handler, set(panel.inputs), [*filled, tabs, panel.status, hidden.press], **QUICK)
        measuring.then(None, [hidden.press], js=scripts.PRESS, **PRIVATE)
