"""K as a picture whose ends can be dragged, beside a text field that holds the same K."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import gradio as gr

from csd import theme
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods.method import TARGET
from csd.paths import ASSETS
from csd.roles import roles_of_family
from csd.stage import bundle

SCRIPT = bundle.join_modules(ASSETS / "controls", "staircase", "Staircase") + (
    "const show = Staircase.startStaircase(element.querySelector('.staircase'), props.value, (K) => {\n"
    "  props.value = { ...props.value, K };\n"
    "  trigger('input');\n"
    "});\n"
    "watch('value', () => show(props.value));\n"
)
TO_FIELD = "(picture) => picture.K"
# A K for another number of levels belongs to a family that is just being set, and `picture` may be that of before.
TO_PICTURE = """(K, picture) => {
  const rows = (String(K).match(/\\[/g) ?? []).length - 1;
  const isOther = rows > 0 && rows !== picture.levels.length;
  return isOther ? { __type__: "update" } : { ...picture, K };
}"""


def staircase_value(K: str | None, drafts: Sequence[str]) -> dict[str, Any]:
    """What the picture shows: K as text, or the K that it shows already, the target's role, and the role and the
    look of each drafter, the strongest first."""
    called, names = roles_of_family(drafts), (*drafts, MAX_GRAM)
    looks = [theme.look(len(drafts) - column, len(names)).key for column in range(len(names))]
    levels = [{"role": called[name], "look": look} for name, look in zip(names, looks, strict=True)]
    return {"K": K, "target": called[TARGET], "levels": levels}


def build_staircase(K: gr.Textbox, drafts: Sequence[str], elem_id: str, fold: str = "") -> gr.HTML:
    """The picture of the K in a text field, under a sentence; each follows the other in the browser. With `fold`, the
    picture is folded away under these words.

    For a family with other drafts, set its value to another `staircase_value`.
    """
    data = f' data-fold="{escape(fold)}"' if fold else ""
    picture = gr.HTML(
        staircase_value(K.value or "", drafts),
        html_template=f'<div class="staircase"{data}></div>',
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id=elem_id,
    )
    quick = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    picture.input(None, [picture], [K], js=TO_FIELD, **quick)
    K.change(None, [K, picture], [picture], js=TO_PICTURE, **quick)
    return picture
