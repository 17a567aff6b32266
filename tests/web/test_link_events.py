"""Links: what is copied of the form, and what they fill into it again, without Gradio."""

from __future__ import annotations

from dataclasses import asdict, replace
from urllib.parse import parse_qsl

import pytest
from fake_page import HOME, context, fields

from csd.decoding.k_matrix import format_K
from csd.web import form_events, link_events
from csd.web.fields import CUSTOM, FamilyFields, PageFields
from csd.web.updates import FormUpdate

DEFAULTS = HOME.defaults


@pytest.fixture(scope="module")
def page():
    return context()


def opened(page, query: str) -> FormUpdate:
    """What a copied link fills in."""
    return link_events.open_link(page, "v", dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True)))


def test_a_link_takes_the_form_to_another_page(page):
    sent = fields(page.start, prompt="A fox & a hen", K="[[2,4,6],[0,1,2],[0,0,1]]", max_new=32, always=True)
    query, omitted = link_events.copy_link(page, "v", sent)
    assert omitted == ""
    assert "family" not in query
    update = opened(page, query)
    assert PageFields.from_values(update.values) == sent
    assert update.status.text == "The link has filled in the form. Press Race."
    assert link_events.copy_link(page, "v", page.start) == ("", "")
    assert link_events.open_link(page, "v", {}) == FormUpdate()


def test_a_link_may_hide_controls(page):
    assert link_events.open_link(page, "v", {"hide": "advanced, seed"}) == FormUpdate()
    update = link_events.open_link(page, "v", {"hide": "seed,everything", "k": "9"})
    assert update.values["k"] == 9
    assert "'everything', which is not on this page. It can hide: advanced, " in update.status.text


def test_a_link_selects_the_preset_that_it_agrees_with(page):
    paper = DEFAULTS.find_preset("paper's K")
    query, _ = link_events.copy_link(page, "v", fields(page.start, **paper.fields()))
    assert opened(page, query).presets.selected == "paper's K"


def test_what_is_wrong_in_a_link_is_said_and_left_out(page):
    update = link_events.open_link(page, "v", {"k": "0", "family": CUSTOM, "nonsense": "1", "seed": "7"})
    assert (update.values["family"], update.values["k"], update.values["seed"]) == ("embedded", page.start.form.k, 7)
    for part in ("The link has filled in the form.", "The models in the link were ignored.", "'nonsense'", "k must be"):
        assert part in update.status.text
    alone = link_events.open_link(page, "v", {"nonsense": "1"})
    assert alone.values == page.start.values()
    assert "Press Race" not in alone.status.text


def test_a_link_that_asks_for_too_much_says_so(page):
    update = link_events.open_link(page, "v", {"max_new": "99999"})
    assert update.values["max_new"] == 99999, "nothing that was asked for is lost"
    assert update.status.text == (
        "The link has filled in the form. This model reads at most 1,024 tokens, the prompt included."
    )


def test_a_link_may_name_a_family_as_it_was_called(page):
    update = link_events.open_link(page, "v", {"family": "SmolLM2"})
    assert update.values["family"] == "SmolLM2 1.7B"


def test_a_link_of_another_family_brings_its_drafts(page):
    update = link_events.open_link(page, "v", {"family": "Qwen3", "K": format_K(DEFAULTS.preset.K)})
    assert update.drafts == ("Qwen3-1.7B", "Qwen3-0.6B")
    assert update.values["draft"] in update.drafts


@pytest.mark.parametrize(
    "family",
    [
        FamilyFields("embedded", device="cpu"),
        FamilyFields(CUSTOM, target="a/b"),
        FamilyFields(CUSTOM, target="a/b", others="c/d"),
    ],
)
def test_a_link_brings_the_copies_along(page, family):
    with_copy = replace(family, copies=["self-8bit"]).filled_in()
    values = {**page.start.values(), **asdict(with_copy), **with_copy.to_choice().defaults.preset.fields()}
    sent = PageFields.from_values(values)
    query, _ = link_events.copy_link(page, "v", sent)
    assert "copies=self-8bit" in query
    assert PageFields.from_values(opened(page, query).values) == sent


def test_the_link_of_a_recorded_race_is_its_address_until_the_form_says_otherwise(page):
    race = page.landing
    update = form_events.restore_form(page, race)
    shown = PageFields.from_values(update.values)
    assert link_events.copy_link(page, "v", shown, race.id) == (f"#race={race.id.removeprefix('recorded-')}", "")
    for other in ({"prompt": "My own."}, {"seed": 7}, {"max_new": 12}):
        query, _ = link_events.copy_link(page, "v", PageFields.from_values({**update.values, **other}), race.id)
        assert query.startswith("?"), other
    assert link_events.copy_link(page, "v", shown, "of a visitor")[0] == link_events.copy_link(page, "v", shown)[0]
