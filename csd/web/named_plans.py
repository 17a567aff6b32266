"""Plans of a cascade by name: those of a family's presets, the halves of the first of them, and the visitor's own."""

from __future__ import annotations

from dataclasses import dataclass

from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import Matrix, check_K, format_K, parse_K
from csd.decoding.methods import Cascade, HorizontalCascade, Knobs, VerticalCascade
from csd.request.defaults import Defaults
from csd.theory.parts import whole_halves

OWN = "my own"
OWN_PHRASE = "your own plan"
OF_TEXT, OF_TEXT_PHRASE = "tuned to this text", "the plan tuned to this text"
EMPTY = "A plan is empty. Drag the ends of its bars, or choose a plan by name."
WORDS = {
    "tuned K": ("tuned to the models", "the plan tuned to the models"),
    "short drafts": ("short guesses", "the plan of short guesses"),
}


@dataclass(frozen=True)
class NamedPlan:
    """A plan under the name on its button; `phrase` is what sentences and figures call it."""

    name: str
    phrase: str
    K: Matrix


@dataclass(frozen=True)
class PlanChoice:
    """What the visitor chose: a name, and the K of the field for their own plan."""

    name: str
    K: str


def named_plans(defaults: Defaults, of_text: Matrix | None = None) -> tuple[NamedPlan, ...]:
    """First the plan tuned to the prompt's text, if there is one. Without drafts there is nothing to plan, and a half
    that is the whole plan is left out."""
    drafts, presets = defaults.drafts, tuple(one for one in defaults.presets if Cascade.name in one.lanes)
    if not drafts or not presets:
        return ()
    plans = [NamedPlan(*_called(preset.name), preset.K) for preset in presets]
    first, whole = presets[0].K, whole_halves(drafts, presets[0].K)
    for name, half in (("vertical only", VerticalCascade), ("horizontal only", HorizontalCascade)):
        if half.name not in whole:
            K = half.from_knobs(Knobs(drafts, K=first)).to_knobs()["K"]
            plans.append(NamedPlan(name, name, K))
    if of_text is not None and of_text not in [plan.K for plan in plans]:
        plans.insert(0, NamedPlan(OF_TEXT, OF_TEXT_PHRASE, of_text))
    return tuple(plans)


def find_plan(choice: PlanChoice, defaults: Defaults, of_text: Matrix | None = None) -> NamedPlan:
    """The plan that was chosen. Raises Refusal with a sentence."""
    found = next((plan for plan in named_plans(defaults, of_text) if plan.name == choice.name), None)
    if found:
        return found
    if not choice.K or not choice.K.strip():
        raise Refusal(EMPTY)
    return NamedPlan(OWN, OWN_PHRASE, check_K(parse_K(choice.K), len(defaults.drafts)))


def plan_after(choice: PlanChoice, defaults: Defaults, number: int, of_text: Matrix | None = None) -> PlanChoice:
    """The choice for a family: a name that it does not have, or an own plan for other drafts, gives way to its plan of
    this number. An own plan that cannot be read stays to be corrected."""
    plans = named_plans(defaults, of_text)
    if not plans or (choice.name == OWN and _is_for(choice.K, len(defaults.drafts))):
        return choice
    found = next((plan for plan in plans if plan.name == choice.name), plans[min(number, len(plans) - 1)])
    return PlanChoice(found.name, format_K(found.K))


def _is_for(K: str, drafts: int) -> bool:
    try:
        return len(parse_K(K)) == drafts + 1
    except Refusal:
        return True


def _called(preset: str) -> tuple[str, str]:
    """The name and the phrase of a preset's plan."""
    if preset in WORDS:
        return WORDS[preset]
    costs = preset.removeprefix("paper's K").removeprefix(", ")
    return (f"paper's, {costs}", f"the paper's plan, {costs}") if costs else ("paper's", "the paper's plan")
