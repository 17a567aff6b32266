"""Events of links: one is copied, or has opened the page."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from csd.models import catalog
from csd.models.spec import COPIES
from csd.request import link
from csd.request.form import to_fields
from csd.request.request import Request
from csd.stage import log as stage
from csd.web import hidden_controls
from csd.web.context import PageContext
from csd.web.fields import FamilyFields, PageFields
from csd.web.form_events import fill_form, restore_form, start_with
from csd.web.races import LINKED, RECORDED, FinishedRace
from csd.web.refusals import why_refused
from csd.web.updates import FormUpdate, StageView, StatusLine

FILLED_IN = "The link has filled in the form."
PRESS = " Press Race."
NOT_RACED = "This prompt has not been raced here yet."
FROM_A_FILE = "The race on the stage is from a file and is not in the link. Send the file."
NOT_KEPT = "The race itself is not in it, because this page has no room for it. Save its replay as HTML to send it."


def copy_link(
    context: PageContext, visitor: str, fields: PageFields, shown: str | None = None, owner: str = ""
) -> tuple[str, str]:
    """What a link has behind the page's address, and a sentence on what it leaves out.

    That is the form as a query. Where the form is that of the race `shown`, the race follows as a fragment: one that
    ran here is then kept for links, on the account of `owner`; a recorded one needs no query.
    """
    race = context.recorded.get(shown or "")
    if race is not None and _is_form_of(race, fields):
        return f"#race={race.id.removeprefix(RECORDED)}", ""
    query, omitted = _to_query(context, fields)
    own = context.studio.visitors.find_race(visitor, shown or "")
    if own is None or not _is_form_of(own, fields):
        return query, omitted
    if own.origin and not own.id.startswith(LINKED):
        return query, " ".join(filter(None, (omitted, FROM_A_FILE)))
    name = own.id.removeprefix(LINKED) if own.origin else context.linked.share(own, owner)
    return (f"{query}#race={name}", omitted) if name else (query, " ".join(filter(None, (omitted, NOT_KEPT))))


def copy_race_link(
    context: PageContext, visitor: str, fields: PageFields, shown: str | None = None, owner: str = ""
) -> tuple[str, str]:
    """The same for the race `shown`, whatever the form holds by now; where no form can hold it, for the form."""
    race = context.recorded.get(shown or "") or context.studio.visitors.find_race(visitor, shown or "")
    form = race and restore_form(context, race)
    return copy_link(context, visitor, PageFields.from_values(form.values) if form else fields, shown, owner)


def open_link(context: PageContext, visitor: str, query: Mapping[str, str]) -> FormUpdate:
    """Fill in the form from the query of the page's address, if there is one. Nothing runs."""
    start = context.start.values()
    hidden = hidden_controls.find_faults(query.get(hidden_controls.NAME, ""))
    query = {name: text for name, text in query.items() if name != hidden_controls.NAME}
    if "family" in query:
        query["family"] = catalog.current_name(query["family"])
    found, faults = link.from_query(query, start, context.options)
    faults += hidden
    if not found and not faults:
        return FormUpdate()
    context.studio.visitors.state(visitor).has_chosen_family = True
    models = {name: value for name, value in found.items() if name in link.FAMILY}
    settings = {name: value for name, value in found.items() if name not in link.FAMILY}
    family = FamilyFields.from_values({**start, "copies": None, **models})
    try:
        family = family.filled_in()
        context.studio.deployment.check_family(family.to_choice(), context.studio.families.homes)
    except ValueError as error:
        family, models = context.start.family, {}
        faults.append(f"The models in the link were ignored. {error}")
    kept, more_faults = link.check_values(settings, family.to_choice().defaults)
    is_cut = link.INCOMPLETE in faults
    sentences = [FILLED_IN + PRESS] if (models or kept) and not is_cut else []
    status = StatusLine(" ".join((*sentences, *faults, *more_faults)), "refused" if is_cut else "")
    update = fill_form(context, family, kept, status)
    if refused := why_refused(context, update.values):
        said = status.text.replace(PRESS, "")
        update = replace(update, status=StatusLine(f"{said} {refused}", status.state))
    if context.landing and context.landing.traces[0].header.text == update.values["prompt"]:
        return update
    return replace(update, stage=StageView("", stage.ask(NOT_RACED)))


def _to_query(context: PageContext, fields: PageFields) -> tuple[str, str]:
    """The form as the query of a link, and a sentence on what it leaves out. The family is named wherever the page may
    prefer another one by the time the link is opened."""
    usual = context.start
    with suppress(ValueError):  # a custom family that is not filled in yet
        own = replace(fields.family, copies=None).filled_in()
        usual = start_with(usual, fields.family.to_choice())
        usual = replace(usual, family=replace(usual.family, copies=own.copies))
    values = usual.values()
    if context.studio.preferred != context.studio.home:
        del values["family"]
    return link.to_query(fields.values(), values)


def _is_form_of(race: FinishedRace, fields: PageFields) -> bool:
    """Whether the form would run this race again, as it stands."""
    header = race.traces[0].header
    copies = {level.name for level in header.levels if level.name in COPIES}
    try:
        choice, request = fields.to_request()
        is_same = to_fields(request) == to_fields(Request.from_traces(race.traces))
    except ValueError:
        return False
    return is_same and choice.spec.name == header.family and set(choice.spec.copies) == copies
