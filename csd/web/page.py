"""The page: its tabs, their events, and how it is launched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from gradio import themes
from gradio.events import api
from starlette.routing import Route

from csd import typeface
from csd.own_files import own_text
from csd.paths import ASSETS
from csd.record.race import Race
from csd.stage import bundle, tour
from csd.web import puzzle_panel, scripts, uploads, wiring
from csd.web.api import make_endpoint
from csd.web.compare_tab import build_compare_tab
from csd.web.compare_wiring import wire_comparison
from csd.web.context import make_context
from csd.web.deployment import Deployment
from csd.web.examples import plan_of_text
from csd.web.form_wiring import wire_form
from csd.web.guard import CLOSED, make_lifespan, make_middleware
from csd.web.navigation import wire_navigation
from csd.web.own_events import OWN_EVENTS
from csd.web.race_tab import build_race_tab
from csd.web.studio import Studio
from csd.web.theory_style import THEORY_CSS
from csd.web.theory_tab import build_theory_tab
from csd.web.theory_wiring import wire_theory

PAPER = '<a href="https://arxiv.org/abs/2312.11462" target="_blank" rel="noopener">The paper, NeurIPS 2024</a>'
CSS = bundle.CSS + own_text(ASSETS / "page.css") + tour.CSS + puzzle_panel.CSS + THEORY_CSS
TITLE = "Cascade Speculative Drafting"
SUBTITLE = "How small models speed up a big one"
CACHED_FILES = (3600, 7200)  # seconds: how often Gradio deletes its copies of files, and those of which age
# Text has a contrast of at least 4.5:1 on these. Buttons are black or white: the accent is the cascade's alone.
READABLE = {
    "button_primary_background_fill": "#1a1a1a",
    "button_primary_background_fill_hover": "#404040",
    "button_primary_background_fill_dark": "#f2f2f2",
    "button_primary_background_fill_hover_dark": "#cfcfcf",
    "button_primary_text_color_dark": "#1a1a1a",
    "button_cancel_background_fill": "#b91c1c",
    "button_cancel_background_fill_hover": "#991b1b",
    "button_cancel_background_fill_dark": "#b91c1c",
    "checkbox_background_color_selected": "#1a1a1a",
    "checkbox_background_color_selected_dark": "#f2f2f2",
    "checkbox_border_color_selected": "#1a1a1a",
    "checkbox_border_color_selected_dark": "#f2f2f2",
    "input_placeholder_color": "#6e6e73",
    "input_placeholder_color_dark": "#b9b9bc",
    "block_info_text_color": "#575759",
    "block_info_text_color_dark": "#b9b9bc",
}
COMPACT = {"layout_gap": "6px", "block_padding": "4px 8px", "input_padding": "4px 8px", "block_label_margin": "0"}


def build(studio: Studio, links: Path | None = None) -> gr.Blocks:
    """The page over a studio; `links` keeps the races of links. Launch it with `launch_settings`."""
    context = make_context(studio, links)
    defaults = studio.home.defaults
    with gr.Blocks(title=TITLE, fill_width=True, analytics_enabled=False, delete_cache=CACHED_FILES) as page:
        family, puzzles = _build_head()
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab("Race", id="race"):
                race = build_race_tab(context, family)
            theory = build_theory_tab(defaults, context.landing and Race(context.landing.traces))
            compare = build_compare_tab(defaults, plan_of_text(studio.home, context.start.form.prompt))
        hidden = wiring.build_hidden()
        view = wiring.RaceView(race, theory.what_if, puzzles)
        opening = wire_form(page, context, view, hidden)
        racing = wiring.wire_races(page, context, view, hidden)
        comparing = wire_comparison(context, compare, race, hidden)
        wire_theory(context, theory, race, tabs, hidden)
        wiring.wire_puzzles(context, puzzles)
        wire_navigation(context, view, opening)
        page.load(None, js=scripts.START, **wiring.PRIVATE)
        hidden.leave_queue.click(None, cancels=[racing, comparing], **wiring.PRIVATE)
        api(make_endpoint(context), api_name="race", **wiring.on_device(context))
    _tell_few(page, race.status, hidden.leave_queue)
    return page


def _tell_few(page: gr.Blocks, line: gr.HTML, elsewhere: gr.Button) -> None:
    """Events that show no progress report it to the status line alone, if they write there, and otherwise to a hidden
    button: Gradio reports every step of a race to all components that any event has reported to before."""
    for event in page.fns.values():
        if event.show_progress == "hidden" and event.show_progress_on is None:
            event.show_progress_on = [line if line in event.outputs else elsewhere]


def _build_head() -> tuple[gr.HTML, gr.HTML]:
    """Title, tour, puzzles, paper and the line on the family; the line, empty so far, and the puzzles are returned."""
    with gr.Row(elem_id="top"):
        gr.HTML(f"<h1>{TITLE}</h1><p>{SUBTITLE}</p>", elem_id="title", min_width=320)
        gr.HTML(html_template=tour.template(), js_on_load=tour.script(), apply_default_css=False, elem_id="tour")
        puzzles = puzzle_panel.build_puzzles()
        gr.HTML(PAPER, elem_id="paper")
        return gr.HTML("<p></p>", elem_id="family-status", min_width=200), puzzles


def launch_settings(deployment: Deployment, routes: Sequence[Route] = ()) -> dict[str, Any]:
    """Arguments for `launch`, where Gradio 6 takes theme and CSS; `routes` are served beside the page."""
    theme = themes.Default(
        spacing_size=themes.sizes.spacing_sm,
        font=typeface.FAMILIES,
        font_mono=["ui-monospace", "monospace"],
    )
    return {
        "theme": theme.set(**COMPACT, **READABLE),
        "css": CSS,
        "head": scripts.HEAD,
        "ssr_mode": False,
        "max_file_size": uploads.LARGEST,
        "run_history": False,
        "enable_monitoring": False,
        "state_session_capacity": 2000,
        "footer_links": [],
        "app_kwargs": {
            "middleware": make_middleware(deployment),
            "lifespan": make_lifespan(deployment),
            "routes": [*routes, *CLOSED, *OWN_EVENTS],
        },
    }
