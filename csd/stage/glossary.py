"""The words that the page explains, and how a word of them is written into it. Pure; no gradio."""

from __future__ import annotations

from html import escape

from csd.own_files import own_json, reading
from csd.paths import ASSETS


def glossary() -> tuple[tuple[str, str], ...]:
    """Words and their meanings, in reading order."""
    file = ASSETS / "glossary.json"
    with reading(file):
        return tuple((entry["word"], entry["meaning"]) for entry in own_json(file))


def term_html(word: str, shown: str = "") -> str:
    """A word of the glossary in the page, or what is shown in its place; assets/stage/terms.js explains it there."""
    return f'<button type="button" class="cs-term" data-term="{escape(word)}">{escape(shown or word)}</button>'


def term_class(word: str) -> str:
    """The class of a field whose label is a word of the glossary: assets/stage/terms.js explains Gradio's label."""
    return f"term-{word.replace(' ', '-')}"


def glossary_html() -> str:
    """The glossary as a description list."""
    rows = (f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in glossary())
    return f'<dl class="glossary">{"".join(rows)}</dl>'
