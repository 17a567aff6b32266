"""Which component of the Theory tab runs which event."""

from __future__ import annotations

from typing import Any

import gradio as gr

from csd.web import scripts, staircase, what_if
from csd.web.context import PageContext
from csd.web.one_at_a_time import one_at_a_time
from csd.web.race_form import Values
from csd.web.race_tab import RaceTab
from csd.web.theory_tab import TO_ASKED, TO_FIGURES, TheoryTab, refusal_html
from csd.web.updates import FormUpdate
from csd.web.wiring import PRIVATE, QUICK, Changes, HiddenParts, visitor_of


def wire_theory(context: PageContext, tab: TheoryTab, race: RaceTab, tabs: gr.Tabs, hidden: HiddenParts) -> None:
    panel, curves, form = tab.what_if, tab.curves, race.form
    (lanes,) = form.named(("lanes",))

    @one_at_a_time
    def check_plan(values: Values) -> Changes:
        return panel.show(what_if.check_plan(panel.read(values)))

    @one_at_a_time
    def draw_curves(sliders: Any) -> tuple:
        return what_if.paper_curves(sliders) or tuple(gr.skip() for _ in curves.figures)

    def measure(values: Values, request: gr.Request) -> Changes:
        return start(what_if.measure(panel.read(values), values[lanes] or ()), request)

    def measure_parts(values: Values, request: gr.Request) -> Changes:
        return start(what_if.measure_parts(panel.read(values)), request)

    def start(update: what_if.MeasureUpdate, request: gr.Request) -> Changes:
        context.studio.visitors.state(visitor_of(context, request)).predicted = update.predicted
        if update.fields is None:
            return {panel.words: refusal_html(update.text), hidden.press: ""}
        told = {tabs: gr.Tabs(selected="race")}
        return {**form.fill(FormUpdate(update.fields)), **told, hidden.press: form.start.elem_id}

    def fit_K(drafts: tuple[str, ...], raced: str | None, K: str, sliders: Any) -> Any:
        """`raced` is the race's own. It has just been set, and the browser may still send the K of before."""
        fitted = raced or what_if.fit_K(drafts, K, sliders)
        return gr.skip() if fitted == K else fitted  # K may have changed meanwhile, as with the race of a reload

    # The tab's parts are drawn when it is opened first; only then can the picture follow the field.
    tab.tab.select(None, [panel.K, panel.picture], [panel.picture], js=staircase.TO_PICTURE, **PRIVATE)
    panel.drafts.change(fit_K, [panel.drafts, panel.raced, panel.K, panel.sliders], [panel.K], **QUICK)
    # K.change and not K.input: pasting is not an input event.
    events = [tab.tab.select, panel.K.change, panel.draft.input, panel.k.input]
    knobs = [panel.draft, panel.k, panel.K, panel.sliders]
    figures = [panel.figure, panel.step]
    gr.on([*events, panel.sliders.input], None, [*knobs, *figures], figures, js=TO_FIGURES, **QUICK)
    gr.on(events, check_plan, set(panel.inputs), panel.outputs, trigger_mode="always_last", **QUICK)
    asked = panel.figure.input(None, [panel.figure, panel.sliders], knobs, js=TO_ASKED, **QUICK)
    asked = asked.then(None, [*knobs, *figures], figures, js=TO_FIGURES, **QUICK)
    asked.then(check_plan, set(panel.inputs), panel.outputs, **QUICK)
    events = [curves.fold.expand, curves.sliders.input]
    gr.on(events, draw_curves, [curves.sliders], list(curves.figures), trigger_mode="always_last", **QUICK)
    filled = form.named(("draft", "k", "K", "lanes"))
    for button, handler in ((panel.measure, measure), (panel.measure_parts, measure_parts)):
        measuring = button.click(handler, {*panel.inputs, lanes}, [*filled, tabs, panel.words, hidden.press], **QUICK)
        measuring.then(None, [hidden.press], js=scripts.RACE_FROM_TAB, **PRIVATE)
