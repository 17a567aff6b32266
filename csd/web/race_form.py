"""The form of the Race tab: prompt, settings, models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.web import views
from csd.web.context import PageContext
from csd.web.examples import MOST_KINDS, example_kinds
from csd.web.fields import FamilyFields, PageFields
from csd.web.form_events import preset_choices
from csd.web.updates import FormUpdate

Values = Mapping[Component, Any]
"""What Gradio gives to an event whose inputs are a set."""


@dataclass(frozen=True)
class PromptRow:
    """The prompt, a button for each kind of example, and the races that can be shown again."""

    prompt: gr.Textbox
    examples: tuple[gr.Button, ...]
    earlier: gr.Dropdown
    upload: gr.UploadButton
    copy_link: gr.Button

    def name_examples(self, kinds: Sequence[str]) -> dict[Component, Any]:
        """The buttons' new names; those that are left over disappear."""
        names = [*kinds, *[""] * (len(self.examples) - len(kinds))]
        return {button: gr.Button(kind, visible=bool(kind)) for button, kind in zip(self.examples, names, strict=True)}


@dataclass(frozen=True)
class RaceForm:
    """`fields` are the components of csd.web.fields.PageFields, by field name; those with events are also named."""

    fields: Mapping[str, Component]
    prompt: gr.Textbox
    family: gr.Dropdown
    others: gr.Textbox
    copies: gr.CheckboxGroup
    preset: gr.Dropdown
    start: gr.Button
    stop: gr.Button
    more: gr.Button
    load: gr.Button

    @property
    def inputs(self) -> set[Any]:
        return {self.preset, *self.fields.values()}

    @property
    def family_inputs(self) -> set[Any]:
        return set(self._family_fields.values())

    @property
    def _family_fields(self) -> dict[str, Component]:
        return {field.name: self.fields[field.name] for field in fields(FamilyFields)}

    def read(self, values: Values) -> PageFields:
        named = {**self.fields, "preset": self.preset}
        return PageFields.from_values({name: values[field] for name, field in named.items()})

    def read_family(self, values: Values) -> FamilyFields:
        return FamilyFields.from_values({name: values[field] for name, field in self._family_fields.items()})

    def named(self, names: Iterable[str]) -> list[Component]:
        return [self.fields[name] for name in names]

    def fill(self, update: FormUpdate) -> dict[Component, Any]:
        """What the fields and the list of presets change to."""
        changes: dict[Component, Any] = {self.fields[name]: value for name, value in update.values.items()}
        if update.drafts is not None:
            changes[self.fields["draft"]] = gr.Dropdown(list(update.drafts), value=update.values["draft"])
        if update.presets is not None:
            changes[self.preset] = gr.Dropdown(list(update.presets.options), value=update.presets.selected)
        return changes or {self.preset: gr.skip()}


def build_prompt_row(context: PageContext) -> PromptRow:
    with gr.Row(elem_id="ask", equal_height=True):
        prompt = gr.Textbox(
            context.start.form.prompt,
            label="Prompt",
            show_label=False,
            container=False,
            lines=3,
            max_lines=3,
            scale=3,
            min_width=420,
            elem_id="prompt",
            placeholder="Enter a prompt for the models to continue",
        )
        with gr.Column(scale=2, min_width=260, elem_id="examples"):
            kinds = example_kinds(context.studio.home.spec)
            examples = tuple(
                gr.Button(kind, size="sm", min_width=90, visible=bool(kind))
                for kind in (*kinds, *[""] * (MOST_KINDS - len(kinds)))
            )
            with gr.Row(elem_id="replays", equal_height=True):
                earlier = gr.Dropdown(
                    [(race.title, race.id) for race in context.recorded.values()],
                    value=next(iter(context.recorded), None),
                    label="Races to replay",
                    show_label=False,
                    container=False,
                    min_width=160,
                    elem_id="earlier",
                )
                small = {"size": "sm", "min_width": 90, "scale": 0}
                upload = gr.UploadButton(
                    "Open a file", file_types=[".json", ".gz"], type="binary", elem_id="bring", **small
                )
                copy_link = gr.Button("Copy link", elem_id="copy", **small)
    return PromptRow(prompt, examples, earlier, upload, copy_link)


