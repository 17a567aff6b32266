"""The lines on the chosen family, from waiting to ready, without Gradio."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

import pytest
from fake_page import HOME, context, fields, load_family, run_recorded
from in_a_loop import in_a_loop

from csd.models import catalog
from csd.record.recording import bundled_recordings
from csd.web import examples, family_events
from csd.web.context import make_context
from csd.web.fields import CUSTOM
from csd.web.loads import FamilyChoice
from csd.web.studio import Studio
from csd.web.updates import StatusLine
from csd.web.views import family_html, status_html

OTHER = FamilyChoice(catalog.find("Qwen3"), "cpu")


@pytest.fixture
def page():
    return context()


def test_the_lines_follow_a_family_until_it_is_ready():
    gate = threading.Event()

    def load(spec, *rest):
        assert gate.wait(20)
        return load_family(spec)

    page = context(load=load)

    async def states() -> list[str]:
        found = []
        async for lines in family_events.follow_family(page, "v", page.start.family, 0):
            if not found:
                family_events.load_family(page, "v", page.start.family)
            elif lines.status.state == "loading":
                gate.set()
            found.append(lines.status.state)
        return found

    seen = in_a_loop(states())
    assert list(dict.fromkeys(seen)) == ["waiting", "loading", "ready"]
    assert page.studio.families.page_seen.is_set()


def test_one_family_is_followed_at_a_time():
    """Or the lines would go to and fro between two that load."""
    gate = threading.Event()
    page = context(load=lambda spec, *_: gate.wait(20) and load_family(spec))
    page.studio.families.ensure_loading(page.studio.home)

    async def follow() -> list[str]:
        first = family_events.number_of_first(page, "v")
        lines = family_events.follow_family(page, "v", page.start.family, first)
        seen = [(await anext(lines)).status.state]
        family_events.number_of_next(page, "v")
        seen.extend([one.status.state async for one in lines])
        gate.set()
        return seen

    assert len(in_a_loop(follow())) == 1


def test_the_family_that_answers_own_words_is_told_about():
    page = context(behind=(OTHER,))
    families = page.studio.families
    assert "Qwen3 is loading" in family_events.family_lines(page, page.start.family).about
    families.ensure_loading(OTHER)
    while families.any_loading:
        pass
    assert "Qwen3 is ready: it answers" in family_events.family_lines(page, page.start.family).about
    assert "it answers" not in family_events.family_lines(page, fields(page.start, family="Qwen3").family).about


@pytest.mark.parametrize(("family", "state"), [("Qwen3", "waiting"), (CUSTOM, "failed")])
def test_the_lines_do_not_wait_for_a_family_that_nobody_loads(page, family, state):
    async def follow() -> list[str]:
        found = fields(page.start, family=family).family
        return [lines.status.state async for lines in family_events.follow_family(page, "v", found, 0)]

    assert in_a_loop(follow()) == [state]


def test_loading_starts_on_request(page):
    family_events.load_family(page, "v", fields(page.start, family=CUSTOM).family)
    assert not page.studio.families.any_loading
    family_events.load_family(page, "v", page.start.family)
    assert page.studio.families.status(page.studio.home).state in ("queued", "loading", "ready")


def test_html_escapes_what_comes_from_others(page):
    assert "&lt;b&gt;" in status_html(StatusLine("<b>"))
    lines = family_events.family_lines(page, fields(page.start, family=CUSTOM, target="<i>").family)
    assert "<i>x" not in family_html(lines.status)
    assert "&lt;i&gt;" in family_html(lines.status)


def test_what_is_damaged_is_said_beside_the_family(monkeypatch, tmp_path):
    monkeypatch.setattr("csd.web.races.bundled_recordings", partial(bundled_recordings, tmp_path))
    (tmp_path / "1-cut.json.gz").write_bytes(b"{")
    bad = replace(HOME.spec, prompts=str(tmp_path / "none.json"))
    page = make_context(Studio(FamilyChoice(bad, "cpu"), load_family, run_recorded))
    assert (page.recorded, page.landing, page.start.form.prompt) == ({}, None, "Once upon a time")
    assert examples.example_kinds(bad) == ("text",)
    assert "The recorded race 1-cut.json.gz is left out." in family_events.family_lines(page, page.start.family).about
    assert "cannot be read" in examples.find_fault(bad) and not examples.find_fault(HOME.spec)
