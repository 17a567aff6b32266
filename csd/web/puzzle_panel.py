"""The panel with the puzzles: a button in the head of the page, and what it opens at the bottom of the window."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import gradio as gr

from csd.own_files import own_text
from csd.paths import ASSETS
from csd.stage import bundle
from csd.web import puzzles
from csd.web.context import PageContext

CSS = own_text(ASSETS / "puzzles.css")
TEMPLATE = '<div class="puzzles"><section aria-label="Puzzles" tabindex="-1" hidden></section></div>'
SCRIPT = bundle.join_modules(ASSETS / "controls", "puzzles", "Puzzles") + (
    f"const tasks = {json.dumps([asdict(puzzle) for puzzle in puzzles.PUZZLES])};\n"
    "const show = Puzzles.startPuzzles(element.querySelector('.puzzles'), tasks, props.value, (guess) => {\n"
    "  props.value = { ...props.value, guess };\n"
    "  trigger('input');\n"
    "});\n"
    "watch('value', () => show(props.value));\n"
)


def build_puzzles() -> gr.HTML:
    return gr.HTML(
        puzzles.puzzle_value(()),
        html_template=TEMPLATE,
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id="puzzles",
    )


def check_guess(context: PageContext, visitor: str, value: Any) -> dict[str, Any]:
    """The panel after a prediction; `value` is what the browser sent."""
    guess = value.get("guess") if isinstance(value, dict) else None
    question = puzzles.find_question(context.studio.visitors.races_run(visitor))
    attempt = puzzles.check_guess(question, guess)
    return {"race": "", "found": {"predict": asdict(attempt)}, "question": question.asked if question else ""}