def build_form(context: PageContext, prompt: gr.Textbox) -> RaceForm:
    start = context.start.values()
    presets = preset_choices(context.studio.home.defaults)
    with gr.Row(elem_id="go"):
        race = gr.Button("Race", variant="primary", min_width=110, scale=0, elem_id="race")
        stop = gr.Button("Stop", variant="stop", min_width=90, scale=0, elem_id="stop")
        family = gr.Dropdown(
            list(context.options["family"]),
            value=start["family"],
            label="Family",
            scale=2,
            min_width=150,
            elem_id="family",
        )
        preset = gr.Dropdown(
            list(presets.options), value=presets.selected, label="Preset", scale=2, min_width=230, elem_id="preset"
        )
        text_fields = _build_text_fields(start)
        more = gr.Button("Advanced", min_width=110, scale=0, elem_id="more")
    with gr.Column(elem_id="advanced"):  # hidden at first; an accordion would take a line of height from the stage
        lanes = gr.CheckboxGroup(
            list(context.options["lanes"]), value=start["lanes"], label="Lanes (2 to 4)", elem_id="lanes"
        )
        with gr.Row():
            K = gr.Textbox(start["K"], label="Cascade: K (cumulative)", min_width=260, elem_id="K", render=False)
            method_fields = _build_method_fields(context, start, K)
        with gr.Row():
            sampling_fields = _build_sampling_fields(context, start)
        with gr.Row(equal_height=True):
            target, others = _build_model_fields(start)
            copies = gr.CheckboxGroup(
                list(context.options["copies"]),
                value=start["copies"],
                label="Quantised copies of the target as drafts",
                info=views.COPIES,
                min_width=300,
                elem_id="copies",
            )
            load = gr.Button("Load this family", size="sm", min_width=140, scale=0)
        gr.Markdown(views.families_table(), elem_id="families")
    models = {"family": family, "target": target, "others": others, "copies": copies}
    found = {"prompt": prompt, "lanes": lanes, "K": K, **models, **text_fields, **method_fields, **sampling_fields}
    return RaceForm(found, prompt, family, others, copies, preset, race, stop, more, load)


def _build_text_fields(start: Mapping[str, Any]) -> dict[str, Component]:
    return {
        "max_new": gr.Number(start["max_new"], label="New tokens", precision=0, min_width=100, elem_id="max-new"),
        "temperature": gr.Number(
            start["temperature"], label="Temperature", step=0.1, min_width=100, elem_id="temperature"
        ),
        "seed": gr.Number(start["seed"], label="Seed", precision=0, min_width=90, elem_id="seed"),
        "always": gr.Checkbox(
            start["always"], label="Ignore end-of-text", min_width=140, elem_id="always", container=True
        ),
    }


def _build_method_fields(context: PageContext, start: Mapping[str, Any], K: gr.Textbox) -> dict[str, Component]:
    """The fields of the methods, with K among them."""
    # With custom values, because Gradio would reject a race that was started just before the choices changed.
    draft = gr.Dropdown(
        list(context.studio.home.defaults.drafts),
        value=start["draft"],
        label="Speculative: draft",
        min_width=130,
        elem_id="draft",
        allow_custom_value=True,
    )
    k = gr.Number(start["k"], label="Speculative: k", precision=0, min_width=90, elem_id="k")
    lookup = gr.Number(start["lookup"], label="Prompt lookup: k", precision=0, min_width=90, elem_id="lookup")
    K.render()
    lenience = gr.Number(start["lenience"], label="Lenience of inner reviews", step=0.5, min_width=90)
    return {"draft": draft, "k": k, "lookup": lookup, "lenience": lenience}


def _build_sampling_fields(context: PageContext, start: Mapping[str, Any]) -> dict[str, Component]:
    options = context.options
    return {
        "rule": gr.Dropdown(
            list(options["rule"]), value=start["rule"], label="Acceptance rule (sampling)", min_width=150
        ),
        "top_k": gr.Number(start["top_k"], label="Top-k (0 = off)", precision=0, min_width=90),
        "top_p": gr.Number(start["top_p"], label="Top-p (1 = off)", step=0.05, min_width=90),
        "dtype": gr.Dropdown(list(options["dtype"]), value=start["dtype"], label="Precision", min_width=110),
        "device": gr.Dropdown(list(options["device"]), value=start["device"], label="Device", min_width=100),
    }


def _build_model_fields(start: Mapping[str, Any]) -> tuple[gr.Textbox, gr.Textbox]:
    """The target and the drafts of a custom family."""
    target = gr.Textbox(
        start["target"],
        label="Target model: Hub ID, folder or GGUF file",
        placeholder="owner/name, owner/name@revision or a path",
        min_width=300,
        max_lines=1,
        elem_id="target",
    )
    others = gr.Textbox(
        start["others"],
        label="Draft models, strongest first, comma-separated",
        min_width=300,
        max_lines=1,
        elem_id="others",
    )
    return target, others
