"""Which event of the form runs what: links, families, presets, examples, settings."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency

from csd.web import (
    example_events,
    examples,
    family_choice,
    family_events,
    form_events,
    link_events,
    losing_race,
    own_prompts,
    scripts,
    views,
)
from csd.web.addresses import address, neighbourhood
from csd.web.context import PageContext
from csd.web.fields import PageFields
from csd.web.one_at_a_time import paid
from csd.web.race_form import Values
from csd.web.race_tab import RaceTab
from csd.web.section_words import IN_SECTIONS, section_words
from csd.web.updates import FormUpdate
from csd.web.visitors import Visitor
from csd.web.wiring import PRIVATE, QUICK, Changes, HiddenParts, RaceView, keep_typed, visitor_of


def wire_form(page: gr.Blocks, context: PageContext, view: RaceView, hidden: HiddenParts) -> Dependency:
    """Returns the event that fills in the form when the page is opened."""
    tab, form = view.tab, view.tab.form
    preset_outputs = [form.preset, *form.named(context.studio.home.defaults.preset.fields())]
    family_outputs = [*preset_outputs, form.drawer.picture, form.drawer.copies, *tab.chips.kinds, tab.status]

    @paid
    def open_page(before: str | None, aside: str | None, request: gr.Request) -> Changes:
        visitor = visitor_of(context, request)
        context.studio.visitors.come_back(visitor, before or "")
        update = link_events.open_link(context, visitor, dict(request.query_params))
        is_kept = aside and len(aside) <= context.studio.deployment.max_prompt
        return {**tab.fill(replace(update, own_prompt=aside if is_kept else None)), hidden.visitor: str(visitor)}

    async def await_end_of_race(request: gr.Request) -> None:
        await own_prompts.await_end_of_race(context, visitor_of(context, request))

    def begin_own_prompt(values: Values, request: gr.Request) -> Changes:
        by_hand = (values[hidden.by_hand] or "").split(",")
        return tab.fill(own_prompts.begin_own_prompt(context, visitor_of(context, request), form.read(values), by_hand))

    def go_home(values: Values, request: gr.Request) -> Changes:
        return tab.fill(own_prompts.go_home(context, visitor_of(context, request), form.read(values)))

    def choose_family(values: Values, request: gr.Request) -> Changes:
        return tab.fill(family_choice.choose_family(context, visitor_of(context, request), form.read_family(values)))

    def change_drafts(values: Values) -> Changes:
        return tab.fill(family_choice.change_drafts(form.read_family(values)))

    def choose_copies(values: Values, request: gr.Request) -> Changes:
        return tab.fill(family_choice.choose_copies(context, visitor_of(context, request), form.read_family(values)))

    def name_drafts(values: Values, request: gr.Request) -> Changes:
        return tab.fill(family_choice.name_drafts(context, visitor_of(context, request), form.read_family(values)))

    @paid
    def check_names(values: Values) -> tuple[str, str]:
        return family_choice.check_names(context, form.read_family(values))

    def apply_preset(values: Values) -> Changes:
        return tab.fill(form_events.apply_preset(values[form.preset], form.read_family(values)))

    def follow_settings(values: Values) -> Changes:
        return tab.fill(form_events.follow_settings(values[form.preset], form.read(values)))

    def tell_sections(values: Values) -> str:
        return json.dumps(section_words(form.read(values)))

    def reset_settings(values: Values) -> Changes:
        return tab.fill(form_events.reset_settings(context, form.read(values)))

    @paid
    def copy_link(values: Values, request: gr.Request) -> tuple[str, str]:
        return link_events.copy_link(context, *about_link(values, request))

    @paid
    def copy_race_link(values: Values, request: gr.Request) -> tuple[str, str]:
        return link_events.copy_race_link(context, *about_link(values, request))

    def about_link(values: Values, request: gr.Request) -> tuple[Visitor, PageFields, str, str]:
        owner = neighbourhood(address(request, context.studio.deployment))
        return visitor_of(context, request), form.read(values), values[hidden.shown], owner

    def load_family(values: Values, request: gr.Request) -> Changes:
        refused = family_events.load_family(context, visitor_of(context, request), form.read_family(values))
        return {tab.status: views.status_html(refused) if refused else gr.skip()}

    def choose_parts(values: Values) -> Changes:
        lanes = {"lanes": form.read(values).parts}
        return {**tab.fill(FormUpdate(lanes)), hidden.press: form.start.elem_id}

    def follow(event: Dependency) -> None:
        _follow_family(event, context, tab)

    outputs = [*tab.form_outputs, tab.chips.typed, tab.chips.own, hidden.visitor]
    opening = page.load(open_page, [hidden.visitor, hidden.aside], outputs, js=scripts.VISITOR_BEFORE, **QUICK)
    opening.then(None, [hidden.visitor], js=scripts.NOTE_VISITOR, **PRIVATE)
    opening.then(None, [tab.status], [tab.status], js=scripts.RESTORE_PROMPT, **PRIVATE)
    keep_typed(opening, form)  # the prompt that has just come back, too
    _follow_family(opening, context, tab, family_events.number_of_first)
    own = hidden.begin_own.click(await_end_of_race, concurrency_limit=None, show_progress="hidden", **PRIVATE)
    own = own.then(None, None, [hidden.by_hand], js=scripts.BEGIN_OWN, **PRIVATE)
    begun = own.then(begin_own_prompt, {hidden.by_hand, *form.inputs}, tab.form_outputs, **QUICK)
    keep_typed(begun, form).then(None, js=scripts.END_OWN, **PRIVATE)
    follow(begun)
    at_home = keep_typed(form.home.click(go_home, form.inputs, tab.form_outputs, **QUICK), form)
    at_home.then(None, [tab.status], js=scripts.TELL_PREVIOUS, **PRIVATE)
    follow(at_home)
    follow(form.family.input(choose_family, form.family_inputs, family_outputs, **QUICK))
    form.drawer.others.blur(name_drafts, form.family_inputs, family_outputs, **QUICK)
    for field in (form.drawer.target, form.drawer.others):
        checked = field.blur(check_names, form.family_inputs, list(hidden.name_faults), **QUICK)
        checked.then(None, list(hidden.name_faults), js=scripts.TELL_NAMES, **PRIVATE)
    form.drawer.copies.input(choose_copies, form.family_inputs, family_outputs, **QUICK)
    loading = form.drawer.load.click(change_drafts, form.family_inputs, family_outputs, **QUICK)
    follow(loading.then(load_family, form.family_inputs, [tab.status], **QUICK))
    form.preset.input(apply_preset, {form.preset, *form.family_inputs}, preset_outputs, **QUICK)
    set_by_preset = [field.change for field in preset_outputs[1:]]  # type: ignore[attr-defined]
    gr.on(set_by_preset, follow_settings, form.inputs, [form.preset], trigger_mode="always_last", **QUICK)
    in_sections = [field.change for field in form.named(IN_SECTIONS)]  # type: ignore[attr-defined]
    told = gr.on(in_sections, tell_sections, form.inputs, [hidden.sections], trigger_mode="always_last", **QUICK)
    told.then(None, [hidden.sections], js=scripts.TELL_SECTIONS, **PRIVATE)
    form.preset.input(None, [form.preset], js=scripts.REVEAL_PLAN, **PRIVATE)
    form.family.input(None, [form.family], js=scripts.REVEAL_CUSTOM, **PRIVATE)
    form.prompt.change(None, js=scripts.TELL_PROMPT, **PRIVATE)
    form.more.click(None, js=scripts.TOGGLE_SETTINGS, **PRIVATE)
    reset = form.drawer.reset.click(reset_settings, form.inputs, tab.form_outputs, **QUICK)
    reset.then(None, js=scripts.DROP_FAULTS, **PRIVATE)
    form.drawer.close.click(None, js=scripts.CLOSE_SETTINGS, **PRIVATE)
    form.drawer.race.click(None, js=scripts.RACE, **PRIVATE)
    named = [field.change for field in form.in_words]  # type: ignore[attr-defined]
    gr.on([page.load, *named], None, form.in_words, [form.more], js=scripts.SETTINGS_IN_WORDS, **PRIVATE)
    tab.replays.races.click(None, js=scripts.TOGGLE_RACES, **PRIVATE)
    chosen = form.drawer.parts.click(choose_parts, form.inputs, [form.fields["lanes"], hidden.press], **QUICK)
    chosen.then(None, [hidden.press], js=scripts.PRESS, **PRIVATE)
    link = [hidden.query, hidden.omitted]
    for button, copy in ((form.drawer.copy_link, copy_link), (hidden.copy_race, copy_race_link)):
        button.click(None, None, [hidden.shown], js=scripts.SHOWN_RACE, **PRIVATE)
        copied = button.click(copy, {hidden.shown, *form.inputs}, link, **QUICK)
        copied.then(None, link, [tab.status], js=scripts.COPY_LINK, **PRIVATE)
    _wire_chips(context, tab, hidden, preset_outputs)
    return opening


def _follow_family(
    event: Dependency,
    context: PageContext,
    tab: RaceTab,
    number_of: Callable[[PageContext, str], int] = family_events.number_of_next,
) -> None:
    """After an event, the lines on the chosen family follow what it is doing."""

    async def follow(values: Values, request: gr.Request) -> AsyncIterator[tuple[str, str]]:
        visitor = visitor_of(context, request)
        number = number_of(context, visitor)
        async for lines in family_events.follow_family(context, visitor, tab.form.read_family(values), number):
            yield views.family_html(lines.status), views.about_html(lines.about, lines.context)

    lines = [tab.family, tab.form.drawer.about]
    event.then(follow, tab.form.family_inputs, lines, concurrency_limit=None, show_progress="hidden", **PRIVATE)


def _wire_chips(context: PageContext, tab: RaceTab, hidden: HiddenParts, preset_outputs: list[Component]) -> None:
    """A click fills in the form and then presses Race."""
    form, chips = tab.form, tab.chips
    asked = form.named(("prompt", "max_new", "temperature", "k", "K"))
    outputs = [*preset_outputs, *form.named(examples.FIELDS), chips.typed, chips.own, tab.status]

    def shows(number: int) -> Callable[[Values], Changes]:
        def show(values: Values) -> Changes:
            by_hand = (values[hidden.by_hand] or "").split(",")
            family = form.read_family(values)
            prompt, *settings = (values[field] for field in asked)
            return tab.fill(example_events.show_example(context, family, number, prompt, by_hand, *settings))

        return show

    def show_losing_race(values: Values) -> Changes:
        prompt, max_new = (values[field] for field in asked[:2])
        is_set = "max_new" in (values[hidden.by_hand] or "").split(",")
        family = form.read_family(values)
        return tab.fill(losing_race.show_losing_race(context, family, prompt, None if is_set else max_new))

    def show_own_prompt(values: Values) -> Changes:
        by_hand = (values[hidden.by_hand] or "").split(",")
        typed, temperature = values[chips.typed], values[asked[2]]
        update = example_events.show_own_prompt(context, form.read_family(values), typed, by_hand, temperature)
        return {**tab.fill(update), chips.own: gr.Button(visible=False)}

    def race(button: gr.Button, fill: Callable[..., Any], inputs: Any, outputs: list[Component]) -> Dependency:
        begun = [tab.status, hidden.by_hand]
        button.click(None, None, begun, js=scripts.BEGIN_EXAMPLE, **PRIVATE)
        filled = button.click(fill, inputs, outputs, **QUICK)
        filled.success(None, js=scripts.RACE, **PRIVATE)
        filled.failure(None, js=scripts.END_EXAMPLE, **PRIVATE)
        return filled

    for number, button in enumerate(chips.kinds):
        race(button, shows(number), {hidden.by_hand, *asked, *form.family_inputs}, outputs)
    race(chips.own, show_own_prompt, {hidden.by_hand, chips.typed, asked[2], *form.family_inputs}, outputs)
    of_family = list(dict.fromkeys([*outputs, *tab.form_outputs]))  # it may bring another one
    lost = race(chips.lose, show_losing_race, {hidden.by_hand, *asked[:2], *form.family_inputs}, of_family)
    _follow_family(lost, context, tab)
