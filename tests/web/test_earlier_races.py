"""A race that is shown again, or comes from an address or a file: what the page is told, without Gradio."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fake_page import RECORDED, context, fields, race
from handmade import RACE

from csd.record.recording import Recording
from csd.request.form import to_fields
from csd.request.request import Request
from csd.web import earlier_races, race_end
from csd.web.fields import CUSTOM, PageFields
from csd.web.race_tab import land
from csd.web.races import FinishedRace


@pytest.fixture
def page():
    return context()


def test_an_earlier_race_and_a_recorded_one_are_shown_again(page):
    ended = race(page)[-1]
    again = earlier_races.show_race(page, "v", ended.results.race_id, page.start)
    assert again.status.text.startswith(ended.status.text)
    assert not json.loads(again.stage.log.splitlines()[-1])["play"]
    race_id, recorded = next(iter(page.recorded.items()))
    shown = earlier_races.show_race(page, "v", race_id, page.start)
    assert json.loads(shown.stage.log.splitlines()[0])["text"] == recorded.origin
    assert json.loads(shown.stage.log.splitlines()[-1])["play"]
    for visitor, unknown in (("w", ended.results.race_id), ("v", None)):
        assert "no longer available" in earlier_races.show_race(page, visitor, unknown, page.start).status.text


def test_a_race_that_was_stopped_at_once_takes_no_place(page):
    """There is nothing of it to see: the page shows the one before."""
    ended = race(page)[-1]
    nothing = tuple(replace(trace, steps=(), end="stopped") for trace in RECORDED)
    page.studio.visitors.keep_race("v", FinishedRace("race 9", "stopped", Recording(nothing)))
    shown = earlier_races.show_address(page, "v", "", page.start)
    assert shown.results.race_id == ended.results.race_id
    assert "race 9" not in {name: title for title, name in shown.results.listed}


@pytest.mark.parametrize("changes", [{"seed": -1, "temperature": 1.0}, {"family": CUSTOM}])
def test_a_page_that_is_loaded_again_beside_a_refused_race_has_its_whole_form(page, changes):
    """And says why it was refused, over the race before it."""
    (refused,) = race(page, **{"prompt": "My own", **changes})
    again = earlier_races.show_address(page, "v", "", page.start)
    assert again.form.values == {**page.start.values(), "prompt": "My own", **changes}
    assert again.stage.race == page.landing.id
    told = json.loads(again.stage.log.splitlines()[-1])["text"]
    assert refused.status.text in told and told.endswith(race_end.BELOW)
    race(page)
    assert earlier_races.show_address(page, "v", "", page.start).stage.race != page.landing.id, (
        "a race that ended is shown"
    )


def test_a_prompt_that_is_too_long_to_keep_is_left_to_the_browser(page):
    race(page, prompt="word " * 50_000, seed=7)
    form = earlier_races.show_address(page, "v", "", page.start).form
    assert "prompt" not in form.values and form.values["seed"] == 7
    assert not page.studio.visitors.find("v").unfinished.fields.form.prompt


def test_a_race_that_is_shown_takes_the_place_of_a_refused_one(page):
    race(page, seed=-1, temperature=1.0)
    earlier_races.show_race(page, "v", next(iter(page.recorded)), page.start)
    assert page.studio.visitors.find("v").unfinished is None


def test_a_file_is_opened_and_kept(page):
    recording = Recording(RECORDED, "My race", machine="a machine", date="2026-01-02")
    update = earlier_races.open_file(page, "v", recording.to_gzip(), page.start)
    assert update.results.listed[0] == ("From a file: My race", update.results.race_id)
    assert "From a file, recorded on 2026-01-02, on a machine." in update.stage.log
    assert Recording.from_bytes(Path(update.results.files.traces).read_bytes()) == recording
    assert earlier_races.show_race(page, "v", update.results.race_id, page.start).status.state == "ended"
    for data in (None, b"", b"{}", b"nonsense"):
        refused = earlier_races.open_file(page, "v", data, page.start)
        assert (refused.status.state, refused.stage) == ("refused", None)


def test_a_level_may_be_called_overhead(page):
    data = Recording(RACE).to_json().replace('"small"', '"overhead"').encode()
    update = earlier_races.open_file(page, "v", data, page.start)
    assert update.status.state == "ended" and update.results.figures


def test_a_file_that_cannot_be_shown_is_told_and_not_kept(page, monkeypatch, caplog):
    before = page.studio.visitors.races("v")
    monkeypatch.setattr(race_end, "make_results", lambda *_: {}["a fault"])
    update = earlier_races.open_file(page, "v", Recording(RECORDED).to_gzip(), page.start)
    assert (update.status.text, update.status.state) == (earlier_races.UNSHOWN, "refused")
    assert update.stage is None and page.studio.visitors.races("v") == before
    assert "KeyError" in caplog.text


def test_a_file_fills_in_the_form_with_its_settings(page):
    recording = Recording(RECORDED)
    update = earlier_races.open_file(page, "v", recording.to_gzip(), page.start)
    _, request = PageFields.from_values(update.form.values).to_request()
    assert to_fields(request) == to_fields(Request.from_traces(RECORDED))
    assert update.family.status.state == "waiting"
    assert "form" not in update.status.text


@pytest.mark.parametrize("changes", [{"family": "custom: a/b"}, {"rule": "none", "temperature": 1.0}])
def test_a_file_with_settings_for_which_there_are_no_fields_leaves_the_form(page, changes):
    traces = tuple(replace(trace, header=replace(trace.header, **changes)) for trace in RECORDED)
    update = earlier_races.open_file(page, "v", Recording(traces).to_gzip(), page.start)
    assert update.form is None
    assert update.status.state == "ended"


def test_the_page_starts_with_a_recorded_race(page):
    landing = land(page, page.landing)
    assert landing.stage.race == next(iter(page.recorded))
    kinds = [json.loads(line)["t"] for line in landing.stage.log.splitlines()]
    assert kinds[:2] == ["message", "open"]


def test_a_race_that_is_shown_brings_its_prompt_and_settings_into_the_form(page):
    *_, last = (race for race in page.recorded.values() if race.recording.family == "embedded")
    update = earlier_races.show_race(page, "v", last.id, page.start)
    shown = PageFields.from_values(update.form.values)
    assert to_fields(shown.to_request()[1]) == to_fields(Request.from_traces(last.traces))
    assert update.family.status.state == "waiting"
    back = earlier_races.show_race(page, "v", page.landing.id, shown)  # nothing of it was typed
    assert PageFields.from_values(back.form.values) == page.start


@pytest.mark.parametrize(
    "typed",
    [{"prompt": "Why is the sea salty?"}, {"K": "[[2,4,6],[0,1,2],[0,0,1]]"}, {"family": CUSTOM, "target": "a/b"}],
)
def test_what_the_visitor_typed_is_never_replaced_by_a_race(page, typed):
    update = earlier_races.show_race(page, "v", page.landing.id, fields(page.start, **typed))
    assert update.stage.race == page.landing.id
    assert update.form is None
    assert update.status.text.endswith(earlier_races.KEPT)


def test_a_typed_prompt_that_was_raced_is_among_the_races_and_may_be_replaced(page):
    traces = tuple(replace(one, header=replace(one.header, text="Why is the sea salty?")) for one in RECORDED)
    kept = earlier_races.open_file(page, "v", Recording(traces).to_gzip(), page.start)
    typed = PageFields.from_values(kept.form.values)
    assert typed.form.prompt == "Why is the sea salty?"
    assert earlier_races.show_race(page, "v", page.landing.id, typed).form


def test_the_address_names_a_race(page):
    *_, last = page.recorded
    named = earlier_races.show_address(page, "v", "race=" + last.removeprefix("recorded-"), page.start)
    assert named.stage.race == last
    assert earlier_races.show_address(page, "v", "", page.start).stage.race == page.landing.id
    ended = race(page)[-1]
    assert earlier_races.show_address(page, "v", "", page.start).stage.race == ended.results.race_id
    unknown = earlier_races.show_address(page, "v", "race=<b>", page.start)
    assert (unknown.status.state, unknown.stage) == ("refused", None)
