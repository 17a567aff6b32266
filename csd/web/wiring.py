"""Which component runs which event.

The handlers are plain functions of csd.web.*_events and csd.web.what_if. Here the tabs read their arguments from
components, by name, and turn what they return into new values of components.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.events import Dependency

from csd.decoding.errors import Refusal
from csd.web import (
    addresses,
    earlier_races,
    first_paint,
    puzzle_panel,
    race_events,
    scripts,
    views,
)
from csd.web.collecting import collecting_later
from csd.web.context import PageContext
from csd.web.one_at_a_time import one_at_a_time, paid
from csd.web.openings import MOST_HERE, Openings
from csd.web.race_form import RaceForm, Values
from csd.web.race_tab import RaceTab
from csd.web.theory_tab import WhatIfParts
from csd.web.updates import RaceUpdate, StatusLine
from csd.web.visitors import Visitor

PRIVATE: dict[str, Any] = {"api_visibility": "private"}
ON_DEVICE = "device"  # the concurrency id of all events that need the device
QUICK = {**PRIVATE, "queue": False, "show_progress": "hidden"}  # neither needs the device nor waits for it

Changes = dict[Any, Any]
"""New values of components."""


def on_device(context: PageContext) -> dict[str, Any]:
    """For all events that need the device: as many run at a time as it, or the pool of devices, can take."""
    return {"concurrency_id": ON_DEVICE, "concurrency_limit": context.studio.races_at_a_time}


@dataclass(frozen=True)
class HiddenParts:
    """How events talk to the browser: `press` holds the id of a button that it presses next, or nothing;
    `leave_queue` cancels a race that waits, `begin_own` sets the form up for a prompt of the visitor's, and
    `copy_race` copies a link to the race on the stage; `shown` is the id of that race; `query` and `omitted` are the
    link to copy and what it leaves out; `by_hand` names the settings that the visitor has typed; `visitor` is the
    session of this page, and until the page is open that of the one before it in the same tab; `aside` is a prompt that
    was typed there before another one raced; `name_faults` say what is wrong with the names of the target and of the
    drafts; `sections` say what the sections of the settings hold, as JSON."""

    press: gr.Textbox
    leave_queue: gr.Button
    begin_own: gr.Button
    copy_race: gr.Button
    shown: gr.Textbox
    query: gr.Textbox
    omitted: gr.Textbox
    by_hand: gr.Textbox
    visitor: gr.Textbox
    aside: gr.Textbox
    name_faults: tuple[gr.Textbox, gr.Textbox]
    sections: gr.Textbox


def build_hidden() -> HiddenParts:
    press, shown, query, omitted, by_hand, visitor, aside, sections = (gr.Textbox(visible="hidden") for _ in range(8))
    leave_queue = gr.Button("Leave the queue", visible="hidden", elem_id="leave-queue")
    begin_own = gr.Button("Own prompt", visible="hidden", elem_id="begin-own")
    copy_race = gr.Button("Copy link to the race", visible="hidden", elem_id="copy-race")
    faults = gr.Textbox(visible="hidden"), gr.Textbox(visible="hidden")
    return HiddenParts(
        press, leave_queue, begin_own, copy_race, shown, query, omitted, by_hand, visitor, aside, faults, sections
    )


def visitor_of(context: PageContext, request: gr.Request | None) -> Visitor:
    """Gradio's session, and where it is asked from; a new id for a caller without one."""
    session = (request and request.session_hash) or uuid.uuid4().hex
    if request is None:
        return Visitor(session)
    return Visitor(session, addresses.neighbourhood(addresses.address(request, context.studio.deployment)))


def client_host(request: gr.Request) -> str:
    """Where the connection comes from, which behind a proxy is the proxy; empty if that is unknown."""
    return request.client.host if request.client else ""


# ---- races


@dataclass(frozen=True)
class RaceView:
    """Where a race is shown: in its tab, in the what-if panel of the theory, and in the puzzles that it may solve."""

    tab: RaceTab
    panel: WhatIfParts
    puzzles: gr.HTML

    @property
    def outputs(self) -> list[Any]:
        return list(dict.fromkeys([*self.tab.race_outputs, *self.panel.knobs, self.puzzles, *self.tab.form_outputs]))

    @property
    def race_outputs(self) -> list[Any]:
        """What a race changes while it runs; fewer, because every step of it is sent for each of them."""
        fields = self.tab.form.fields
        left_out = {self.tab.form.drawer.picture, *(field for name, field in fields.items() if name != "lanes")}
        return [part for part in self.outputs if part not in left_out]

    def show(self, update: RaceUpdate) -> Changes:
        knobs = self.panel.set(update.results.panel) if update.results else {}
        puzzles = {self.puzzles: update.results.puzzles} if update.results else {}
        return {**self.tab.show(update), **knobs, **puzzles}


