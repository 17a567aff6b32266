"""The form of the Race tab: the prompt, its buttons, and the settings in the drawer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.roles import named_with_roles
from csd.web.fields import FamilyFields, PageFields
from csd.web.preset_names import labelled
from csd.web.prompt_row import PromptRow
from csd.web.settings_drawer import SettingsDrawer
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
    home: gr.Button
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
        """The fields that one types in, in the order of TYPED in assets/page/typing.js."""
        return self.named(("prompt", "max_new", "temperature", "seed", "K"))

    @property
    def in_words(self) -> list[Component]:
        """The settings that `more` tells of, in the order of tellSettings in assets/page/settings.js."""
        return self.named(("family", "lanes", "temperature"))

    def named(self, names: Iterable[str]) -> list[Component]:
        return [self.fields[name] for name in names]

    def fill(self, update: FormUpdate) -> dict[Component, Any]:
        """What the fields and the list of presets change to."""
        changes: dict[Component, Any] = {self.fields[name]: value for name, value in update.values.items()}
        if update.drafts is not None:
            changes[self.fields["draft"]] = gr.Dropdown(named_with_roles(update.drafts), value=update.values["draft"])
            changes[self.drawer.picture] = staircase_value(update.values["K"], update.drafts)
        if update.presets is not None:
            changes[self.preset] = gr.Dropdown(labelled(update.presets.options), value=update.presets.selected)
        return changes or {self.preset: gr.skip()}


def build_form(prompt_row: PromptRow, more: gr.Button, home: gr.Button, drawer: SettingsDrawer) -> RaceForm:
    """`more` opens the drawer, and says in words what is set there; `home` brings back the page's first family."""
    prompt, start, stop = prompt_row.prompt, prompt_row.start, prompt_row.stop
    fields = {"prompt": prompt, **drawer.fields}
    return RaceForm(fields, prompt, drawer.family, drawer.preset, start, stop, more, home, drawer)
