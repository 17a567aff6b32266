"""Races that are stopped, that wait for one another, and whose tab is closed, in a headless Chromium."""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_stop_ends_the_race_where_it_is_and_keeps_what_it_has(open_tab, house):
    one = open_tab()
    for where in ("Prefill", "Step"):
        house.gate.hold(where)
        one.race()
        house.gate.wait()
        one.page.wait_for_function("!document.querySelector('#status').innerText.startsWith('Stopped')")
        one.stop()
        one.page.wait_for_function("document.querySelector('#status').innerText.startsWith('Stopped: ')")
        said = one.page.locator(
            "#stage .cs-empty:visible", has_text="before its first token. Below is the last finished race"
        )
        assert said.count() == (where == "Prefill")
        assert one.tokens() > 0, "what it has, or the race before it"
        house.gate.open()
    one.race("The device is free again")
    one.page.wait_for_function("document.querySelector('#status').innerText.startsWith('Done')")


@pytest.mark.slow
def test_who_chooses_an_example_and_then_presses_race_does_not_stop_it(open_tab, house):
    """The example races by itself, and Stop comes where Race was."""
    one = open_tab()
    house.gate.hold("Step")
    place = one.page.locator("#race").bounding_box()
    middle = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    one.page.locator("#examples > button:visible").first.click()
    one.page.wait_for_selector("#stop:visible")
    one.page.mouse.click(*middle)
    house.gate.wait()
    house.gate.open()
    assert one.status("ended").startswith("Done")
    assert not one.errors


@pytest.mark.slow
def test_stop_in_the_queue_takes_the_race_out_of_it(open_tab, house):
    first, second = open_tab(), open_tab()
    house.gate.hold("Step")
    first.race()
    house.gate.wait()
    before = house.gate.begun
    second.race("Waiting for the device")
    second.page.wait_for_function("/^Waiting|^Queue/i.test(document.querySelector('#status').innerText)")
    assert second.page.is_visible("#stage .cs-idea"), "the question stands where its answer will be"
    second.stop()
    second.page.wait_for_function("document.querySelector('#status').innerText.includes('Stopped')")
    house.gate.open()
    assert first.status("ended").startswith("Done")
    assert house.gate.begun == before
    second.race("Once more")
    assert second.status("ended").startswith("Done")
    assert house.gate.begun == before + 1


@pytest.mark.slow
def test_a_closed_tab_frees_the_device(open_tab, house):
    first, second = open_tab(), open_tab()
    house.gate.hold("Step")
    first.race()
    house.gate.wait()
    house.gate.at = ""  # the second race is not held; the first one is, until it is stopped
    stopped = house.gate.stopped
    second.race("The next visitor")
    first.close()
    assert second.status("ended").startswith("Done")
    assert house.gate.stopped == stopped + 1


@pytest.mark.slow
def test_two_tabs_do_not_disturb_each_other(open_tab):
    tabs = {"Two boys found a kite": open_tab(), "A bird sat in a tree": open_tab()}
    for prompt, one in tabs.items():
        one.race(prompt)
    for prompt, one in tabs.items():
        assert one.status("ended").startswith("Done")
        assert one.page.input_value("#earlier input").startswith(f"1. {prompt}")


def test_a_race_can_be_stopped_from_its_first_moment(tab, house):
    """What cannot be pressed is looked for, and the page is moved by those who look."""
    page = tab.page
    page.set_viewport_size({"width": 1280, "height": 720})
    tab.fill(tokens=12)
    page.evaluate(
        """() => new MutationObserver(() => {
          const { x, y, width, height } = document.querySelector("#stop").getBoundingClientRect();
          window.under ??= document.elementFromPoint(x + width / 2, y + height / 2).closest("#stop")?.id ?? "none";
        }).observe(document.querySelector("#go"), { attributeFilter: ["data-racing"] })"""
    )
    house.gate.hold("Step")
    page.click("#race")
    house.gate.wait()
    assert page.evaluate("window.under") == "stop"
    tab.stop()
    page.wait_for_function("document.querySelector('#status').innerText.startsWith('Stopped')")
    assert page.evaluate("scrollY") == 0
    house.gate.open()
    page.wait_for_selector("#go:not([data-racing])")


def test_a_race_that_ends_under_the_pointer_is_stopped_and_not_followed_by_another(tab, house):
    """A press that was meant for Stop, and comes when Race has taken its place."""
    page = tab.page
    house.gate.hold("Step")
    tab.fill(tokens=12)
    page.click("#race")
    house.gate.wait()
    box = page.locator("#go").bounding_box()
    page.evaluate(
        """([x, y]) => new MutationObserver(() => {
          if (document.querySelector("#go").hasAttribute("data-racing")) return;
          requestAnimationFrame(() => { window.under = document.elementFromPoint(x, y).closest("#race")?.id ?? "none"; });
        }).observe(document.querySelector("#go"), { attributeFilter: ["data-racing"] })""",
        [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2],
    )
    house.gate.open()
    tab.status("ended")
    page.wait_for_function("window.under")
    assert page.evaluate("window.under") == "none", "for a moment"
    page.click("#race", timeout=3000)
    tab.status("ended")
    assert not tab.errors


def test_a_prompt_that_was_emptied_first_is_one_of_the_visitors_own(tab):
    """From its first letter the server may bring other models for it."""
    page = tab.page
    page.evaluate(
        "begun = 0; addEventListener('click', ({target}) => { begun += target.closest('#begin-own') ? 1 : 0 }, true)"
    )
    page.fill("#prompt textarea", "")
    assert page.evaluate("begun") == 0
    page.locator("#prompt textarea").press_sequentially("Why")
    assert page.evaluate("begun") == 1
    assert not tab.errors
