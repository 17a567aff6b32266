"""The settings that most visitors leave alone, in a drawer over the right side of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.models import catalog
from csd.models.memory import LANES
from csd.request.form import LEAST_LANES
from csd.roles import named_with_roles
from csd.stage.glossary import term_class
from csd.web import views
from csd.web.context import PageContext
from csd.web.fields import CUSTOM
from csd.web.preset_choice import preset_choices
from csd.web.preset_names import labelled
from csd.web.section_words import GUESSES, MODELS, PLAN, SAMPLING, section_words
from csd.web.staircase import build_staircase

RULES = {  # in words, by the name that links and the API use
    "coupled": "coupled: every lane writes the same text",
    "rejection": "rejection: as in the paper, a text per lane",
}
ABOUT_PLAN = (
    "<p>A plan says who guesses how far. Each row is a model that checks, and each bar a guesser that it asks. Drag "
    "the ends. The method “cascade” follows the plan; the buttons below leave parts of it out.</p>"
)
TITLES = {
    SAMPLING: "Sampling",
    GUESSES: "Speculative decoding and prompt lookup",
    PLAN: "The cascade’s plan",
    MODELS: "Model files and precision",
}
RACE_PARTS = "Race each cascade of the plan alone, and both together"


@dataclass(frozen=True)
class SettingsDrawer:
    """`fields` are the components by field name; `picture` shows the K among them, `parts` races its parts, `about`
    describes the models, `load` loads the family that is named, and `race` is the form's Race within reach.
    `reset` undoes what is set here, and `copy_link` copies a link to it, or to the race on the stage."""

    fields: Mapping[str, Component]
    family: gr.Dropdown
    preset: gr.Dropdown
    about: gr.HTML
    picture: gr.HTML
    parts: gr.Button
    target: gr.Textbox
    others: gr.Textbox
    copies: gr.CheckboxGroup
    race: gr.Button
    copy_link: gr.Button
    reset: gr.Button
    close: gr.Button
    load: gr.Button


def build_settings_drawer(context: PageContext) -> SettingsDrawer:
    """Hidden until assets/page/panels.js opens it."""
    start = context.start.values()
    with gr.Column(elem_id="advanced"):
        with gr.Row(elem_id="advanced-head"):
            gr.HTML("<h2>Settings</h2>", min_width=100)
            reset = gr.Button("Reset", size="sm", min_width=80, scale=0, elem_id="advanced-reset")
            copy_link = gr.Button("Copy as link", size="sm", min_width=80, scale=0, elem_id="copy")
            close = gr.Button("Close", size="sm", min_width=80, scale=0, elem_id="advanced-close")
            race = gr.Button("Race", variant="primary", size="sm", min_width=80, scale=0, elem_id="advanced-race")
        family, preset, max_new, about = _build_first_fields(context, start)
        lanes = gr.CheckboxGroup(
            list(context.options["lanes"]),
            value=start["lanes"],
            label="Methods to race",
            info=f"Choose {LEAST_LANES} to {LANES}. They race in this order.",
            elem_id="lanes",
        )
        words = section_words(context.start)
        with _section(SAMPLING, words):
            sampling = _build_sampling_fields(context, start)
        with _section(GUESSES, words):
            methods = _build_method_fields(context, start)
        with _section(PLAN, words):
            K, picture, parts = _build_plan(context, start)
            lenience = _build_lenience(start)
        with _section(MODELS, words):
            models = _build_model_fields(context, start)
            load = gr.Button("Load this family", size="sm", min_width=140)
            gr.Markdown(views.families_table(context.options["family"]), elem_id="families")
    first = {"family": family, "max_new": max_new, "lanes": lanes}
    found = {**first, **sampling, **methods, "K": K, "lenience": lenience, **models}
    target, others, copies = models["target"], models["others"], models["copies"]
    return SettingsDrawer(
        found, family, preset, about, picture, parts, target, others, copies, race, copy_link, reset, close, load
    )


@contextmanager
def _section(name: str, words: Mapping[str, str]) -> Iterator[None]:
    """Settings under a heading that says what they are; assets/page/sections.js opens and closes it."""
    with gr.Column(elem_id=f"{name}-section", elem_classes="section"):
        heading = f"<b>{TITLES[name]}</b><span>{escape(words[name])}</span>"
        button = f'<button type="button" aria-expanded="false" aria-controls="{name}-fields">{heading}</button>'
        gr.HTML(f"<h3>{button}</h3>", elem_classes="section-heading")
        with gr.Column(elem_id=f"{name}-fields", elem_classes="section-fields"):
            yield


def _build_first_fields(
    context: PageContext, start: Mapping[str, Any]
) -> tuple[gr.Dropdown, gr.Dropdown, gr.Number, gr.HTML]:
    """What most visitors change: the models, with a sentence on them, the preset, and the length of the text.

    The preset is with custom values, as the draft below."""
    home = context.studio.home
    presets = preset_choices(home, start)
    family = gr.Dropdown(
        [(catalog.title(name), name) for name in context.options["family"]],
        value=start["family"],
        label="Models",
        min_width=160,
        elem_id="family",
    )
    told = views.about_family(home, context.studio.families.status(home))
    about = gr.HTML(views.about_html(told, home.defaults.context), elem_id="about")
    with gr.Row():
        preset = gr.Dropdown(
            labelled(presets.options),
            value=presets.selected,
            label="Preset",
            scale=2,
            min_width=160,
            elem_id="preset",
            allow_custom_value=True,
        )
        max_new = _number("max_new", start, "New tokens", scale=1, min_width=100)
    return family, preset, max_new, about


def _build_method_fields(context: PageContext, start: Mapping[str, Any]) -> dict[str, Component]:
    # With custom values, because Gradio would reject a race that was started just before the choices changed.
    draft = gr.Dropdown(
        named_with_roles(context.studio.home.defaults.drafts),
        value=start["draft"],
        label="Who guesses in speculative decoding",
        elem_id="draft",
        elem_classes=term_class("draft"),
        allow_custom_value=True,
    )
    with gr.Row():
        k = _number(
            "k",
            start,
            "Its guesses per step (k)",
            "Tokens that it guesses before each check.",
            elem_classes=term_class("k"),
        )
        lookup = _number(
            "lookup",
            start,
            "The copier’s guesses per step",
            "In prompt lookup, where the copier guesses alone.",
            elem_classes=term_class("prompt lookup"),
        )
    return {"draft": draft, "k": k, "lookup": lookup}


def _build_lenience(start: Mapping[str, Any]) -> gr.Number:
    return _number(
        "lenience",
        start,
        "How readily drafts accept each other’s guesses (lenience)",
        "1 = as strict as the big model. Above 1, a small model also keeps guesses from below that it finds almost as "
        "likely as its own. Only the big model's check decides the text: this changes the speed, not the words.",
        step=0.5,
        elem_classes=term_class("lenience"),
    )


def _build_plan(context: PageContext, start: Mapping[str, Any]) -> tuple[gr.Textbox, gr.HTML, gr.Button]:
    """The plan in numbers, K, the picture above it, and a button that races its parts."""
    gr.HTML(ABOUT_PLAN, elem_id="about-plan")
    K = gr.Textbox(
        start["K"],
        label="The plan in numbers: the paper’s K",
        info="A row for each model that checks, the big model first. A number says up to which token its guesser "
        "writes; the last one of a row is the copier’s.",
        elem_id="K",
        elem_classes=term_class("K"),
        render=False,
    )
    picture = build_staircase(K, context.studio.home.defaults.drafts, "K-picture")
    K.render()
    parts = gr.Button(RACE_PARTS, size="sm", min_width=140, elem_id="race-parts")
    return K, picture, parts


def _build_sampling_fields(context: PageContext, start: Mapping[str, Any]) -> dict[str, Component]:
    with gr.Row():
        said = "0: always the likeliest token."
        temperature = _number(
            "temperature", start, "Temperature", said, step=0.1, elem_classes=term_class("temperature")
        )
        seed = _number("seed", start, "Seed", "For temperatures above 0.")
    rule = gr.Dropdown(
        [(RULES.get(name, name), name) for name in context.options["rule"]],
        value=start["rule"],
        label="Acceptance rule when sampling",
        info="At a temperature above 0. Coupled: all lanes share their random numbers. Rejection: each lane draws its "
        "own. Under both, every text follows the big model's distribution exactly.",
        elem_id="rule",
        elem_classes=term_class("acceptance rule"),
    )
    with gr.Row():
        top_k = _number("top_k", start, "Top-k", "Sample from the k likeliest tokens. 0: from all.")
        top_p = _number(
            "top_p",
            start,
            "Top-p",
            "Sample from the likeliest tokens that hold this share of the probability. 1: from all.",
            step=0.05,
        )
    always = gr.Checkbox(start["always"], label="Write on past the end of the text", container=False, elem_id="always")
    return {
        "temperature": temperature,
        "seed": seed,
        "rule": rule,
        "top_k": top_k,
        "top_p": top_p,
        "always": always,
    }


def _build_model_fields(context: PageContext, start: Mapping[str, Any]) -> dict[str, Any]:
    options = context.options
    is_free = CUSTOM in options["family"]  # otherwise only the families of an allow-list run, as they are
    with gr.Row(visible=is_free):
        dtype = gr.Dropdown(
            list(options["dtype"]),
            value=start["dtype"],
            label="Precision of the weights",
            min_width=140,
            elem_id="dtype",
        )
        device = gr.Dropdown(
            list(options["device"]), value=start["device"], label="Device", min_width=100, elem_id="device"
        )
    target = gr.Textbox(
        start["target"],
        label="Big model of a custom family: Hub ID, folder or GGUF file",
        placeholder="owner/name, owner/name@revision or a path",
        max_lines=1,
        elem_id="target",
        visible=is_free,
    )
    others = gr.Textbox(
        start["others"],
        label="Its small models, strongest first, comma-separated",
        placeholder="owner/name, owner/name@revision or a path",
        max_lines=1,
        elem_id="others",
        visible=is_free,
    )
    copies = gr.CheckboxGroup(
        list(options["copies"]),
        value=start["copies"],
        label="Quantised copies of the big model that guess for it",
        info=views.COPIES,
        interactive=is_free,
        elem_id="copies",
    )
    return {"dtype": dtype, "device": device, "target": target, "others": others, "copies": copies}


def _number(
    name: str, start: Mapping[str, Any], label: str, info: str | None = None, min_width: int = 120, **more: Any
) -> gr.Number:
    """A field for a number; its name on the page is that of the form."""
    return gr.Number(start[name], label=label, info=info, min_width=min_width, elem_id=name.replace("_", "-"), **more)
