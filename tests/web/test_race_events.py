"""A race that runs, and its end: what the page is told, without Gradio."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from fake_page import RECORDED, context, race, run_stopped
from paired import alone, drafted

from csd.decoding.errors import Refusal
from csd.models import catalog
from csd.record.recording import Recording
from csd.run import LaneFinished, RaceStarted
from csd.web import earlier_races, other_models, race_end, race_events
from csd.web.fields import CUSTOM
from csd.web.loads import FamilyChoice
from csd.web.race_thread import STOPPED_BEFORE
from csd.web.races import FinishedRace, prompt_start, recorded_races, replay_log
from csd.web.updates import RaceUpdate, StatusLine
from csd.web.views import describe_end, status_html


@pytest.fixture
def page():
    return context()


def kinds(log: str) -> list[str]:
    return [json.loads(line)["t"] for line in log.splitlines()]


def test_a_race_is_told_from_waiting_to_its_results(page):
    updates = race(page)
    assert "when the models are loaded" in updates[0].status.text
    first = next(update for update in updates if update.stage)
    assert first.status.text == "Racing."
    assert (first.family.status.state, "Noted." in first.family.about) == ("ready", True)
    last = updates[-1]
    assert last.status.text.startswith("Done: 64 tokens each.")
    assert last.status.state == "ended"
    assert kinds(last.stage.log) == ["open", *["end"] * len(RECORDED), "close"]
    assert all(update.results is None for update in updates[:-1])


def test_a_prompt_without_a_word_is_refused_before_any_models_are_loaded(page):
    said = [update.status.text for update in race(page, prompt=" ") if update.status]
    assert said == ["The prompt is empty. Write one, or pick an example."]


def test_a_race_says_why_its_factor_is_not_that_of_the_recorded_one(page):
    update = RaceUpdate(StatusLine("Done: 64 tokens each.", "ended", spoken=True))
    landing = page.landing
    slow = tuple(replace(one, steps=one.steps) for one in landing.traces)
    slow = (drawn_out(slow[0]), *slow[1:])  # without guesses it took twice as long
    recording = replace(landing.recording, traces=slow)

    def told(**changes) -> str:
        own = FinishedRace("own", "", replace(recording, **changes))
        return race_end.tell_recorded(update, landing, own).status.text

    assert re.fullmatch(
        r"[\d.]+× was measured on this machine now. The recording had 4.5×, on another processor.",
        told(machine="Other, 2"),
    )
    assert told().endswith("was measured now. The recording had 4.5×: speeds vary from run to run.")
    assert told(traces=landing.traces) == update.status.text, "the same factor"
    assert told(traces=slow[:2]) == update.status.text, "other lanes"


def drawn_out(trace):
    """The same text at half the speed."""
    steps = tuple(
        replace(
            step,
            start=2 * step.start,
            seconds=2 * step.seconds,
            review=replace(step.review, seconds=2 * step.review.seconds),
        )
        for step in trace.steps
    )
    return replace(trace, steps=steps)


@pytest.mark.slow
def test_the_form_shows_the_lanes_that_an_edited_K_brought(page):
    adaptive = ["autoregressive", "adaptive cascade"]
    updates = race(page, K="[[2,4,6],[0,1,2],[0,0,1]]", lanes=adaptive)
    (form,) = [update.form for update in updates if update.form]
    assert "cascade" in form.values["lanes"] and "adaptive cascade" not in form.values["lanes"]
    assert any(update.status.text.endswith(race_events.EDITED_K) for update in updates if update.status)
    assert all(update.form is None for update in (*race(page), *race(page, lanes=adaptive)))


def test_the_results_have_figures_files_and_a_list_of_races(page):
    results = race(page)[-1].results
    assert len(results.figures) == 4
    assert "<table>" in results.comparison
    assert results.listed[0][0].startswith("1. ")
    assert results.listed[0][1] == results.race_id
    assert [race_id for _, race_id in results.listed[1:]] == list(page.recorded)
    assert Recording.from_bytes(Path(results.files.traces).read_bytes()).traces == RECORDED
    assert "<html" in Path(results.files.replay).read_text("utf-8")
    often, cost = results.panel.groups
    assert results.panel.drafts == ("small", "tiny")
    assert (len(often.sliders), len(cost.sliders)) == (6, 3)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": None}, "The number of guesses k is empty"),
        ({"lanes": ["cascade"]}, "Choose 2 to 4"),
        ({"lanes": ["speculative", "cascade"], "K": "[[1]]"}, "K must have 3 rows"),
        ({"family": CUSTOM}, "The name of a model is empty"),
    ],
)
def test_a_form_that_cannot_be_run_is_refused(page, changes, sentence):
    (update,) = race(page, **changes)
    assert update.status.state == "refused"
    assert sentence in update.status.text
    assert (update.family.status.state == "failed") == ("family" in changes)


def test_a_refusal_names_the_first_wrong_field_and_counts_the_others(page):
    lanes = ["autoregressive", "cascade"]
    (update,) = race(page, lanes=lanes, max_new=1_000_000, K="[[1]]", temperature=-2, k=None)
    assert update.status.text == (
        "New tokens must be a whole number from 1 to 1,023, not 1000000. 2 more settings need a change."
    )
    assert 'data-field="max-new"' in status_html(update.status)
    (update,) = race(page, lanes=lanes, K="[[1]]", temperature=-2)
    assert update.status.text.endswith("1 more setting needs a change.") and update.status.field == "temperature"


def test_a_wrong_value_that_no_lane_uses_stops_no_race(page):
    updates = race(page, lanes=["autoregressive", "adaptive cascade"], K="[[8,4,2],[0,0,0],[0,0,0]]", k=0)
    assert any(update.status and update.status.text.endswith(race_events.WRONG_K) for update in updates)
    assert updates[-1].results is not None
    updates = race(page, seed=-1, top_p=7, temperature=0)
    assert not any(update.status and race_events.WRONG_K in update.status.text for update in updates)
    assert updates[-1].results is not None
    assert race(page, seed=-1, temperature=1)[-1].status.field == "seed"


def test_one_token_is_no_plural():
    def said(*traces) -> str:
        return describe_end(FinishedRace("r", "", Recording(traces)))

    assert said(alone((1,)), drafted((1,))) == "Done: 1 token each."
    assert said(alone((1,))) == "Done: autoregressive 1 token."
    assert said(alone((1,)), drafted((1, 2))) == "Done: autoregressive 1 token, cascade 2 tokens."


@pytest.mark.slow
def test_a_stopped_race_says_so():
    assert race(context(run_stopped))[-1].status.text.startswith("The race was stopped after")


@pytest.mark.slow
def test_a_race_that_was_stopped_before_its_first_step_is_not_listed_and_another_says_that_it_was_stopped():
    def run(family, request, stopped):
        for lane, trace in enumerate(RECORDED):
            yield LaneFinished(lane, replace(trace, steps=(), end="stopped"))

    page = context(run)
    last = race(page)[-1]
    assert [race_id for _, race_id in last.results.listed] == list(page.recorded)
    assert last.status.text.startswith("The race was stopped after")
    assert last.stage.race == last.results.race_id == page.landing.id, "the stage is not left empty"
    told = json.loads(last.stage.log.splitlines()[-1])
    assert told == {"t": "ask", "text": race_events.STOPPED + race_end.BELOW}
    again = earlier_races.show_address(page, "v", "", page.start)
    assert again.form.values["prompt"] and race_events.STOPPED in again.stage.log, (
        "a page that is loaded again has its form"
    )
    assert race(context(run_stopped))[-1].results.listed[0][0].endswith(" · stopped")
    done = race(context())[-1].results.listed[0][0]
    assert re.search(r" · (adaptive )?cascade \d+(\.\d+)?×$", done), "what the race came to"


@pytest.mark.parametrize(
    ("refusal", "told"),
    [(STOPPED_BEFORE, race_events.STOPPED), ("No room.", race_events.REFUSED.format(why="No room."))],
)
def test_a_page_that_is_loaded_again_says_why_there_was_no_race(refusal, told):
    def run(family, request, stopped):
        raise Refusal(refusal)
        yield

    page = context(run)
    race(page)
    again = earlier_races.show_address(page, "v", "", page.start)
    assert json.loads(again.stage.log.splitlines()[-1])["text"] == told + race_end.BELOW


def test_stop_takes_a_race_that_has_not_started_out_of_the_queue(page):
    assert race_events.stop_race(page, "v").text == "Stopped. Your race is no longer running or queued."
    page.studio.visitors.state("v").stop = flag = threading.Event()
    assert race_events.stop_race(page, "v") is None, (
        "its own end is what the status line says last, whatever comes first"
    )
    assert flag.is_set()


def test_a_lane_that_failed_says_why_and_the_others_are_kept():
    def run(family, request, stopped):
        yield RaceStarted(tuple(trace.header for trace in RECORDED), {**RECORDED[0].pieces})
        yield LaneFinished(0, RECORDED[0])
        for lane, trace in enumerate(RECORDED[1:], 1):
            yield LaneFinished(lane, replace(trace, end="stopped"), "The model broke.")

    page = context(run)
    last = race(page)[-1]
    assert last.status.text == "The model broke."
    assert page.studio.visitors.find_race("v", last.results.race_id).traces[0] == RECORDED[0]


def test_prompts_are_named_on_one_short_line():
    assert prompt_start("a\nb") == "a b"
    assert prompt_start("x" * 50) == "x" * 40 + "…"


def test_who_runs_is_told_where_it_is_not_the_models_of_the_first_race():
    page, smollm2 = context(), FamilyChoice(catalog.find("smollm2"), "cpu")
    assert other_models.who_runs(page, page.studio.home, False) == ("", "")
    asked = "SmolLM2 135M answers your own prompts; its 8-bit copy (cheaper to run) and the copier guess ahead."
    assert other_models.who_runs(page, smollm2, False) == ("SmolLM2 135M", asked)
    assert (
        other_models.who_runs(page, smollm2, True)[1]
        == "SmolLM2 135M runs; its 8-bit copy (cheaper to run) and the copier guess ahead."
    )
    why = "SmolLM2 135M answers your own prompts: the demo models know little beyond the examples."
    assert other_models.why_others(page, smollm2, False) == why
    assert other_models.why_others(page, smollm2, True) == other_models.why_others(page, page.studio.home, False) == ""


def test_a_replay_of_other_models_than_the_demo_ones_names_them():
    shown = {name: json.loads(replay_log(race, False).splitlines()[1]) for name, race in recorded_races().items()}
    assert shown["recorded-1-story-an-otter-makes-a-boat"]["models"] == ""
    assert shown["recorded-h100-1-word-problem-stickers"]["models"] == "7B-sized demo models"
    assert shown["recorded-smollm2-1-rewrite-another-name"]["models"] == "SmolLM2 135M"
