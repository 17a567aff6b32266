"""A chip for each kind of example, one for a race that a cascade loses, and one that brings back what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.sentences import capitalized
from csd.web.context import PageContext
from csd.web.example_events import OWN_PROMPT
from csd.web.examples import MOST_KINDS, example_kinds


@dataclass(frozen=True)
class ExampleChips:
    """`own` brings back `typed`, the prompt of the visitor, once an example has taken its place; `lose` races the
    tour's recipe for a race that a cascade loses."""

    kinds: tuple[gr.Button, ...]
    own: gr.Button
    lose: gr.Button
    typed: gr.State

    def keep(self, prompt: str) -> dict[Any, Any]:
        return {self.typed: prompt, self.own: gr.Button(visible=True)}

    def name_kinds(self, kinds: Sequence[str]) -> dict[Component, Any]:
        """The chips' new names; those that are left over disappear."""
        names = _fill_up(kinds)
        return {button: gr.Button(name, visible=bool(name)) for button, name in zip(self.kinds, names, strict=True)}


def build_example_chips(context: PageContext) -> ExampleChips:
    kinds = example_kinds(context.studio.home.spec)
    with gr.Row(elem_id="examples"):
        gr.HTML("<span>Or race:</span>", elem_id="try", min_width=10)
        buttons = tuple(gr.Button(name, size="sm", min_width=10, visible=bool(name)) for name in _fill_up(kinds))
        lose = gr.Button("Make it lose", size="sm", min_width=10, elem_id="lose")
        own = gr.Button(OWN_PROMPT, size="sm", min_width=10, visible=False, elem_id="own-prompt")
    return ExampleChips(buttons, own, lose, gr.State(""))


def _fill_up(kinds: Sequence[str]) -> list[str]:
    """A name for each chip, empty for those without a kind. Names are capitalized, because Gradio takes some
    lower-case words, such as "code", for texts of its own."""
    return [*(capitalized(kind) for kind in kinds), *[""] * (MOST_KINDS - len(kinds))]
