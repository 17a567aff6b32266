"""The form of the Race tab: its buttons, the settings in view, and those in the drawer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.web.context import PageContext
from csd.web.fields import FamilyFields, PageFields
from csd.web.form_events import preset_choices
from csd.web.settings_drawer import SettingsDrawer, build_settings_drawer
from csd.web.staircase import staircase_value
from csd.web.updates import FormUpdate

Values = Mapping[Component, Any]
"""What Gradio gives to an event whose inputs are a set."""


@dataclass(frozen=True)
class RaceForm:
    """`fields` are the components of csd.web.fields.PageFields, by field name; those with events are also named."""

    fields: Mapping[str, Component]
    prompt: gr.Textbox
    family: gr.Dropdown
    preset: gr.Dropdown
    start: gr.Button
    stop: gr.Button
    more: gr.Button
    drawer: SettingsDrawer

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

    @property
    def typed(self) -> list[Component]:
        """The fields that one types in, in the order of TYPED in assets/page.js."""
        return self.named(("prompt", "max_new", "temperature", "seed", "K"))

    def named(self, names: Iterable[str]) -> list[Component]:
        return [self.fields[name] for name in names]

    def fill(self, update: FormUpdate) -> dict[Component, Any]:
        """What the fields and the list of presets change to."""
        changes: dict[Component, Any] = {self.fields[name]: value for name, value in update.values.items()}
        if update.drafts is not None:
            changes[self.fields["draft"]] = gr.Dropdown(list(update.drafts), value=update.values["draft"])
            changes[self.drawer.picture] = staircase_value(update.values["K"], update.drafts)
        if update.presets is not None:
            changes[self.preset] = gr.Dropdown(_labelled(update.presets.options), value=update.presets.selected)
        return changes or {self.preset: gr.skip()}


def build_form(context: PageContext, prompt: gr.Textbox) -> RaceForm:
    start = context.start.values()
    presets = preset_choices(context.studio.home.defaults, start)
    with gr.Row(elem_id="go"):
        race = gr.Button("Race", variant="primary", min_width=120, scale=0, elem_id="race")
        stop = gr.Button("Stop", min_width=64, scale=0, elem_id="stop")
        family = gr.Dropdown(
            list(context.options["family"]),
            value=start["family"],
            label="Models",
            scale=2,
            min_width=120,
            elem_id="family",
        )
        preset = gr.Dropdown(
            _labelled(presets.options), value=presets.selected, label="Preset", scale=3, min_width=150, elem_id="preset"
        )
        max_new = gr.Number(start["max_new"], label="New tokens", precision=0, min_width=76, elem_id="max-new")
        more = gr.Button("Settings", min_width=92, scale=0, elem_id="more")
    drawer = build_settings_drawer(context)
    fields = {"prompt": prompt, "family": family, "max_new": max_new, **drawer.fields}
    return RaceForm(fields, prompt, family, preset, race, stop, more, drawer)


def _labelled(presets: Sequence[str]) -> list[tuple[str, str]]:
    """Presets with what they race in front: "cascade, tuned K"."""
    return [(f"{name} cascade" if name == "adaptive" else f"cascade, {name}", name) for name in presets]
