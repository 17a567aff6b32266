"""The form in a headless Chromium: what is in view, and what stays in view."""

from __future__ import annotations

import pytest
from browser import STORY, await_prompt, await_race, box, choose_race, is_in_view, set_field

from csd.web.races import recorded_races

PHONE = {"width": 390, "height": 844}
CONTROLS_OF_A_RACE = ("#prompt textarea", "#race", "#more", "#races", "#tour-start", "#puzzles-open")


def test_the_form_leaves_the_window_to_the_stage(tab):
    page = tab.page
    assert box(page, "#stage")["y"] <= 173  # the line for messages included
    for row in (("#tour-start", "#puzzles-open"), ("#examples button >> nth=0", "#more", "#races")):
        assert {(box(page, one)["y"], box(page, one)["height"]) for one in row} == {(box(page, row[0])["y"], 28)}
    assert {box(page, row)["x"] for row in ("#title", "#prompt textarea", "#status", "#stage")} == {24}
    card, prompt, race, row = (box(page, one) for one in ("#ask", "#prompt textarea", "#race", "#lines"))
    assert card["height"] == prompt["height"] == race["y"] - card["y"] + race["height"] == 44
    assert box(page, "#try")["x"] == 34 and row["x"] + row["width"] > race["x"] + race["width"], "all is in one card"
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    assert page.inner_text("#more").strip() == "Settings"
    set_field(page, "#temperature input", 0.5)
    words = "Settings · temperature 0.5"
    page.wait_for_function("words => document.querySelector('#more').innerText.trim() === words", arg=words)
    page.fill("#prompt textarea", "A long prompt that goes on. " * 40)
    lines_in_view = "document.querySelector('#prompt textarea').clientHeight / 20 | 0"
    page.wait_for_function(f"({lines_in_view}) === 4")
    assert box(page, "#prompt textarea")["y"] + box(page, "#prompt textarea")["height"] <= box(page, "#status")["y"]
    page.click("#title")
    page.wait_for_function(f"({lines_in_view}) === 2")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.closest('#prompt') !== null"), "the key for typing a prompt"
    assert not page.input_value("#prompt textarea").endswith("/")
    assert not tab.errors


def test_the_drawer_covers_the_page_and_moves_nothing(tab):
    page = tab.page
    tops = "['race', 'status', 'stage'].map((id) => document.getElementById(id).getBoundingClientRect().top)"
    places = page.evaluate(tops)
    tab.advanced()
    drawer = box(page, "#advanced")
    assert drawer["x"] + drawer["width"] == 1280 and (drawer["y"], drawer["height"]) == (0, 720)
    assert page.evaluate("document.activeElement.id") == "advanced"
    assert page.evaluate(tops) == places
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "advanced-reset"
    page.keyboard.press("Escape")
    assert not page.is_visible("#advanced")
    assert page.evaluate("document.activeElement.id") == "more"
    tab.advanced()
    words = page.inner_text("#more")
    set_field(page, "#temperature input", 1.5)
    page.wait_for_function("document.querySelector('#more').innerText.includes('temperature 1.5')")
    page.fill("#top-p input", "7")
    page.keyboard.press("Tab")
    assert page.is_visible("#top-p .number-fault")
    page.click("#advanced-reset")
    page.wait_for_function("words => document.querySelector('#more').innerText === words", arg=words)
    page.wait_for_selector("#top-p .number-fault", state="detached")
    page.click("#advanced-close")
    assert not page.is_visible("#advanced")
    assert page.get_attribute("#more", "aria-expanded") == "false"
    assert not tab.errors


@pytest.mark.slow
def test_K_is_dragged_in_the_drawer_and_its_parts_race(tab):
    """The picture and the field hold the same K, the parts are a click away, and another family has another size."""
    page = tab.page
    K = "document.querySelector('#K textarea, #K input').value"
    tab.advanced()
    handles = page.locator("#K-picture [role=slider]")
    handles.first.scroll_into_view_if_needed()
    assert [int(text) for text in handles.all_inner_texts()] == [8, 14, 16, 3, 5, 2]
    track = page.locator("#K-picture .staircase-track").first.bounding_box()
    start = handles.first.bounding_box()
    x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 4 * track["width"] / 24, y, steps=4)
    page.mouse.up()
    page.wait_for_function(f"{K} === '[[4,14,16],[0,3,5],[0,0,2]]'")
    page.locator("#K-picture").get_by_role("button", name="horizontal only").click()
    page.wait_for_function(f"{K} === '[[4,14,16],[0,0,0],[0,0,0]]'")
    page.fill("#K textarea, #K input", "[[4,6,8],[0,1,2],[0,0,1]]")
    page.wait_for_function("document.querySelector('#K-picture [role=slider]').textContent === '4'")
    tab.fill(tokens=12)
    page.click("#race-parts")
    assert "12 tokens each" in tab.status("ended")
    names = page.locator("#stage .cs-track-row b").all_inner_texts()
    assert {"vertical cascade", "horizontal cascade", "cascade"} <= set(names)
    tab.advanced()
    page.click("#family input")
    page.get_by_role("option", name="SmolLM2 135M", exact=True).click()
    page.wait_for_function("document.querySelectorAll('#K-picture [role=slider]').length === 3")
    assert not tab.errors


