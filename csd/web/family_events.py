"""Events that load a family, and tell what it is doing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from csd.web.context import PageContext
from csd.web.examples import find_fault
from csd.web.fields import FamilyFields
from csd.web.loads import FamilyStatus
from csd.web.updates import FamilyLines, StatusLine
from csd.web.views import about_family, about_preferred

LOOK_AGAIN = 0.25  # seconds between two looks at a family that loads


def family_lines(context: PageContext, fields: FamilyFields) -> FamilyLines:
    try:
        choice = fields.to_choice()
    except ValueError as error:
        return FamilyLines(FamilyStatus("failed", str(error)), str(error))
    families, preferred = context.studio.families, context.studio.preferred
    status = families.status(choice)
    faults = (*context.faults, find_fault(choice.spec), *choice.defaults.faults)
    about = " ".join((about_family(choice, status), *filter(None, faults)))
    if choice == context.studio.home != preferred:
        about = f"{about} {about_preferred(preferred, families.status(preferred))}"
    return FamilyLines(status, about, choice.defaults.context)


def number_of_first(context: PageContext, visitor: str) -> int:
    """Of the family that the page opens with. Nobody is remembered for opening it."""
    return context.studio.visitors.find(visitor).families


def number_of_next(context: PageContext, visitor: str) -> int:
    """Of the family that the visitor has in the form from now on."""
    state = context.studio.visitors.state(visitor)
    state.families += 1
    return state.families


async def follow_family(
    context: PageContext, visitor: str, fields: FamilyFields, number: int
) -> AsyncIterator[FamilyLines]:
    """What the chosen family is doing, until it is ready and compiled or has failed, or the visitor has another one,
    by `number`. Loads nothing itself."""
    context.studio.families.page_seen.set()
    while context.studio.visitors.find(visitor).families <= number:
        lines = family_lines(context, fields)
        yield lines
        if lines.status.is_settled or (lines.status.state == "waiting" and not _is_home(context, fields)):
            return
        await asyncio.sleep(LOOK_AGAIN)


def _is_home(context: PageContext, fields: FamilyFields) -> bool:
    """Whether this is the family that loads with the page."""
    return fields.to_choice() == context.studio.home


def load_family(context: PageContext, visitor: str, fields: FamilyFields) -> StatusLine | None:
    """Says why, where a family cannot be loaded now."""
    try:
        choice = fields.to_choice()
    except ValueError:  # `follow_family` says why
        return None
    load = context.studio.families.ensure_loading(choice, visitor)
    refused = load.status.state == "failed"
    return StatusLine(load.status.sentence, "refused") if refused else None
