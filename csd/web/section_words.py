"""What the closed sections of the settings hold, in a few words each: the headings say it."""

from __future__ import annotations

from typing import Any

from csd.decoding.k_matrix import format_K, parse_K
from csd.models.spec import COPIES
from csd.roles import BIG_MODEL, COPIER, roles_of_family
from csd.web.examples import find_example, is_brought
from csd.web.fields import CUSTOM, PageFields
from csd.web.loads import FamilyChoice
from csd.web.preset_names import plan_in_words

SAMPLING, GUESSES, PLAN, MODELS = "sampling", "guesses", "plan", "models"
IN_SECTIONS = (  # the fields that the words follow
    *("temperature", "seed", "top_k", "top_p", "always", "draft", "k", "lookup", "K"),
    *("family", "target", "dtype", "device", "copies"),
)
LIKELIEST = "always the likeliest token"
THIS_TEXT, OTHER_TEXT, OWN, FAULTY = "tuned to this text", "tuned to another text", "your own", "it has a mistake"
NO_TARGET = f"name a {BIG_MODEL}"


def section_words(fields: PageFields) -> dict[str, str]:
    """By the name of the section."""
    try:
        choice = fields.family.to_choice()
    except ValueError:  # a custom family that is not filled in yet
        return {SAMPLING: _sampling(fields), GUESSES: "", PLAN: "", MODELS: NO_TARGET}
    return {
        SAMPLING: _sampling(fields),
        GUESSES: _guesses(fields, choice),
        PLAN: plan_words(choice, fields.form.K, fields.form.prompt),
        MODELS: _models(fields),
    }


def plan_words(choice: FamilyChoice, K: Any, prompt: str | None) -> str:
    """Where a plan comes from: this text, another one, a preset, or the visitor."""
    try:
        written = format_K(parse_K(str(K)))
    except (ValueError, TypeError):
        return FAULTY
    example = find_example(choice.spec, prompt or "")
    if example and example.settings().get("K") == written:
        return THIS_TEXT
    preset = next((one for one in choice.defaults.presets if one.fields()["K"] == written), None)
    if preset:
        return plan_in_words(preset.name)
    return OTHER_TEXT if is_brought(choice.spec, "K", written) else OWN


def _sampling(fields: PageFields) -> str:
    form = fields.form
    if form.temperature == 0:
        said = [LIKELIEST]
    else:
        said = [f"temperature {_number(form.temperature)}", f"seed {_number(form.seed)}"]
        said += [f"top-k {_number(form.top_k)}"] if form.top_k != 0 else []
        said += [f"top-p {_number(form.top_p)}"] if form.top_p != 1 else []
    return ", ".join([*said, *(["past the end of the text"] if form.always else [])])


def _guesses(fields: PageFields, choice: FamilyChoice) -> str:
    """Who guesses how many tokens in speculative decoding, and in prompt lookup."""
    drafts, form = choice.defaults.drafts, fields.form
    lookup = _number(form.lookup)
    if not drafts:
        return f"the {COPIER} guesses {lookup}"
    draft = roles_of_family(drafts).get(form.draft, form.draft)
    return f"the {draft} guesses {_number(form.k)}, the {COPIER} {lookup}"


def _models(fields: PageFields) -> str:
    family = fields.family
    chosen = ((family.dtype, "{}"), (family.device, "on {}"))
    named = [said.format(value) for value, said in chosen if value != "auto"]
    copies = [f"{COPIES[copy]}-bit copy" for copy in family.copies or () if copy in COPIES]
    own = ["your own"] if family.family == CUSTOM else []
    return ", ".join([*own, *named, *copies]) or "chosen automatically"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else "?"
