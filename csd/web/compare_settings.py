"""What Compare takes over from the settings of the Race tab, where that is not the usual."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from csd.decoding.k_matrix import parse_K
from csd.decoding.methods import find_method
from csd.request import link
from csd.request.defaults import Defaults
from csd.request.form import in_order
from csd.roles import roles_of_family
from csd.sentences import listed
from csd.web.context import PageContext
from csd.web.examples import is_brought
from csd.web.fields import PageFields
from csd.web.form_events import start_with
from csd.web.named_plans import OWN_PHRASE, named_plans
from csd.web.usual_lanes import lanes_of_own_prompts

SAID = "As chosen under Settings, Compare will race {}{}."
KNOBS = {"k": "{:g} guesses per step", "lookup": "{:g} guesses of the copier", "lenience": "lenience {:g}"}


def from_settings(context: PageContext, fields: PageFields) -> str:
    """A sentence on the lanes that a comparison of every kind of prompt will race; empty where they are the usual."""
    try:
        choice = fields.family.to_choice()
        lanes = in_order(fields.lanes)
        usual = (start_with(context.start, choice).form.lanes, lanes_of_own_prompts(context, choice))
        changed = list(_changed(context, fields, lanes))
    except ValueError:  # nothing can run then; the comparison says why
        return ""
    if not changed and any(link.same(lanes, in_order(one)) for one in usual):
        return ""
    return SAID.format(listed(lanes), f", with {listed(changed)}" if changed else "")


def _changed(context: PageContext, fields: PageFields, lanes: list[str]) -> Iterator[str]:
    """What these lanes use and neither the family nor an example brings, in words."""
    choice = fields.family.to_choice()
    given, start, preset = fields.values(), start_with(context.start, choice).values(), choice.defaults.preset.fields()
    used = {name for lane in lanes for name in find_method(lane).uses}
    for name in (name for name in preset if name in used):
        value = given[name]
        is_usual = link.same(value, start[name]) or link.same(value, preset[name])
        if not is_usual and not is_brought(choice.spec, name, value):
            yield _in_words(name, value, choice.defaults)


def _in_words(name: str, value: Any, defaults: Defaults) -> str:
    if name == "K":
        return _plan_phrase(value, defaults)
    if name == "draft":
        return f"the {roles_of_family(defaults.drafts).get(value, value)} as the guesser"
    return KNOBS[name].format(value)


def _plan_phrase(K: Any, defaults: Defaults) -> str:
    with suppress(ValueError):
        asked = parse_K(str(K))
        return next((plan.phrase for plan in named_plans(defaults) if asked == plan.K), OWN_PHRASE)
    return OWN_PHRASE
