"""The top of the Race tab: the prompt, and beside it a chip for each kind of example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from csd.web import views
from csd.web.context import PageContext
from csd.web.examples import MOST_KINDS, example_kinds
from csd.web.form_events import OWN_PROMPT


@dataclass(frozen=True)
class PromptRow:
    """`own` brings back `typed`, the prompt of the visitor, once an example has taken its place. `about` describes the
    models that will continue the prompt."""

    prompt: gr.Textbox
    examples: tuple[gr.Button, ...]
    own: gr.Button
    typed: gr.State
    about: gr.HTML

    def keep(self, prompt: str) -> dict[Any, Any]:
        return {self.typed: prompt, self.own: gr.Button(visible=True)}

    def name_examples(self, kinds: Sequence[str]) -> dict[Component, Any]:
        """The chips' new names; those that are left over disappear."""
        names = [*kinds, *[""] * (len(self.examples) - len(kinds))]
        return {button: gr.Button(kind, visible=bool(kind)) for button, kind in zip(self.examples, names, strict=True)}


def build_prompt_row(context: PageContext) -> PromptRow:
    home = context.studio.home
    kinds = example_kinds(home.spec)
    with gr.Row(elem_id="ask", equal_height=True):
        prompt = gr.Textbox(
            context.start.form.prompt,
            label="Prompt",
            show_label=False,
            container=False,
            lines=2,
            max_lines=2,
            scale=3,
            min_width=300,
            elem_id="prompt",
            placeholder="Enter a prompt for the models to continue",
        )
        with gr.Column(scale=2, min_width=260, elem_id="beside-prompt"):
            with gr.Row(elem_id="examples"):
                gr.HTML("<span>Try:</span>", elem_id="try", min_width=10)
                examples = tuple(
                    gr.Button(kind, size="sm", min_width=10, visible=bool(kind))
                    for kind in (*kinds, *[""] * (MOST_KINDS - len(kinds)))
                )
                own = gr.Button(OWN_PROMPT, size="sm", min_width=10, visible=False, elem_id="own-prompt")
            typed = gr.State("")
            described = views.about_family(home, context.studio.families.status(home))
            about = gr.HTML(views.about_html(described), elem_id="about")
    return PromptRow(prompt, examples, own, typed, about)
