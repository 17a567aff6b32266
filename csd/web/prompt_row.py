"""The top of the Race tab: the prompt, and beside it the buttons that race it and stop the race."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from csd.web.context import PageContext

ASK, CONTINUE = "Ask a question, or set a task.", "Type how a text begins."  # of a model that chats, and of another one


@dataclass(frozen=True)
class PromptRow:
    """`stop` is in view while a race of the visitor runs or waits, see assets/page.css."""

    prompt: gr.Textbox
    start: gr.Button
    stop: gr.Button


def build_prompt_row(context: PageContext) -> PromptRow:
    with gr.Row(elem_id="ask"):
        prompt = gr.Textbox(
            context.start.form.prompt,
            label="Prompt",
            show_label=False,
            container=False,
            lines=2,
            max_lines=4,
            scale=1,
            min_width=100,
            elem_id="prompt",
            placeholder=ASK if context.studio.preferred.spec.chat else CONTINUE,
        )
        with gr.Row(elem_id="go"):
            start = gr.Button("Race", variant="primary", min_width=10, elem_id="race")
            stop = gr.Button("Stop", min_width=10, elem_id="stop")
    return PromptRow(prompt, start, stop)
