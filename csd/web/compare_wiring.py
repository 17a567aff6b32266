"""Which component of the Compare tab runs which event."""

from __future__ import annotations

from collections.abc import Iterator

import gradio as gr
from gradio.events import Dependency

from csd.web import compare_events, first_paint, usual_lanes
from csd.web.compare import TWO_PLANS
from csd.web.compare_settings import from_settings
from csd.web.compare_tab import CompareTab, lead_html
from csd.web.context import PageContext
from csd.web.examples import plan_of_text
from csd.web.giving_turns import Pause, giving_way
from csd.web.named_plans import plan_after
from csd.web.one_at_a_time import paid
from csd.web.race_form import Values
from csd.web.race_size import request_size
from csd.web.race_tab import RaceTab
from csd.web.wiring import PRIVATE, QUICK, Changes, HiddenParts, client_host, on_device, visitor_of, wire_stop


def wire_comparison(context: PageContext, tab: CompareTab, race: RaceTab, hidden: HiddenParts) -> Dependency:
    """Returns the event that compares."""

    @giving_way
    def compare(values: Values, request: gr.Request) -> Iterator[Changes | Pause]:
        asked, fields = tab.read(values), race.form.read(values)
        for update in compare_events.run_comparison(
            context, visitor_of(context, request), asked, fields, first_paint.seconds_for(client_host(request))
        ):
            shown = tab.show(update)
            if update.between is None:
                yield shown
            else:
                size = request_size(update.between.next, context.studio.deployment.max_tokens)
                yield Pause(shown, size, update.between.stop.is_set)

    @paid
    def show_what(values: Values, request: gr.Request) -> Changes:
        is_pair = values[tab.what] == TWO_PLANS
        show = compare_events.show_pair if is_pair else compare_events.show_example
        return {
            tab.lead: lead_html(values[tab.what], race.form.read(values).form.prompt or ""),
            tab.pair: gr.Row(visible=is_pair),
            **fit(values),
            **tell_settings(values),
            **tab.show(show(context, visitor_of(context, request))),
        }

    def tell_settings(values: Values) -> Changes:
        """Two plans bring their own methods."""
        is_pair = values[tab.what] == TWO_PLANS
        return tab.tell_settings("" if is_pair else from_settings(context, race.form.read(values)))

    def show_usual_methods(values: Values) -> Changes:
        update = usual_lanes.show_usual_methods(context, race.form.read_family(values))
        return {**race.form.fill(update), **tab.tell_settings("")}

    @paid
    def show_other(label: str, request: gr.Request) -> Changes:
        show = compare_events.show_recorded if label == compare_events.RECORDED else compare_events.show_example
        return tab.show(show(context, visitor_of(context, request)))

    def fit(values: Values) -> Changes:
        """The plans for the family and the prompt of the form."""
        fields = race.form.read(values)
        try:
            choice = fields.family.to_choice()
        except ValueError:  # a custom family that is not filled in yet
            return {}
        changes: Changes = {}
        of_text = plan_of_text(choice, fields.form.prompt)
        for number, plan in enumerate(tab.plans):
            after = plan_after(plan.read(values), choice.defaults, number, of_text)
            changes |= plan.set(after, choice.defaults, of_text)
        return changes

    both = [part for plan in tab.plans for part in plan.outputs]
    shown, settings = {*tab.inputs, *race.form.inputs}, [tab.settings, tab.differs]
    gr.on(
        [tab.tab.select, tab.what.input],
        show_what,
        shown,
        [tab.lead, tab.pair, *both, *settings, *tab.outputs],
        **QUICK,
    )
    usual = [race.form.preset, *race.form.named(context.studio.home.defaults.preset.fields())]
    tab.usual.click(show_usual_methods, race.form.family_inputs, [*usual, *settings], **QUICK)
    tab.other.click(show_other, [tab.other], tab.outputs, **QUICK)
    for plan in tab.plans:
        plan.name.input(fit, shown, both, **QUICK)
    wire_stop(context, tab.stop, tab.status, hidden)
    return tab.start.click(
        compare,
        {*tab.inputs, *race.form.inputs},
        tab.outputs,
        trigger_mode="once",
        show_progress="hidden",
        **PRIVATE,
        **on_device(context),
    )
