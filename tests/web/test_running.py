"""What the page shows while a race runs or waits, in a headless Chromium."""

from __future__ import annotations

import pytest
from browser import STORY, Tab, box, set_field


@pytest.mark.slow
def test_the_stage_asks_for_a_bet_until_the_result_is_shown(tab, house):
    page = tab.page
    tab.allow_motion()
    house.gate.hold("Step", after=6)
    tab.race(STORY, 40)
    house.gate.wait()
    assert page.is_visible("#stop")
    chips = page.locator("#stage .cs-ask button")
    headline = box(page, "#stage .cs-headline")
    for chip in (1, 2):
        chips.nth(chip).focus()
        page.keyboard.press("Enter")
    assert [chip.get_attribute("aria-pressed") for chip in chips.all()] == ["false", "false", "true", "false", "false"]
    house.gate.open()
    tab.status("ended")
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    assert page.inner_text("#stage .cs-bet").strip() == f"You said 1.5×; it was {page.inner_text('#stage .cs-factor')}."
    assert not chips.first.is_visible() and not page.is_visible("#stop")
    assert box(page, "#stage .cs-headline") == headline
    set_field(page, "#max-new input", 41)
    page.click("#race")
    tab.status("ended")
    page.wait_for_function("document.querySelector('#stage .cs-headline').dataset.shown === 'true'")
    assert page.text_content("#stage .cs-bet") == ""
    assert not tab.errors


@pytest.mark.slow
def test_a_race_that_waits_is_told_in_words_and_the_stage_stands_still(tab, chromium, house):
    house.gate.hold("Step")
    other = Tab(chromium, house)
    other.race()
    house.gate.wait()
    page = tab.page
    page.evaluate("document.querySelector('#stage .cascade-stage').cascadeStage.play(0)")
    tab.race()
    page.wait_for_function("/^Waiting: 1 race before yours/.test(document.querySelector('#status').innerText)")
    stage = page.locator("#stage .cascade-stage")
    assert stage.get_attribute("data-state") == "done" and stage.get_attribute("data-waiting") == ""
    assert page.inner_text("#status").endswith(".") and "queue" not in page.inner_text("#status")
    assert page.locator("#stage .cs-token:visible").count() == 0, "nothing of the race before is seen as this one's"
    tab.stop()
    page.wait_for_function("document.querySelector('#status').innerText.startsWith('Stopped.')")
    page.wait_for_selector("#stage .cascade-stage:not([data-waiting])")
    assert page.locator("#stage .cs-token:visible").count() > 10, "it is there again"
    for others, anew in ((False, None), (True, "")):
        page.eval_on_selector("#lines", f"line => line.toggleAttribute('data-away', {str(others).lower()})")
        page.click("#race")
        page.wait_for_selector("#stage .cascade-stage[data-waiting]")
        assert stage.get_attribute("data-anew") == anew, "lanes of other models have no names until these are known"
        tab.stop()
        page.wait_for_selector("#stage .cascade-stage:not([data-waiting])")
    house.gate.open()
    other.status("ended")
    other.close()
    assert not tab.errors


def test_a_second_race_pressed_while_one_runs_changes_nothing_and_a_talk_can_stop_the_first(tab, house):
    page = tab.page
    page.click("#stage .cs-presenter")
    chips = page.locator("#stage .cs-example")
    places = [box(page, ".cs-race"), box(page, ".cs-example >> nth=0")]
    assert chips.count() > 2 and not page.is_visible("#stage .cs-stop")
    house.gate.hold("Step")
    begun = house.gate.begun
    page.keyboard.press("r")
    house.gate.wait()
    page.wait_for_selector('#stage .cascade-stage[data-state="live"]:not([data-waiting])')
    page.keyboard.press("r")
    page.evaluate("document.querySelector('#race').click()")
    page.wait_for_function("document.querySelector('#status').textContent.includes('still running')")
    assert page.get_attribute("#stage .cascade-stage", "data-waiting") is None, "the race is seen, not the wait"
    assert [box(page, ".cs-race"), box(page, ".cs-example >> nth=0")] == places
    assert page.is_disabled("#stage .cs-race") and page.is_disabled(".cs-example >> nth=0")
    page.click("#stage .cs-stop")
    tab.status("ended")
    house.gate.open()
    page.wait_for_selector("#stage .cs-race:enabled")
    assert not page.is_visible("#stage .cs-stop") and house.gate.begun == begun + 1
    page.keyboard.press("Escape")
    assert not tab.errors


def hold(page, key: str) -> None:
    """A key that is down already repeats, and what it may press is given the time to answer."""
    for _ in range(5):
        page.keyboard.down(key)
    page.wait_for_timeout(500)


def test_a_key_that_is_held_down_presses_race_and_stop_once(tab, house):
    page = tab.page
    tab.fill(STORY, 40)
    house.gate.hold("Step")
    begun, stopped = house.gate.begun, house.gate.stopped
    page.focus("#race")
    page.keyboard.down("Enter")
    house.gate.wait()
    page.wait_for_function("document.activeElement.id === 'stop'")
    hold(page, "Enter")
    assert "Stop" not in page.inner_text("#status") and house.gate.stopped == stopped
    page.keyboard.up("Enter")
    page.keyboard.down("Enter")
    page.wait_for_function("document.activeElement.id === 'race'")
    assert tab.status("ended").startswith("Stopped")
    hold(page, "Enter")
    assert page.is_visible("#race") and house.gate.begun == begun + 1, "the key began no other race"
    page.keyboard.up("Enter")
    house.gate.open()
    assert not tab.errors


@pytest.mark.slow
def test_a_press_on_race_while_an_example_fills_in_the_form_races_that_example(tab):
    """Two clicks in one go: the form still holds the prompt of before when the second comes."""
    page = tab.page
    before = page.input_value("#prompt textarea")
    chip, race = (page.locator(one).bounding_box() for one in ("#examples button:has-text('List')", "#race"))
    for one in (chip, race):
        page.mouse.click(one["x"] + one["width"] / 2, one["y"] + one["height"] / 2)
    tab.status("ended")
    prompt = page.input_value("#prompt textarea")
    assert prompt != before
    page.wait_for_function("document.querySelector('#stage .cascade-stage').cascadeStage.race.open.lanes.length > 1")
    assert page.evaluate("document.querySelector('#stage .cascade-stage').cascadeStage.race.open.prompt") == prompt
    assert not tab.errors