@pytest.mark.slow
def test_race_is_in_reach_wherever_the_drawer_is_scrolled_to_and_stop_once_it_runs(tab, house):
    page = tab.page
    tab.fill()
    house.gate.hold("Step")
    for size in ({"width": 1280, "height": 720}, PHONE):
        page.set_viewport_size(size)
        tab.advanced()
        page.evaluate("document.querySelector('#advanced').scrollTo(0, 10000)")
        assert is_in_view(page, "#advanced-race")
        page.click("#advanced-race")
        page.wait_for_function("!document.getElementById('advanced').hasAttribute('data-open')")
        assert is_in_view(page, "#stop") and is_in_view(page, "#status")
        if size != PHONE:  # the first race is on its way: its own line would take the place of the second press's
            page.wait_for_function("document.querySelector('#status').innerText.startsWith('Racing')")
    assert "still running" in page.inner_text("#status"), "the second press begins no other race"
    house.gate.open()
    assert tab.status("ended").startswith("Done")
    assert not tab.errors


def test_prompt_and_stage_agree_from_the_start(tab):
    page, races = tab.page, recorded_races()
    landing, *others = (race for race in races.values() if race.recording.family == "embedded")
    for race in (landing, others[2]):
        if race is not landing:
            choose_race(page, race.title)
        await_race(page, race.id)
        await_prompt(page, race.traces[0].header.text)
        assert page.input_value("#max-new input") == str(race.traces[0].header.max_new)
    assert not tab.errors


def test_what_was_typed_stays_when_another_race_is_shown(tab):
    page = tab.page
    tab.fill("Why is the sea salty?")
    *_, last = (race for race in recorded_races().values() if race.recording.family == "embedded")
    choose_race(page, last.title)
    await_race(page, last.id)
    page.wait_for_function("document.querySelector('#status').innerText.includes('What you typed stays')")
    assert page.input_value("#prompt textarea") == "Why is the sea salty?"
    page.fill("#prompt textarea", "one\ntwo\nthree\nfour\nfive")
    page.press("#prompt textarea", "Tab")
    page.wait_for_selector('#prompt[data-more="3 more lines"]')


@pytest.mark.slow
def test_on_a_phone_everything_is_in_reach_and_race_shows_the_stage(tab, house):
    page = tab.page
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for selector in CONTROLS_OF_A_RACE:
        found = box(page, selector)
        assert 0 <= found["x"] and found["x"] + found["width"] <= PHONE["width"], selector
        assert found["height"] >= 32, selector
    assert box(page, "#race")["y"] < box(page, "#prompt textarea")["y"] + 44
    assert box(page, "#stage")["y"] <= 190
    chips = [chip.bounding_box() for chip in page.locator("#examples button:visible").all()]
    assert {chip["y"] for chip in chips} == {chips[0]["y"]}
    page.wait_for_selector("#examples[data-more]")  # a mark says that more chips follow
    assert page.inner_text("#more").strip() == "Settings"
    assert page.eval_on_selector("#more", "one => one.scrollHeight <= one.clientHeight && one.clientWidth > 80")
    assert box(page, "#family-status p")["width"] <= 1, "only screen readers are told that all is well"
    assert is_in_view(page, "#stage .cs-selected .cs-token >> nth=0"), "the first window reaches the text"
    figures = "#stage .cs-after"
    assert page.get_attribute(figures, "open") is None and box(page, figures)["height"] < 48
    page.click(f"{figures} > summary")
    assert page.is_visible("#stage .cs-plot svg")
    page.click("#stage [data-chart=time]")
    assert page.is_visible("#stage .cs-budget table")
    tab.advanced()
    assert box(page, "#advanced")["width"] == PHONE["width"]
    page.click("#advanced-close")
    house.gate.hold("Step")
    tab.race(STORY, 16)
    house.gate.wait()
    page.wait_for_function("document.querySelector('#status').innerText.includes('Racing')")
    assert is_in_view(page, "#status p")
    assert box(page, "#stage")["y"] < PHONE["height"] / 2
    house.gate.open()
    tab.status("ended")
    assert is_in_view(page, "#status p") and box(page, "#stage")["y"] <= 190
    page.click("#examples button >> nth=0")
    page.wait_for_selector("#own-prompt")
    assert box(page, "#own-prompt")["x"] >= 0
    tab.status("ended")


