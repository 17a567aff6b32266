"""Events of the examples: the next one of a kind, and back to what the visitor typed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from csd.request.prompts import Prompt
from csd.web import examples
from csd.web.context import PageContext
from csd.web.examples import example_kinds, next_example
from csd.web.family_choice import spec_of
from csd.web.fields import FamilyFields
from csd.web.typed import is_own_prompt
from csd.web.updates import FormUpdate, StatusLine
from csd.web.usual_lanes import show_usual_lanes, was_to_lose, with_usual_lanes

OWN_PROMPT = "My prompt"  # the chip that brings back what the visitor typed
NO_EXAMPLE = "These models have no example of that kind. Choose another one."


def show_example(
    context: PageContext,
    fields: FamilyFields,
    number: int,
    prompt: str | None,
    by_hand: Collection[str] = (),
    max_new: float | None = None,
    temperature: float | None = None,
    k: float | None = None,
    K: str | None = None,
) -> FormUpdate:
    """The next example of a kind, given by its number among the kinds of the family.

    Fields named in `by_hand`, which the visitor has set, stay. The status line tells a length that differs from
    `max_new`, the form's. A prompt of the visitor's own moves to a chip. The form's `temperature` tells whether the
    last race was the one to lose: its lanes are then put back. An example may have a draft length `k` and a plan `K` of
    its own; the next one brings back the usual ones.
    """
    spec = spec_of(fields)
    kinds = example_kinds(spec)
    if number >= len(kinds):
        return FormUpdate(status=StatusLine(NO_EXAMPLE))
    example = next_example(spec, kinds[number], prompt)
    found = example.prompt
    values = {name: getattr(found, name) for name in examples.FIELDS if name not in by_hand}
    length = values.get("max_new", max_new)
    longer = f" {length} tokens instead of {max_new:g}." if max_new and length != max_new else ""
    said = StatusLine(f"{example.number} of {example.count}: {found.title}.{longer}")  # short: it has one line
    # Kept for the session, so no longer than one that races.
    is_kept = is_own_prompt(context, prompt) and len(prompt or "") <= context.studio.deployment.max_prompt
    own_prompt = prompt if is_kept else None
    update = FormUpdate(values, status=said, own_prompt=own_prompt)
    if was_to_lose(temperature, by_hand):
        update = with_usual_lanes(context, fields, update)
    return replace(update, values={**update.values, **settings_for(fields, found, {"k": k, "K": K}, by_hand)})


def show_own_prompt(
    context: PageContext, fields: FamilyFields, typed: str, by_hand: Collection[str], temperature: float | None
) -> FormUpdate:
    """The visitor's own prompt, which an example had replaced. The race to lose is over, as with an example."""
    update = FormUpdate({"prompt": typed})
    return show_usual_lanes(context, fields, update) if was_to_lose(temperature, by_hand) else update


def settings_for(
    fields: FamilyFields, example: Prompt | None, given: Mapping[str, Any], by_hand: Collection[str] = ()
) -> dict[str, Any]:
    try:
        settings = examples.settings_for(fields.to_choice(), example, given)
    except ValueError:  # a custom family that is not filled in yet
        return {}
    return {name: value for name, value in settings.items() if name not in by_hand}
