"""A prompt of the visitor's own: the models that answer it, and the way back from them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from csd.decoding.methods import AdaptiveCascade
from csd.models import catalog
from csd.request import link
from csd.web.context import PageContext, fields_of
from csd.web.example_events import settings_for
from csd.web.examples import example_kinds, is_brought
from csd.web.family_choice import spec_of
from csd.web.fields import PageFields
from csd.web.losing_race import holds_losing_race
from csd.web.other_models import why_others
from csd.web.preset_choice import preset_choices
from csd.web.refusals import why_refused
from csd.web.typed import is_own_prompt
from csd.web.updates import FormUpdate, StatusLine
from csd.web.usual_lanes import lanes_of_own_prompts, show_usual_lanes

CONTINUES = "The {home} only continue texts like the examples. {name} (under Settings) answers questions."
ADAPTIVE = " Its cascade adapts as it runs."
NOT_YET = " {name} is still loading."
HOME_AGAIN = "Back to the {home}. Press Race."
BEFORE = " The race shown is still {name}’s."
LOOK_AGAIN = 0.25  # seconds between two looks at a race that runs


async def await_end_of_race(context: PageContext, visitor: str) -> None:
    """Until no race of this visitor runs: the form stays as it was asked for until then."""
    while context.studio.visitors.find(visitor).stop:
        await asyncio.sleep(LOOK_AGAIN)


def begin_own_prompt(
    context: PageContext, visitor: str, fields: PageFields, by_hand: Collection[str] = ()
) -> FormUpdate:
    """What a prompt of the visitor's own brings along, see `_bring_settings`. One that no race could run, such as a
    pasted text that is too long, is told at once."""
    update = _bring_settings(context, visitor, fields, by_hand)
    if not is_own_prompt(context, fields.form.prompt):
        return update
    state = update.status.state if update.status else "refused"
    refused = why_refused(context, {**fields.values(), **update.values})
    return replace(update, status=StatusLine(refused, state)) if refused else update


def _bring_settings(context: PageContext, visitor: str, fields: PageFields, by_hand: Collection[str]) -> FormUpdate:
    """The studio's preferred family, if it is ready or on its way, or else the usual k and K in place of those that an
    example has.

    The family stays where the visitor has chosen it, or has changed a setting that belongs to a family. Length and
    temperature are the usual ones again where an example has brought others; fields named in `by_hand` stay. A prompt
    that has raced, or races, keeps the settings of its race. The settings of the race to lose give way, also on a page
    that was loaded again.
    """
    studio, home = context.studio, context.studio.home
    own = studio.visitors.find(visitor)
    raced = {race.prompt for race in own.races} | ({own.unfinished.fields.form.prompt} if own.unfinished else set())
    if not is_own_prompt(context, fields.form.prompt) or fields.form.prompt in raced:
        return FormUpdate()
    usual = show_usual_lanes(context, fields.family) if holds_losing_race(context, fields) else FormUpdate()
    size = _usual_size(context, fields, by_hand)
    usual = replace(usual, values={**size, **usual.values})
    given, initial = {**fields.values(), **usual.values}, context.start.values()
    settings = settings_for(fields.family, None, given)  # what an example brought is not the visitor's
    now = {**given, **settings}
    kept = {name for name in now if link.same(now[name], initial[name])}
    kept |= {name for name, value in home.defaults.preset.fields().items() if link.same(now[name], value)}
    of_family = {*link.FAMILY, *home.defaults.preset.fields()}
    has_chosen = own.has_chosen_family
    state = studio.families.status(studio.preferred).state
    comes = state in ("queued", "loading", "ready")
    if studio.preferred == home or not comes or has_chosen or not of_family <= kept:
        goes_on = comes and studio.preferred != home and given["family"] == home.spec.name
        name, at_home = (catalog.title(choice.spec.name) for choice in (studio.preferred, home))
        said = StatusLine(CONTINUES.format(name=name, home=at_home)) if goes_on else None
        return replace(usual, values={**usual.values, **settings}, status=said or usual.status)
    choice = studio.families.as_loaded(studio.preferred)
    preferred = fields_of(choice, None, studio.deployment.lanes)
    values = {**usual.values, **{name: value for name, value in preferred.values().items() if name in of_family}}
    values["lanes"] = lanes_of_own_prompts(context, choice)
    presets = preset_choices(choice, {**given, **values})
    told = why_others(context, choice, has_chosen)
    loads = "" if state == "ready" else NOT_YET.format(name=catalog.title(choice.spec.name))
    adapts = ADAPTIVE if AdaptiveCascade.name in values["lanes"] else ""
    said = StatusLine(told + adapts + loads, "switched")
    return FormUpdate(values, choice.defaults.drafts, presets, example_kinds(choice.spec), said)


def _usual_size(context: PageContext, fields: PageFields, by_hand: Collection[str]) -> dict[str, Any]:
    """The page's own length and temperature, in place of those that an example has brought."""
    spec, given, initial = spec_of(fields.family), fields.values(), context.start.values()
    names = [name for name in ("max_new", "temperature") if name not in by_hand and given[name] != initial[name]]
    return {name: initial[name] for name in names if is_brought(spec, name, given[name])}


def go_home(context: PageContext, visitor: str, fields: PageFields) -> FormUpdate:
    """The family that the page starts with, and its settings, in place of another one that took over. The prompt and
    the length stay."""
    context.studio.visitors.state(visitor).has_chosen_family = True
    home, start = context.studio.home, context.start.values()
    names = {*link.FAMILY, *home.defaults.preset.fields()}
    values = {name: value for name, value in start.items() if name in names}
    presets = preset_choices(home, {**fields.values(), **values})
    other = _other_family_raced(context, visitor)
    before = BEFORE.format(name=catalog.title(other)) if other else ""
    said = StatusLine(HOME_AGAIN.format(home=catalog.title(home.spec.name)) + before, "previous" if other else "")
    return FormUpdate(values, home.defaults.drafts, presets, example_kinds(home.spec), said)


def _other_family_raced(context: PageContext, visitor: str) -> str:
    """The family of the visitor's latest race; empty where that is the one of the page, or where there was none."""
    own = context.studio.visitors.find(visitor).races
    family = own[-1].unpack().recording.family if own else ""
    return family if family != context.studio.home.spec.name else ""
