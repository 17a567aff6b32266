"""Events that fill in the form, or read it: links, presets, examples, another family, another K."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from csd.decoding.k_matrix import format_K
from csd.decoding.methods import AdaptiveCascade, Cascade, find_method
from csd.models import catalog
from csd.record.trace import Trace
from csd.request import link
from csd.request.defaults import Defaults
from csd.request.form import to_fields
from csd.request.request import Request
from csd.web.context import PageContext
from csd.web.examples import next_example
from csd.web.fields import CUSTOM, FamilyFields, PageFields
from csd.web.updates import Choices, FormUpdate, StatusLine


def show_example(kind: str, prompt: str | None) -> FormUpdate:
    """The next example of a kind."""
    example = next_example(kind, prompt)
    found = example.prompt
    values = {name: getattr(found, name) for name in ("prompt", "temperature", "seed", "max_new")}
    counted = f"Example {example.number} of {example.count}: {found.title}."
    return FormUpdate(values, status=StatusLine(f"{counted} Press the button again for the next one."))


def change_family(fields: FamilyFields) -> FormUpdate:
    """The presets of the chosen family, the first of which is filled in, and its drafts."""
    try:
        defaults = fields.to_choice().defaults
    except ValueError:  # a custom family that is not filled in yet
        return FormUpdate()
    return FormUpdate(defaults.preset.fields(), defaults.drafts, preset_choices(defaults))


def change_drafts(fields: FamilyFields) -> FormUpdate:
    """The same after the names of custom drafts were edited; a ready family is left as the visitor has set it up."""
    return change_family(fields) if fields.family == CUSTOM else FormUpdate()


def apply_preset(name: str, fields: FamilyFields) -> FormUpdate:
    try:
        defaults = fields.to_choice().defaults
    except ValueError:
        return FormUpdate()
    return FormUpdate(defaults.find_preset(name).fields())


def edit_K(preset: str, fields: PageFields) -> FormUpdate:
    """Choose the cascade, which follows K, instead of the adaptive one, which does not, once K has been changed."""
    try:
        presets = fields.family.to_choice().defaults.presets
    except ValueError:
        return FormUpdate()
    K, lanes = fields.form.K, fields.form.lanes
    unchanged = any(one.name == preset and format_K(one.K) == K for one in presets)
    if unchanged or any("K" in find_method(lane).uses for lane in lanes):
        return FormUpdate()
    return FormUpdate({"lanes": [Cascade.name if lane == AdaptiveCascade.name else lane for lane in lanes]})


def preset_choices(defaults: Defaults, values: Mapping[str, Any] | None = None) -> Choices:
    """The presets of a family; the one that agrees with the form's values is selected, otherwise the first."""
    agreeing = (one.name for one in defaults.presets if values and one.fields().items() <= values.items())
    names = tuple(preset.name for preset in defaults.presets)
    return Choices(names, next(agreeing, names[0]))


def copy_link(context: PageContext, fields: PageFields) -> tuple[str, str]:
    """The form as the query of a link, and a sentence on what it leaves out."""
    try:
        usual = _with_preset(context.start, fields.family.to_choice().defaults)
    except ValueError:
        usual = context.start
    return link.to_query(fields.values(), usual.values())


def open_link(context: PageContext, query: Mapping[str, str]) -> FormUpdate:
    """Fill in the form from the query of the page's address. Nothing runs."""
    start = context.start.values()
    if "family" in query:
        query = {**query, "family": catalog.current_name(query["family"])}
    found, faults = link.from_query(query, start, context.options)
    if not found and not faults:
        return FormUpdate()
    models = {name: value for name, value in found.items() if name in link.FAMILY}
    settings = {name: value for name, value in found.items() if name not in link.FAMILY}
    family = FamilyFields.from_values({**start, **models})
    try:
        family.to_choice()
    except ValueError as error:
        family, models = context.start.family, {}
        faults.append(f"The models in the link were ignored. {error}")
    kept, more_faults = link.check_values(settings, family.to_choice().defaults)
    sentences = ["The link has filled in the form. Press Race."] if models or kept else []
    status = StatusLine(" ".join((*sentences, *faults, *more_faults)))
    return _fill(context, family, kept, status)


def restore_form(context: PageContext, traces: Sequence[Trace]) -> FormUpdate | None:
    """The settings of a race from a file, to run it again; None if its family is not a ready one, or if the form has no
    fields for its settings."""
    header = traces[0].header
    try:
        name = catalog.find(header.family).name
        settings = to_fields(Request.from_traces(traces))
    except ValueError:
        return None
    family = replace(context.start.family, family=name)
    defaults = family.to_choice().defaults
    kept, faults = link.check_values(settings, defaults)
    if faults or settings["rule"] not in context.options["rule"]:
        return None
    return _fill(context, family, kept)


def _fill(
    context: PageContext, family: FamilyFields, settings: Mapping[str, Any], status: StatusLine | None = None
) -> FormUpdate:
    """The whole form: what it starts with for a family, with these settings."""
    defaults = family.to_choice().defaults
    start = replace(_with_preset(context.start, defaults), family=family)
    values = {**start.values(), **settings}
    return FormUpdate(values, defaults.drafts, preset_choices(defaults, values), status)


def _with_preset(start: PageFields, defaults: Defaults) -> PageFields:
    """The form as it starts with a family."""
    return replace(start, form=replace(start.form, **defaults.preset.fields()))
