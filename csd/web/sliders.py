"""Groups of sliders as a component: any number can be typed, and one without effect says why."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from csd.paths import ASSETS
from csd.stage import bundle
from csd.web.slider_values import SliderGroup, sliders_value

SCRIPT = bundle.join_modules(ASSETS / "controls", "sliders", "Sliders") + (
    "const show = Sliders.startSliders(element.querySelector('.sliders'), props.value, (value) => {\n"
    "  props.value = value;\n"
    "  trigger('input');\n"
    "});\n"
    "watch('value', () => { props.value = show(props.value); });\n"
)


def build_sliders(groups: Sequence[SliderGroup], elem_id: str) -> gr.HTML:
    return gr.HTML(
        sliders_value(groups),
        html_template='<div class="sliders"></div>',
        js_on_load=SCRIPT,
        apply_default_css=False,
        elem_id=elem_id,
    )
