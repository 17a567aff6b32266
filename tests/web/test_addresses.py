"""Where addresses and links lead, in a headless Chromium."""

from __future__ import annotations

import pytest
from browser import await_prompt, await_race, choose_race

from csd.web.hidden_controls import CONTROLS
from csd.web.races import recorded_races


@pytest.mark.slow
def test_back_goes_to_the_tab_and_the_race_before(tab, house):
    page = tab.page
    landing, *_, last = (race for race in recorded_races().values() if race.recording.family == "embedded")
    choose_race(page, last.title)
    await_race(page, last.id)
    address = f"{house.url}#race={last.id.removeprefix('recorded-')}"
    page.wait_for_url(address)
    for name in ("Theory", "Compare"):
        page.get_by_role("tab", name=name).click()
        page.wait_for_url(f"{house.url}#{name.lower()}")
    page.go_back()
    assert page.wait_for_selector('#tabs [role="tab"][aria-selected="true"]').inner_text() == "Theory"
    page.go_back()
    page.wait_for_url(address)
    assert page.is_visible("#race") and page.get_attribute("#stage .cascade-stage", "data-race") == last.id
    page.locator("#examples button").first.focus()
    page.go_back()
    await_race(page, landing.id)
    await_prompt(page, landing.traces[0].header.text)
    assert not page.evaluate("document.activeElement.matches('#examples button')"), "no chip stays outlined"
    assert not tab.errors


def test_a_race_of_other_models_is_called_the_previous_one_until_another_is_chosen(tab):
    page = tab.page
    stage = "#stage .cascade-stage"
    *_, last = (race for race in recorded_races().values() if race.recording.family == "embedded")
    page.evaluate("CascadePage.tellPrevious('<p>Back to the demo models. Press Race.</p>')")
    assert page.get_attribute(stage, "data-refused") is None
    page.evaluate("CascadePage.tellPrevious('<p data-state=\"previous\">On the stage is another race.</p>')")
    assert page.get_attribute(stage, "data-refused") == ""
    choose_race(page, last.title)
    await_race(page, last.id)
    assert page.get_attribute(stage, "data-refused") is None
    assert not tab.errors


@pytest.mark.slow
def test_back_goes_to_the_race_before_though_own_races_have_no_address(tab, house):
    page, seen = tab.page, []
    race_on_stage = "document.querySelector('#stage .cascade-stage').dataset.race"
    landing = page.evaluate(race_on_stage)
    for prompt in ("The first prompt", "The second prompt"):
        before = page.evaluate(race_on_stage)
        tab.race(prompt, tokens=8)
        page.wait_for_function(
            f"before => {race_on_stage} !== before && history.state?.on === {race_on_stage}", arg=before
        )
        seen.append(page.evaluate(race_on_stage))
    assert page.url == house.url and len({landing, *seen}) == 3
    page.go_back()
    await_race(page, seen[0])
    await_prompt(page, "The first prompt")
    page.go_back()
    await_race(page, landing)
    page.go_forward()
    await_race(page, seen[0])
    assert page.url == house.url
    assert not tab.errors


@pytest.mark.slow
def test_back_from_a_tab_shows_the_race_that_has_ended_meanwhile(tab, house):
    page = tab.page
    race_on_stage = "document.querySelector('#stage .cascade-stage').dataset.race"
    landing = page.evaluate(race_on_stage)
    page.fill("#prompt textarea", "Once upon a time")
    page.click("#race")
    page.wait_for_selector("#go[data-racing]", state="attached")
    page.get_by_role("tab", name="Theory").click()
    page.wait_for_url(f"{house.url}#theory")
    page.wait_for_selector("#go:not([data-racing])", state="attached")
    own = page.evaluate(race_on_stage)
    assert own != landing
    page.go_back()
    page.wait_for_selector("#race", state="visible")
    page.wait_for_function(f"own => history.state?.on === own && {race_on_stage} === own", arg=own)
    assert not tab.errors


@pytest.mark.slow
def test_an_address_opens_a_race_and_hides_controls(open_tab):
    *_, last = (race for race in recorded_races().values() if race.recording.family == "embedded")
    tab = open_tab(f"?hide=stop,seed&k=9#race={last.id.removeprefix('recorded-')}")
    page = tab.page
    await_race(page, last.id)
    await_prompt(page, last.traces[0].header.text)
    tab.advanced()
    assert not page.is_visible("#seed") and not page.is_visible("#stop")
    assert page.is_visible("#temperature")


def test_a_link_is_copied_on_pages_without_the_clipboard_api_and_shown_where_nothing_can_be_copied(tab, house):
    page = tab.page
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.click("#stage .cs-copy-link")
    page.wait_for_selector("#stage .cs-link-note:popover-open")
    link = f"{house.url}#race={page.get_attribute('#stage .cascade-stage', 'data-race').removeprefix('recorded-')}"
    page.keyboard.press("Escape")
    page.focus("#prompt textarea")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+V")
    assert page.input_value("#prompt textarea").startswith(link)
    page.evaluate("document.execCommand = () => false")
    page.click("#stage .cs-copy-link")
    page.wait_for_function("document.querySelector('#status').innerText.includes('does not allow')")
    assert link in page.inner_text("#status")
    assert not tab.errors