def test_the_pace_of_a_replay_stands_under_the_idea_on_a_phone(tab):
    page = tab.page
    page.set_viewport_size(PHONE)
    tab.allow_motion()
    *_, last = (race for race in recorded_races().values() if race.recording.family == "embedded")
    choose_race(page, last.title)
    page.wait_for_selector('#stage [data-state="replay"]')
    page.get_by_role("button", name="Pause").click()
    idea, pace, track = (box(page, f"#stage {one}") for one in (".cs-idea", ".cs-pace", ".cs-track"))
    assert idea["y"] + idea["height"] <= pace["y"] and pace["y"] + pace["height"] <= track["y"]
    assert abs(idea["x"] - pace["x"]) <= 1
    assert not tab.errors


def test_beside_another_prompt_in_the_form_an_opened_review_shows_whose_it_is(tab):
    page = tab.page
    page.fill("#prompt textarea", "Quite another prompt, which nobody has raced.")
    page.wait_for_selector("#stage .cs-prompt .cs-button:visible")
    page.click("#stage .cs-look")
    assert box(page, "#stage .cs-prompt-text")["width"] > 200
    assert not tab.errors


def test_the_preset_is_custom_once_a_setting_of_it_is_changed(tab):
    page, preset = tab.page, "document.querySelector('#preset input').value"
    tab.advanced()
    assert page.evaluate(preset) == "cascade, tuned plan"
    k = page.input_value("#k input")
    page.fill("#k input", "5")
    page.wait_for_function(f"{preset} === 'custom'")
    page.fill("#k input", k)
    page.wait_for_function(f"{preset} === 'cascade, tuned plan'")
    page.fill("#lenience input", "2")
    page.wait_for_function(f"{preset} === 'custom'")
    page.click("#preset input")
    page.get_by_role("option", name="cascade, tuned plan").click()
    page.wait_for_function("document.querySelector('#lenience input').value === '1'")
    page.wait_for_function(f"{preset} === 'cascade, tuned plan'")
    assert not tab.errors


def test_the_text_of_a_list_ends_before_its_arrow(tab):
    page = tab.page
    page.click("#races")
    opened = (
        "document.querySelectorAll('#advanced, #advanced .section').forEach(one => one.setAttribute('data-open', ''))"
    )
    page.evaluate(opened)  # beside the open list of races
    for name in ("family", "preset", "rule"):
        arrow, text = box(page, f"#{name} .icon-wrap"), box(page, f"#{name} input")
        room = float(
            page.eval_on_selector(f"#{name} input", "input => parseFloat(getComputedStyle(input).paddingRight)")
        )
        assert text["x"] + text["width"] - room <= arrow["x"], name


@pytest.mark.slow
def test_the_list_of_races_takes_nothing_away_from_what_is_typed(tab):
    """Closed with Escape it shows nothing; a prompt typed while the server fills in the form comes back."""
    page = tab.page
    page.click("#races")
    page.click("#earlier input")
    page.keyboard.press("Escape")
    tab.fill("Why is the sky dark at night?", 17)
    page.click("#title")
    page.wait_for_timeout(1500)
    assert page.input_value("#prompt textarea") == "Why is the sky dark at night?"
    assert page.input_value("#max-new input") == "17"
    assert page.inner_text("#status").startswith("A recorded race"), "nothing was shown or filled in"
    page.fill("#prompt textarea", "")  # so that nothing typed is there when the race is chosen
    *_, last = (race for race in recorded_races().values() if race.recording.family == "embedded")
    slow = {"offline": False, "latency": 400, "downloadThroughput": -1, "uploadThroughput": -1}
    tab.is_spent = True
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    choose_race(page, last.title)
    tab.fill("Why is the sea blue?", 18)
    await_race(page, last.id)
    page.wait_for_timeout(1500)
    assert page.input_value("#prompt textarea") == "Why is the sea blue?"
    assert page.input_value("#max-new input") == "18"
    assert not tab.errors


def test_the_first_stop_of_the_tab_key_leads_past_the_form(tab):
    page = tab.page
    focused = "document.activeElement.className"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "skip-link" and page.locator(".skip-link").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate(focused).startswith("cascade-stage")
    page.get_by_role("tab", name="Theory").click()
    page.focus(".skip-link")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#theory')"), "what the open tab shows"
    assert not tab.errors
