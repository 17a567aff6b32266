"""The races that can be shown again, and the way in for one from a file."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from csd.web.context import PageContext


@dataclass(frozen=True)
class Replays:
    """`races` opens the panel with `earlier` and `upload`, which assets/page/panels.js shows and hides."""

    races: gr.Button
    earlier: gr.Dropdown
    upload: gr.UploadButton


def build_replays(context: PageContext) -> Replays:
    quiet = {"size": "sm", "min_width": 60, "scale": 0}
    with gr.Row(elem_id="replays"):
        races = gr.Button("Past races", elem_id="races", **quiet)
        with gr.Column(elem_id="races-panel"):
            earlier = gr.Dropdown(
                [(race.title, race.id) for race in context.recorded.values()],
                value=context.landing.id if context.landing else None,
                label="Recorded races, and yours",
                min_width=160,
                elem_id="earlier",
            )
            upload = gr.UploadButton("Open a file", type="binary", elem_id="bring", **quiet)
    return Replays(races, earlier, upload)
