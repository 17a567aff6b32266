"""A page that is loaded again, in a headless Chromium."""

from __future__ import annotations

import pytest
from browser import STORY, set_field


@pytest.mark.slow
def test_a_reload_in_the_middle_asks_for_the_race_that_it_ended(open_tab, house):
    """Under the form of that race, with the races before it in the list, and not once that race has ended."""
    one = open_tab()
    page = one.page
    one.race("A bird sat in a tree", 16)
    one.status("ended")
    place = page.locator("#stage .cs-track").bounding_box()["y"]
    set_field(page, "#seed input", 7)
    house.gate.hold("Step", after=2)
    one.race(tokens=24)
    house.gate.wait()
    house.gate.at = ""
    one.reload()
    page.wait_for_selector("#stage .cs-empty:visible >> text=Your race ended")
    assert page.locator("#stage .cs-track").bounding_box()["y"] == place, "the sentence has a line of its own already"
    assert page.locator("#stage .cs-empty").bounding_box()["x"] == page.locator("#stage").bounding_box()["x"]
    assert page.inner_text("#stage .cs-pace") == "previous race" and page.is_visible("#stage [data-refused] .cs-track")
    assert page.input_value("#prompt textarea") == STORY
    assert page.input_value("#seed input") == "7" and page.input_value("#max-new input") == "24"
    page.click("#races")
    page.click("#earlier input")
    assert "1. A bird" in page.inner_text("#earlier ul li >> nth=0")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.click("#stage .cs-invite")
    assert one.status("ended").startswith("Done")
    one.reload()
    page.wait_for_function("document.querySelector('#earlier input')?.value.startsWith('2. Once upon')")
    assert page.is_visible("#stage .cs-track")
    page.wait_for_function("document.querySelector('#stage .cs-pace').textContent === ''")  # it is the form's prompt
    assert one.errors == []


def test_a_reload_comes_back_to_the_step_that_is_looked_into(tab):
    page, opened = tab.page, "#stage .cascade-stage[data-opened]"
    page.focus("#stage .cascade-stage")
    page.keyboard.press("o")
    page.wait_for_selector(opened)
    page.keyboard.press("ArrowRight")
    place = page.inner_text("#stage .cs-stepper .cs-place")
    tab.reload()
    page.wait_for_selector(opened)
    assert page.inner_text("#stage .cs-stepper .cs-place") == place
    page.keyboard.press("Escape")
    page.wait_for_selector("#stage .cascade-stage:not([data-opened])")
    tab.reload()
    page.wait_for_selector("#stage .cascade-stage[data-state=done]")
    assert not page.is_visible(opened), "it was left"
    assert not tab.errors


@pytest.mark.slow
def test_a_reload_beside_a_refused_race_brings_its_whole_form_and_says_why(open_tab):
    one = open_tab()
    page = one.page
    one.race("A bird sat in a tree", 16)
    one.status("ended")
    raced = page.get_attribute("#stage .cascade-stage", "data-race")
    one.fill("Two boys found a kite", 24)
    set_field(page, "#temperature input", 1)
    set_field(page, "#seed input", -1)
    page.click("#race")
    refusal = one.status("refused")
    one.reload()
    page.wait_for_selector(f"#stage .cs-empty:visible >> text={refusal}")
    assert page.get_attribute("#stage .cascade-stage", "data-race") == raced
    assert page.inner_text("#stage .cs-pace") == "previous race"
    assert page.input_value("#prompt textarea") == "Two boys found a kite"
    assert [page.input_value(f"#{field} input") for field in ("max-new", "temperature", "seed")] == ["24", "1", "-1"]
    assert one.errors == []


@pytest.mark.slow
def test_a_reload_while_a_race_waits_keeps_the_prompt(open_tab, house):
    one, other = open_tab(), open_tab()
    house.gate.hold("Step")
    other.race()
    house.gate.wait()
    one.race("A bird sat in a tree")
    one.page.wait_for_function("document.querySelector('#status').innerText.startsWith('Waiting')")
    one.reload()
    one.page.wait_for_selector("#status >> text=What you typed stays in the form")
    house.gate.open()
    assert one.page.input_value("#prompt textarea") == "A bird sat in a tree"
    one.page.click("#race")
    assert one.status("ended").startswith("Done")


@pytest.mark.slow
def test_a_prompt_that_was_typed_before_an_example_raced_comes_back_behind_its_chip(tab):
    page = tab.page
    page.fill("#prompt textarea", "My own words")
    page.wait_for_function("sessionStorage.getItem('cascade-prompt') === 'My own words'")
    page.click("#examples > button:visible >> nth=1")
    tab.status("ended")
    raced = page.input_value("#prompt textarea")
    tab.reload()
    page.wait_for_selector("#own-prompt")
    page.wait_for_function("raced => document.querySelector('#prompt textarea').value === raced", arg=raced)
    page.wait_for_function("document.querySelector('#stage .cs-pace').textContent === ''")
    page.click("#own-prompt")
    page.wait_for_function("document.querySelector('#prompt textarea').value === 'My own words'")


@pytest.mark.slow
def test_a_reload_brings_the_latest_race_back(open_tab, house):
    """With its settings, and among the visitor's races; a page in another tab begins as usual."""
    one, begun = open_tab(), house.gate.begun
    one.race("A bird sat in a tree")
    one.status("ended")
    raced = one.page.get_attribute("#stage .cascade-stage", "data-race")
    for _ in range(2):
        one.reload()
        one.page.wait_for_selector(f'#stage .cascade-stage[data-race="{raced}"]')
        assert one.page.input_value("#earlier input").startswith("1. A bird")
    assert one.page.input_value("#prompt textarea") == "A bird sat in a tree"
    assert house.gate.begun == begun + 1, "nothing runs again"
    one.race("Two boys found a kite")
    one.page.wait_for_function("document.querySelector('#earlier input').value.startsWith('2. Two boys')")
    assert open_tab().page.get_attribute("#stage .cascade-stage", "data-race") != raced
    assert one.errors == []


@pytest.mark.slow
def test_a_reload_under_the_theory_shows_what_the_visitors_race_measured(open_tab):
    one = open_tab()
    one.race("A bird sat in a tree", 16)
    one.status("ended")
    one.page.get_by_role("tab", name="Theory").click()
    marked = "[...document.querySelectorAll('.whatif .chart-value')].map((label) => label.textContent).join()"
    number = "document.querySelector('.whatif .finding-speed')?.innerText"
    one.page.wait_for_function(f"{marked} && {number}")
    shown = one.page.evaluate(f"[{marked}, {number}]")
    one.reload()
    one.page.wait_for_function(f"([labels, speed]) => {marked} === labels && {number} === speed", arg=shown)
    assert one.errors == []


@pytest.mark.slow
def test_a_reload_goes_on_presenting_until_the_visitor_leaves(open_tab):
    one = open_tab()
    one.page.keyboard.press("p")
    one.page.wait_for_selector("#stage .cascade-stage[data-present]")
    one.reload()
    one.page.wait_for_selector("#stage .cascade-stage[data-present] .cs-track-row")
    one.page.keyboard.press("Escape")
    one.reload()
    one.page.wait_for_selector("#stage .cs-track-row")
    one.page.wait_for_selector('#family-status [data-state="ready"]')
    assert one.page.locator("[data-present]").count() == 0
    assert one.errors == []
