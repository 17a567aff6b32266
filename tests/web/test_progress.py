"""Which parts of the page Gradio tells of the steps of its events."""

from __future__ import annotations


def test_two_parts_of_the_page_are_told_of_every_step_of_a_race(served):
    """Gradio tells them to all that has been told of an event so far."""
    events = [event for event in served.page.fns.values() if event.fn]
    told = {
        part._id for event in events for part in event.show_progress_on or event.outputs if event.api_name != "race"
    }
    assert len(events) > 50 and len(told) == 2
