"""The settings that most visitors leave alone, in a drawer over the right side of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.models import catalog
from csd.roles import named_with_roles
from csd.stage.glossary import term_class
from csd.web import views
from csd.web.context import PageContext
from csd.web.fields import CUSTOM
from csd.web.preset_choice import preset_choices
from csd.web.preset_names import labelled
from csd.web.staircase import build_staircase

RULES = {  # in words, by the name that links and the API use
    "coupled": "coupled: every lane writes the same text",
    "rejection": "rejection: as in the paper, a text per lane",
}
ABOUT_K = (
    "<h4>K, the fixed plan of a step</h4><p>A row for each reviewer, a bar for each drafter that it asks. Drag the "
    "ends. A K of your own races as “cascade”; a button below leaves a part of it out.</p>"
)
RACE_PARTS = "Race the parts: vertical, horizontal, both"


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
            copy_link = gr.Button("Copy link", size="sm", min_width=80, scale=0, elem_id="copy")
            close = gr.Button("Close", size="sm", min_width=80, scale=0, elem_id="advanced-close")
            race = gr.Button("Race", variant="primary", size="sm", min_width=80, scale=0, elem_id="advanced-race")
        family, preset, max_new, about = _build_first_fields(context, start)
        lanes = gr.CheckboxGroup(
            list(context.options["lanes"]),
            value=start["lanes"],
            label="Methods to race",
            info="Choose 2 to 4. They race in this order.",
            elem_id="lanes",
        )
        with gr.Row():
            temperature = _number("temperature", start, "Temperature", "0: always the likeliest token.", step=0.1)
            seed = _number("seed", start, "Seed", "For temperatures above 0.")
        _build_heading("Speculative decoding, prompt lookup")
        methods = _build_method_fields(context, start)
        _build_heading("Cascades")
        K, picture, parts = _build_cascade(context, start)
        lenience = _build_lenience(start)
        _build_heading("Sampling")
        sampling = _build_sampling_fields(context, start)
        _build_heading("Models")
        models = _build_model_fields(context, start)
        load = gr.Button("Load this family", size="sm", min_width=140)
        gr.Markdown(views.families_table(context.options["family"]), elem_id="families")
    first = {"family": family, "max_new": max_new, "lanes": lanes, "temperature": temperature, "seed": seed}
    found = {**first, **methods, "K": K, "lenience": lenience, **sampling, **models}
    target, others, copies = models["target"], models["others"], models["copies"]
    return SettingsDrawer(
        found, family, preset, about, picture, parts, target, others, copies, race, copy_link, reset, close, load
    )


def _build_heading(text: str) -> None:
    """A heading between groups of settings."""
    gr.HTML(f"<h3>{text}</h3>", elem_classes="advanced-heading")


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
        label="Speculative: draft",
        info="The model that guesses.",
        elem_id="draft",
        elem_classes=term_class("draft"),
        allow_custom_value=True,
    )
    with gr.Row():
        k = _number(
            "k",
            start,
            "Speculative: draft length k",
            "Tokens that it guesses at a time.",
            elem_classes=term_class("k"),
        )
        lookup = _number(
            "lookup",
            start,
            "Prompt lookup: copy length k",
            "Tokens that the copier takes over.",
            elem_classes=term_class("prompt lookup"),
        )
    return {"draft": draft, "k": k, "lookup": lookup}


def _build_lenience(start: Mapping[str, Any]) -> gr.Number:
    return _number(
        "lenience",
        start,
        "How easily drafts accept each other (lenience)",
        "1 = as strict as the big model. Above 1, a small model also keeps guesses from below that it finds almost as "
        "likely as its own. Only the big model's check decides the text: this changes the speed, not the words.",
        step=0.5,
        elem_classes=term_class("lenience"),
    )


def _build_cascade(context: PageContext, start: Mapping[str, Any]) -> tuple[gr.Textbox, gr.HTML, gr.Button]:
    """K as text, the picture above it, and a button that races its parts."""
    gr.HTML(ABOUT_K, elem_id="about-K")
    K = gr.Textbox(
        start["K"],
        label="K as text, cumulative as in the paper",
        info="The same plan in numbers: a row per reviewer, the big model first. A number says up to which token its "
        "drafter writes; the last one of a row is the copier's.",
        elem_id="K",
        elem_classes=term_class("K"),
        render=False,
    )
    picture = build_staircase(K, context.studio.home.defaults.drafts, "K-picture")
    K.render()
    parts = gr.Button(RACE_PARTS, size="sm", min_width=140, elem_id="race-parts")
    return K, picture, parts


def _build_sampling_fields(context: PageContext, start: Mapping[str, Any]) -> dict[str, Component]:
    always = gr.Checkbox(start["always"], label="Ignore end-of-text", container=False, elem_id="always")
    rule = gr.Dropdown(
        [(RULES.get(name, name), name) for name in context.options["rule"]],
        value=start["rule"],
        label="Acceptance rule when sampling",
        info="At a temperature above 0. Coupled: all lanes share their random numbers. Rejection: each lane draws its "
        "own. Under both, every text follows the target's distribution exactly.",
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
    shape = {"rule": rule, "top_k": top_k, "top_p": top_p}
    return {"always": always, **shape}


def _build_model_fields(context: PageContext, start: Mapping[str, Any]) -> dict[str, Any]:
    options = context.options
    is_free = CUSTOM in options["family"]  # otherwise only the families of an allow-list run, as they are
    with gr.Row(visible=is_free):
        dtype = gr.Dropdown(
            list(options["dtype"]), value=start["dtype"], label="Precision of the weights", min_width=140
        )
        device = gr.Dropdown(list(options["device"]), value=start["device"], label="Device", min_width=100)
    target = gr.Textbox(
        start["target"],
        label="Big model (target) of a custom family: Hub ID, folder or GGUF file",
        placeholder="owner/name, owner/name@revision or a path",
        max_lines=1,
        elem_id="target",
        visible=is_free,
    )
    others = gr.Textbox(
        start["others"],
        label="Its small models (drafts), strongest first, comma-separated",
        placeholder="owner/name, owner/name@revision or a path",
        max_lines=1,
        elem_id="others",
        visible=is_free,
    )
    copies = gr.CheckboxGroup(
        list(options["copies"]),
        value=start["copies"],
        label="Quantised copies of the big model as drafts",
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
