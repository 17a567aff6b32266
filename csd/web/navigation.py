"""The address of the page: #theory and #compare are tabs, #race=ID is a recorded race, or one that was linked. Back
goes where one was before.

assets/page/address.js writes and reads the address. For a race it presses a hidden button, whose event shows the race.
"""

from __future__ import annotations

import gradio as gr
from gradio.events import Dependency

from csd.web import earlier_races, scripts
from csd.web.context import PageContext
from csd.web.one_at_a_time import paid
from csd.web.race_form import Values
from csd.web.wiring import PRIVATE, QUICK, Changes, RaceView, keep_typed, visitor_of


def wire_navigation(context: PageContext, view: RaceView, opening: Dependency) -> None:
    """`opening` is the event that fills in the form when the page is opened; the address is followed after it."""
    form = view.tab.form
    fragment = gr.Textbox(visible="hidden")
    follow = gr.Button("Follow the address", visible="hidden", elem_id="follow-address")

    @paid
    def show(values: Values, request: gr.Request) -> Changes:
        fields = form.read(values)
        return view.show(earlier_races.show_address(context, visitor_of(context, request), values[fragment], fields))

    read = follow.click(None, None, [fragment], js=scripts.READ_ADDRESS, **PRIVATE)
    followed = read.then(show, {fragment, *form.inputs}, view.outputs, **QUICK)
    keep_typed(followed, form)
    followed.then(None, js=scripts.ARRIVE, **PRIVATE)
    opening.then(None, js=scripts.OPEN_ADDRESS, **PRIVATE)
