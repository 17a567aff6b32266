"""What a visitor would lose if the form were filled in anew."""

from __future__ import annotations

from collections.abc import Sequence

from csd.decoding.k_matrix import format_K, parse_K
from csd.request.form import to_fields
from csd.request.request import Request
from csd.web.context import PageContext
from csd.web.examples import is_example
from csd.web.fields import CUSTOM, PageFields
from csd.web.races import FinishedRace


def has_typed(context: PageContext, visitor: str, fields: PageFields) -> bool:
    """Whether the form holds a prompt, a K or names of models that no example, preset or race would bring back."""
    family = fields.family
    if family.family == CUSTOM and (family.target or family.others):
        return True
    has_own_K = fields.has_edited_K and _is_own_K(fields.form.K, _races(context, visitor))
    raced = {race.prompt for race in context.studio.visitors.find(visitor).races}
    return has_own_K or (is_own_prompt(context, fields.form.prompt) and fields.form.prompt not in raced)


def is_own_prompt(context: PageContext, prompt: str | None) -> bool:
    """Whether a prompt is the visitor's: neither empty, nor an example's, nor that of a recorded race."""
    text = prompt or ""
    recorded = {race.traces[0].header.text for race in context.recorded.values()}
    return bool(text.strip()) and text not in recorded and not is_example(text)


def _races(context: PageContext, visitor: str) -> tuple[FinishedRace, ...]:
    return (*context.recorded.values(), *context.studio.visitors.races(visitor))


def _is_own_K(K: object, races: Sequence[FinishedRace]) -> bool:
    try:
        written = format_K(parse_K(str(K)))
    except (ValueError, TypeError):
        return True
    return all(written != _K_of(race) for race in races)


def _K_of(race: FinishedRace) -> str:
    """The K that a race was run with, as text; empty if it had none that the form can show."""
    try:
        return to_fields(Request.from_traces(race.traces)).get("K", "")
    except ValueError:
        return ""