def test_back_closes_a_step_whose_link_was_copied(tab):
    page = tab.page
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    page.click("#stage .cs-look")
    page.wait_for_selector("#stage .cascade-stage[data-opened]")
    page.click("#stage .cs-copy-link")
    page.wait_for_selector("#stage .cs-link-note:popover-open")
    page.go_back()
    page.wait_for_selector("#stage .cascade-stage:not([data-opened])")
    page.click("#stage .cs-copy-link")
    page.wait_for_url("**#race=*")
    assert page.is_visible("#stage .cs-lead") and not tab.errors


@pytest.mark.slow
def test_a_link_leads_to_a_step_of_a_recorded_race(tab, chromium, house):
    page = tab.page
    tab.allow_motion()
    *_, last = (race for race in recorded_races().values() if race.recording.family == "embedded")
    choose_race(page, last.title)
    await_race(page, last.id)
    await_prompt(page, last.traces[0].header.text)
    page.wait_for_selector('#stage [data-state="replay"]')
    page.evaluate("document.querySelector('#stage .cascade-stage').cascadeStage.goTo(3, 2)")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#stage .cs-copy-link")
    page.wait_for_function(
        "document.querySelector('#stage .cs-link-note').innerText.includes('Link to step 2 of this race copied.')"
    )
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{house.url}#race={last.id.removeprefix('recorded-')}&lane=3&step=2"
    note = page.locator("#stage .cs-link-note")
    assert note.inner_text().startswith("Link to step 2 of this race copied. It opens on this computer only.")
    told, text = note.bounding_box(), page.locator("#stage .cs-lanes").bounding_box()
    assert told["y"] >= text["y"] + text["height"], "it covers no words of a model"
    with page.expect_download() as saving:
        note.get_by_role("button", name="Save the race as a file").click()
    assert saving.value.suggested_filename.endswith(".html")
    page.keyboard.press("Escape")
    assert not note.is_visible()
    other = chromium.new_context().new_page()
    other.goto(link)
    await_race(other, last.id)
    other.wait_for_function("document.querySelector('#stage .cs-score-title').innerText.startsWith('Step 2 of')")
    place = other.evaluate("document.querySelector('#stage .cascade-stage').cascadeStage.place()")
    assert place == {"race": last.id, "lane": 3, "step": 2, "inside": True}
    assert other.locator("#stage .cs-score").is_visible(), "the step is open"
    for _ in range(2):  # the word that was chosen, with all lanes
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("o")
    page.click("#stage .cs-copy-link")
    chosen = page.evaluate("document.querySelector('#stage .cascade-stage').cascadeStage.place()")
    page.wait_for_function(
        "document.querySelector('#stage .cs-link-note').innerText.includes('Link to step 4 of this race copied.')"
    )
    link = page.evaluate("navigator.clipboard.readText()")
    assert "&word=" in link
    other.goto("about:blank")
    other.goto(link)
    other.wait_for_function(f"document.querySelector('#stage .cascade-stage')?.dataset.race === '{last.id}'")
    other.wait_for_selector("#stage .cs-picked")
    assert other.evaluate("document.querySelector('#stage .cascade-stage').cascadeStage.place()") == chosen
    assert not chosen["inside"] and not other.locator("#stage .cs-score").is_visible()
    other.context.close()
    page.fill("#prompt textarea", "My own words")
    page.click("#stage .cs-copy-link")
    page.wait_for_function("async link => await navigator.clipboard.readText() === link", arg=link)
    page.click("#more")
    page.click("#copy")
    page.wait_for_function("document.querySelector('#status').innerText.includes('fills in the form')")
    assert "prompt=My%20own%20words" in page.evaluate("navigator.clipboard.readText()")
    assert not tab.errors


@pytest.mark.slow
@pytest.mark.parametrize("place", ["lane=99&step=999", "lane=1&step=x"])
def test_a_link_to_a_step_that_is_none_shows_the_whole_race_and_says_so(open_tab, place):
    *_, last = (race for race in recorded_races().values() if race.recording.family == "embedded")
    tab = open_tab(f"#race={last.id.removeprefix('recorded-')}&{place}")
    page = tab.page
    await_race(page, last.id)
    page.wait_for_function("document.querySelector('#status').innerText.startsWith('The link names a step that')")
    assert page.get_attribute("#stage .cascade-stage", "data-state") == "done" and page.is_visible("#stage .cs-lead")
    assert not tab.errors


@pytest.mark.slow
def test_a_link_to_a_race_that_is_none_says_so_over_the_race_at_the_start(tab, house):
    page = tab.page
    tab.allow_motion()
    page.goto("about:blank")
    page.goto(f"{house.url}#race=nothing&lane=4&step=3")
    page.wait_for_function("document.querySelector('#status')?.innerText.includes('no recorded race “nothing”')")
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    assert page.is_visible("#stage .cs-lead"), "it has played to its end"
    assert page.is_visible("#stage .cs-how") and not page.is_visible("#stage .cs-told"), "and nobody looks at a step"
    assert not tab.errors


@pytest.mark.slow
def test_every_control_that_a_link_can_hide_is_on_the_page(tab):
    *_, last = recorded_races().values()
    choose_race(tab.page, last.title)
    tab.page.wait_for_selector("#after", state="attached")  # there are no figures before
    assert [name for name, selector in CONTROLS.items() if tab.page.locator(selector).count() != 1] == []
