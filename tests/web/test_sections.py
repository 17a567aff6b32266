"""The sections of the settings: what their headings say, and what opens them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from browser import box
from fake_page import context, fields

from csd.decoding.methods import Cascade
from csd.web.fields import CUSTOM
from csd.web.preset_names import labelled
from csd.web.puzzles import PUZZLES
from csd.web.section_words import section_words

OPEN = "[...document.querySelectorAll('#advanced .section[data-open]')].map(({ id }) => id).join()"


@pytest.fixture(scope="module")
def start():
    start = context().start
    return replace(start, family=replace(start.family, device="auto"))


def test_the_headings_say_what_the_sections_hold(start):
    words = section_words(start)
    assert words["sampling"] == "always the likeliest token"
    assert words["guesses"] == f"the small model guesses {start.form.k}, the copier {start.form.lookup}"
    assert (words["plan"], words["models"]) == ("tuned to this text", "chosen automatically")


@pytest.mark.parametrize(
    ("changes", "section", "said"),
    [
        ({"temperature": 0.8, "seed": 3}, "sampling", "temperature 0.8, seed 3"),
        ({"temperature": 1, "top_k": 40, "top_p": 0.9}, "sampling", "temperature 1, seed 0, top-k 40, top-p 0.9"),
        ({"temperature": None, "seed": "x"}, "sampling", "temperature ?, seed ?"),
        ({"always": True}, "sampling", "always the likeliest token, past the end of the text"),
        ({"draft": "tiny", "k": 3}, "guesses", "the tiny model guesses 3, the copier 8"),
        ({"prompt": "My own words"}, "plan", "tuned to another text"),
        ({"K": "[[2,4,6],[0,1,2],[0,0,1]]"}, "plan", "your own"),
        ({"K": "[[2,"}, "plan", "it has a mistake"),
        ({"dtype": "bfloat16"}, "models", "bfloat16"),
        ({"copies": ["self-8bit"], "device": "cpu"}, "models", "on cpu, 8-bit copy"),
        ({"family": CUSTOM}, "models", "name a big model"),
    ],
)
def test_the_headings_follow_the_fields(start, changes, section, said):
    assert section_words(fields(start, **changes))[section] == said


def test_every_plan_of_a_preset_has_the_word_that_the_list_has(start):
    defaults = start.family.to_choice().defaults
    with_plan = [preset for preset in defaults.presets if Cascade.name in preset.lanes]
    said = [section_words(fields(start, K=preset.fields()["K"]))["plan"] for preset in with_plan]
    assert said == ["tuned to these models", "the paper's"]
    assert [label for label, _ in labelled([one.name for one in with_plan])] == [
        "cascade, tuned plan",
        "cascade, the paper's",
    ]


@pytest.mark.slow
def test_the_drawer_is_short_and_a_section_opens_at_a_press(tab):
    page = tab.page
    page.click("#more")
    assert page.evaluate(OPEN) == ""
    last = box(page, "#models-section")
    assert last["y"] + last["height"] <= 720, "all of it is in the window"
    assert not page.is_visible("#temperature")
    heading = page.get_by_role("button", name="Sampling always the likeliest token")
    assert heading.get_attribute("aria-expanded") == "false"
    heading.press("Enter")
    page.fill("#temperature input", "0.5")
    page.get_by_role("button", name="Sampling temperature 0.5, seed 0").wait_for()
    tab.reload()
    page.click("#more")
    page.wait_for_function(f"{OPEN} === 'sampling-section'")
    page.get_by_role("button", name="Sampling").click()
    assert not page.is_visible("#temperature")
    assert not tab.errors


def test_a_section_opens_for_a_preset_a_custom_family_and_a_race_to_lose(tab):
    page = tab.page
    page.click("#more")
    page.click("#preset input")
    page.get_by_role("option", name="cascade, the paper's").click()
    page.wait_for_function(f"{OPEN} === 'plan-section'")
    page.click("#family input")
    page.get_by_role("option", name=CUSTOM).click()
    page.wait_for_function(f"{OPEN} === 'plan-section,models-section'")
    page.wait_for_function("document.querySelector('#models-section span').innerText === 'name a big model'")
    assert not tab.errors


def test_a_section_opens_for_a_refusal(tab):
    page = tab.page
    page.click("#more")
    page.click("#plan-section .section-heading button")
    page.fill("#K textarea, #K input", "[[8,4,2],[0,0,0],[0,0,0]]")
    page.click("#plan-section .section-heading button")
    assert not page.is_visible("#K")
    page.click("#advanced-race")
    assert tab.status("refused").startswith("K is cumulative")
    page.wait_for_function("document.activeElement.closest('#K') !== null")
    assert page.is_visible("#K .number-fault")
    assert not tab.errors


def test_a_puzzle_opens_the_settings_at_its_field(tab):
    page = tab.page
    page.click("#puzzles-open")
    page.get_by_role("button", name="Get over 2.5× with speculative decoding").click()
    page.locator('.puzzles [data-puzzle="length"]').get_by_role("button", name="Settings").click()
    page.wait_for_selector("#k", state="visible")  # the drawer opens in the next frame
    assert page.evaluate(OPEN) == "guesses-section"
    assert page.evaluate("document.activeElement.id") == "advanced"
    fields_of_puzzles = [puzzle.field for puzzle in PUZZLES if puzzle.field]
    assert page.evaluate("(ids) => ids.every((id) => document.getElementById(id))", fields_of_puzzles)
    assert not tab.errors


@pytest.mark.slow
def test_a_section_opens_for_a_link(open_tab):
    tab = open_tab("?temperature=0.5&k=3&hide=seed")
    page = tab.page
    page.click("#more")
    page.wait_for_function(f"{OPEN} === 'sampling-section,guesses-section'")
    assert page.is_visible("#temperature") and not page.is_visible("#seed")
    assert not tab.errors


def test_levels_are_called_by_their_roles(tab):
    page = tab.page
    page.click("#more")
    page.click("#plan-section .section-heading button")
    said = page.inner_text("#advanced #plan-section")
    assert "small model" in said and "draft-" not in said
    assert page.input_value("#draft input") == "small model"
    assert not tab.errors
