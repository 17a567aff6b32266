"""Events of the fields that choose the models: a family brings copies, drafts, presets and examples along."""

from __future__ import annotations

from dataclasses import replace

from csd.models.names import drafts_fault, target_fault
from csd.models.spec import FamilySpec, custom
from csd.web.context import PageContext
from csd.web.examples import example_kinds
from csd.web.fields import CUSTOM, FamilyFields
from csd.web.loads import FamilyChoice
from csd.web.preset_choice import preset_choices
from csd.web.updates import FormUpdate, StatusLine

USUAL_COPY = "self-8bit"  # drafts for a target that comes without drafts
NAME_TARGET = (
    f"Name a big model under Settings. Without small models, {USUAL_COPY}, a quantised copy of it, guesses for it."
)
NAMED_DRAFTS = f"The small models that you name take the place of {USUAL_COPY}. Tick it to have both."
NO_DRAFTS = f"Nothing guesses for this big model. Tick {USUAL_COPY}, a copy of it, or name a small model."


def choose_family(context: PageContext, visitor: str, fields: FamilyFields) -> FormUpdate:
    """What a family that the visitor has chosen brings along: copies, drafts, presets and examples."""
    state, spec = context.studio.visitors.state(visitor), spec_of(replace(fields, copies=None))
    state.has_chosen_family, state.was_given_copy = True, not spec.drafts
    loaded = context.studio.families.as_loaded(FamilyChoice(spec, fields.device, fields.dtype))
    copies = list(loaded.spec.copies) if spec.drafts else [USUAL_COPY]
    update = change_drafts(replace(fields, copies=copies))
    said = StatusLine(NAME_TARGET) if not spec.drafts else update.status
    return replace(update, values={**update.values, "copies": copies}, kinds=example_kinds(spec), status=said)


def change_drafts(fields: FamilyFields) -> FormUpdate:
    """The family's drafts and its presets, the first of which is filled in."""
    try:
        choice = fields.to_choice()
    except ValueError:  # a custom family that is not filled in yet
        return FormUpdate()
    defaults = choice.defaults
    said = None if defaults.drafts else StatusLine(NO_DRAFTS)
    return FormUpdate(defaults.preset.fields(), defaults.drafts, preset_choices(choice), status=said)


def choose_copies(context: PageContext, visitor: str, fields: FamilyFields) -> FormUpdate:
    """The same after the visitor has ticked or unticked a copy."""
    context.studio.visitors.state(visitor).was_given_copy = False
    return change_drafts(fields)


def name_drafts(context: PageContext, visitor: str, fields: FamilyFields) -> FormUpdate:
    """The same after the names of custom drafts were edited; a ready family is left as the visitor has set it up.

    A copy that was ticked for want of drafts is unticked.
    """
    state = context.studio.visitors.state(visitor)
    if fields.family != CUSTOM:
        return FormUpdate()
    if not state.was_given_copy or not (fields.others or "").strip():
        return change_drafts(fields)
    state.was_given_copy = False
    update = change_drafts(replace(fields, copies=[]))
    return replace(update, values={**update.values, "copies": []}, status=StatusLine(NAMED_DRAFTS))


def check_names(context: PageContext, fields: FamilyFields) -> tuple[str, str]:
    """What is wrong with the names of the target and of the drafts, each in a sentence or empty.

    Where visitors may name no models, nothing is looked for on this machine."""
    if CUSTOM not in context.options["family"]:
        return "", ""
    return target_fault(fields.target or ""), drafts_fault(fields.others or "")


def spec_of(fields: FamilyFields) -> FamilySpec:
    try:
        return fields.to_choice().spec
    except ValueError:  # a custom family that is not filled in yet
        return custom(CUSTOM)