def wire_races(page: gr.Blocks, context: PageContext, view: RaceView, hidden: HiddenParts) -> Dependency:
    """Returns the event that races."""
    tab = view.tab
    form, replays = tab.form, tab.replays

    def run(values: Values, request: gr.Request) -> Iterator[Changes]:
        for update in race_events.run_race(
            context, visitor_of(context, request), form.read(values), first_paint.seconds_for(client_host(request))
        ):
            yield view.show(update)

    @one_at_a_time
    def show_race(values: Values, request: gr.Request) -> Changes:
        chosen = values[replays.earlier]
        return view.show(earlier_races.show_race(context, visitor_of(context, request), chosen, form.read(values)))

    deployment = context.studio.deployment
    openings = Openings(most_here=MOST_HERE) if deployment.is_public else Openings()

    @paid
    def read_file(values: Values, visitor: str) -> Changes:
        with collecting_later():
            return view.show(earlier_races.open_file(context, visitor, values[replays.upload], form.read(values)))

    async def open_file(values: Values, request: gr.Request) -> Changes:
        visitor = visitor_of(context, request)
        try:
            async with openings.turn(visitor, visitor.owner, len(values[replays.upload] or b"")):
                return await read_file(values, visitor)
        except Refusal as refusal:
            return view.show(RaceUpdate(StatusLine(str(refusal), "refused")))

    def leave(request: gr.Request) -> None:
        context.studio.visitors.leave(visitor_of(context, request))

    # Gradio runs the events of one click in the order of their definition, each when the one before has ended.
    form.start.click(None, None, [tab.status], js=scripts.BEGIN_RACE, **PRIVATE)
    replays.earlier.input(None, [replays.earlier], js=scripts.CHOOSE_RACE, **PRIVATE)
    replays.upload.upload(None, js=scripts.LEAVE_RACE, **PRIVATE)
    racing = form.start.click(
        run,  # an event named like the endpoint would take its name
        form.inputs,
        view.race_outputs,
        trigger_mode="once",
        show_progress_on=[tab.status],
        **PRIVATE,
        **on_device(context),
    )
    chosen = gr.Button("Show the race in the list", visible="hidden", elem_id="show-race")
    keep_typed(chosen.click(show_race, {replays.earlier, *form.inputs}, view.outputs, **QUICK), form)
    keep_typed(replays.upload.upload(open_file, {replays.upload, *form.inputs}, view.outputs, **QUICK), form)
    racing.then(None, [tab.status], js=scripts.END_RACE, **PRIVATE)
    wire_stop(context, form.stop, tab.status, hidden)
    for kind, button in tab.results.save_figures.items():
        button.click(None, js=scripts.download_figures(kind), **PRIVATE)
    page.unload(leave)
    return racing


def keep_typed(filling: Dependency, form: RaceForm) -> Dependency:
    """What was typed while an event filled in the form takes the place of what it filled in."""
    return filling.then(None, form.typed, form.typed, js=scripts.KEEP_TYPED, **PRIVATE)


def wire_stop(context: PageContext, button: gr.Button, status: gr.HTML, hidden: HiddenParts) -> None:
    """Stop runs at once, outside the queue. The browser cancels a race that waits; one that runs must not be
    cancelled, since that would lose its last events.

    The browser itself says "Stopping.": the server's answer may come after the race's end, whose line stays."""

    def stop(request: gr.Request) -> Changes:
        update = race_events.stop_race(context, visitor_of(context, request))
        if update is None:
            return {hidden.press: ""}
        return {status: views.status_html(update), hidden.press: hidden.leave_queue.elem_id}

    button.click(None, None, [status], js=scripts.STOPPING, trigger_mode="multiple", **PRIVATE)
    stopping = button.click(stop, None, [status, hidden.press], trigger_mode="multiple", **QUICK)
    stopping.then(None, [hidden.press], js=scripts.PRESS, **PRIVATE)


def wire_puzzles(context: PageContext, panel: gr.HTML) -> None:
    @paid
    def check_guess(value: Any, request: gr.Request) -> dict[str, Any]:
        return puzzle_panel.check_guess(context, visitor_of(context, request), value)

    panel.input(check_guess, [panel], [panel], **QUICK)
