"""The panel of puzzles, in a headless Chromium."""

from __future__ import annotations

import re

import pytest
from browser import Tab
from variants import variants


@pytest.mark.slow
def test_a_race_solves_a_puzzle_on_the_page_and_the_browser_remembers_it(chromium, house):
    """A K that drafts 64 tokens at a time is slower than a usual draft; where a busy machine hides that, one races again."""
    tab = Tab(chromium, house)
    page = tab.page
    count = "document.querySelector('#puzzles-open b')?.textContent"
    assert page.evaluate(count) == "0/5"
    page.click("#puzzles-open")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Puzzles"
    row = page.locator('.puzzles [data-puzzle="lose"]')
    edge = "(part) => document.querySelector(part).getBoundingClientRect()"
    assert page.locator(".puzzles li:visible").count() == 5
    assert page.evaluate(f"({edge})('.puzzles section').top >= ({edge})('#stage .cs-text').top"), "below the lanes"
    page.get_by_role("button", name="Get over 2.5× with speculative decoding").click()
    assert page.locator(".puzzles li:visible").count() == 1 and not row.is_visible()
    assert page.is_visible("text=Set your own k under Settings, then press Race.")
    page.wait_for_selector("#stage .cs-transport")
    assert page.evaluate(f"({edge})('.puzzles section').top >= ({edge})('#stage .cs-transport').bottom"), (
        "prompt, result, lanes, text and replay are free"
    )
    page.get_by_role("button", name="All puzzles").click()
    page.get_by_role("button", name="Make the cascade lose at temperature 0").click()
    task = row.locator(".puzzles-task")
    assert task.is_visible()
    row.get_by_role("button", name="Make the cascade").click()
    assert not task.is_visible() and row.is_visible(), "folded to a line"
    row.get_by_role("button", name="Make the cascade").click()
    row.get_by_role("button", name="Settings").click()
    page.wait_for_selector("#advanced", state="visible")
    assert task.is_visible()
    page.click("#advanced-close")
    page.click(".puzzles-close")
    assert not page.is_visible(".puzzles section")
    assert page.evaluate("document.activeElement.id") == "puzzles-open"
    tab.fill(tokens=64)
    tab.advanced()
    page.check("#always input")
    page.get_by_label("prompt lookup", exact=True).uncheck()
    page.locator("#advanced .staircase-handle").first.press("End")  # as far as the hint says it can be dragged
    assert page.input_value("#K textarea, #K input").startswith("[[64,64,64],")
    page.click("#puzzles-open", force=True)
    assert page.evaluate(f"({edge})('.puzzles section').right <= ({edge})('#advanced').left"), "side by side"
    page.set_viewport_size({"width": 900, "height": 720})
    page.click("#advanced-close")
    page.press("#more", "Enter")
    assert page.is_visible("#advanced") and not page.is_visible(".puzzles section"), "one at a time where it is narrow"
    page.click("#puzzles-open", force=True)
    assert page.is_visible(".puzzles section") and not page.is_visible("#advanced")
    page.set_viewport_size({"width": 1280, "height": 720})
    tab.advanced()
    said = row.locator(".puzzles-said")
    page.click("#advanced-race")
    tab.status("ended")
    said.filter(has_text="the cascade has").wait_for()
    for _ in range(8):
        if said.inner_text().startswith("\u2713 Solved"):
            break
        before = page.get_attribute("#stage .cascade-stage", "data-race")
        page.click("#race")
        page.wait_for_selector(f'#stage .cascade-stage[data-race]:not([data-race="{before}"])')
        tab.status("ended")
    page.wait_for_function(f"{count} === '1/5'")
    assert re.search(r"Solved: the cascade has 0\.\d× the speed of", row.inner_text())
    assert page.is_visible(".puzzles section") and row.locator(".puzzles-said").is_visible(), "one can race beside it"
    assert not task.is_visible(), "below 850 pixels it is a line once a race has begun"
    assert page.locator(".puzzles li:visible").count() == 1
    assert page.evaluate(f"({edge})('.puzzles section').top >= ({edge})('#stage .cs-track').bottom"), (
        "the lanes are free"
    )
    page.get_by_role("tab", name="Theory").click()
    assert not page.is_visible(".puzzles section"), "a puzzle that is solved covers no other tab"
    page.get_by_role("tab", name="Race").click()
    page.click("#puzzles-open")
    page.get_by_role("button", name="All puzzles").click()
    assert page.locator(".puzzles li:visible").count() == 5
    asked = page.text_content('.puzzles [data-puzzle="predict"]')
    found = re.search(r"k = (\d+) per step, with α = ([\d.]+) and c = ([\d.]+)", asked)
    assert found is not None
    row = page.locator('.puzzles [data-puzzle="predict"]')
    row.get_by_text("Predict a speed-up").click()
    row.locator("input").fill("99")
    row.get_by_role("button", name="Check").click()
    row.get_by_text("Not yet: 99× is too high.").wait_for()
    page.get_by_role("button", name="All puzzles").click()
    page.get_by_role("button", name="Leave out a guesser without losing speed").click()
    page.keyboard.press("Escape")
    page.click("#race")
    tab.status("ended")
    news = "document.querySelector('#puzzles-open span').textContent"
    page.wait_for_function(f"[' · not yet', ' · solved'].includes({news})")
    page.click("#puzzles-open")
    assert page.evaluate(news) == ""
    solved = page.evaluate(count)
    page.reload()
    page.wait_for_function(f"{count} === '{solved}'")
    assert not tab.errors
    tab.close()


def test_a_puzzle_is_not_judged_before_the_replay_of_its_race_has_ended(tab):
    page = tab.page
    page.evaluate("""() => {  // as a stage that replays: here nothing moves
        const stage = document.querySelector("#stage .cascade-stage");
        const keep = () => window.replays && !stage.hasAttribute("data-unasked") && stage.setAttribute("data-unasked", "");
        window.replays = true;
        new MutationObserver(keep).observe(stage, { attributeFilter: ["data-unasked"] });
        keep();
    }""")
    page.click("#puzzles-open")
    page.get_by_role("button", name="Make the cascade lose at temperature 0").click()
    said = page.locator('.puzzles [data-puzzle="lose"] .puzzles-said')
    before = said.text_content()
    tab.race(tokens=16)
    tab.status("ended")
    page.wait_for_timeout(300)
    assert said.text_content() == before
    page.evaluate(
        "window.replays = false; document.querySelector('#stage .cascade-stage').removeAttribute('data-unasked')"
    )
    page.wait_for_function(
        "before => document.querySelector('[data-puzzle=lose] .puzzles-said').textContent !== before", arg=before
    )
    assert not tab.errors


def test_a_text_that_is_typed_for_a_puzzle_keeps_the_models_and_lanes(tab):
    page = tab.page
    page.evaluate("document.getElementById('begin-own').addEventListener('click', () => (window.begun = true))")
    page.click("#puzzles-open")
    page.get_by_role("button", name="Find a text where copying wins").click()
    page.locator("#prompt textarea").fill("The red fox saw the red fox.")
    assert not page.evaluate("window.begun"), "other models know no puzzle's lanes"
    page.get_by_role("button", name="Close").last.click()
    page.wait_for_selector(".puzzles section", state="hidden")
    page.locator("#prompt textarea").fill("Why is the sky blue?")
    assert page.evaluate("window.begun")


@variants("other", ["Theory", "Compare"])
def test_a_puzzle_that_is_picked_elsewhere_leads_to_the_race(tab, other):
    page = tab.page
    page.get_by_role("tab", name=other).click()
    page.click("#puzzles-open")
    page.get_by_role("button", name="Make the cascade lose").click()
    assert page.is_visible("#race"), "its text says to press Race"
    page.get_by_role("tab", name=other).click()
    page.locator('.puzzles [data-puzzle="lose"]').get_by_role("button", name="Settings").click()
    page.wait_for_function("document.activeElement.id === 'advanced'")
    assert page.is_visible("#K"), "the puzzle is about the plan"
    assert page.is_visible("#advanced") and page.is_visible(".puzzles section")


@variants("size", [(1280, 720), (390, 844)])
def test_the_panel_leaves_the_replay_and_race_in_reach(tab, size):
    """With all titles, and with one puzzle: the replay bar stands above the panel."""
    page = tab.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.click("#puzzles-open")
    reach = """() => ['#race', '#stage .cs-replay', '#stage .cs-scrubber'].filter((name) => {
        const one = document.querySelector(name);
        const { left, top, width, height } = one.getBoundingClientRect();
        const found = document.elementFromPoint(left + width / 2, top + height / 2);
        return !found || !(one.contains(found) || found.contains(one));
    })"""
    for layout in ("all", "one"):
        page.wait_for_selector(f'.puzzles section[data-layout="{layout}"]')
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate(reach) == [], layout
        page.locator(".puzzles-title").first.click()
    page.click(".puzzles-close")
    assert page.eval_on_selector("#stage .cs-transport", "bar => getComputedStyle(bar).position") != "sticky"
    page.set_viewport_size({"width": 1280, "height": 720})
    assert not tab.errors


def test_the_end_of_every_tab_can_be_scrolled_above_the_panel(tab):
    page = tab.page
    page.click("#puzzles-open")
    page.wait_for_selector(".puzzles li:visible")
    for size in ((1280, 720), (390, 844)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for other, last in (("Race", "#stage"), ("Theory", "#glossary"), ("Compare", "#compare-numbers")):
            page.get_by_role("tab", name=other).click()
            page.wait_for_selector(last)
            page.wait_for_function(
                """last => { scrollTo(0, document.documentElement.scrollHeight);
                const edge = (part) => document.querySelector(part).getBoundingClientRect();
                return edge(last).bottom <= edge('.puzzles section').top; }""",
                arg=last,
            )
            page.evaluate("scrollTo(0, 0)")


def test_a_puzzle_says_that_other_models_race(tab):
    """One's own words may bring them; here the line of the examples is told so."""
    page = tab.page
    page.click("#puzzles-open")
    page.get_by_role("button", name="Make the cascade lose").click()
    note = page.locator('.puzzles [data-puzzle="lose"] .puzzles-models')
    assert note.text_content() == ""
    page.evaluate("document.querySelector('#lines').dataset.away = 'SmolLM2 135M'")
    note.filter(has_text="Your races run SmolLM2 135M now. Press “Back to").wait_for()
    page.evaluate("delete document.querySelector('#lines').dataset.away")
    page.wait_for_function("note => !note.textContent", arg=note.element_handle())


@pytest.mark.slow
def test_the_prediction_has_a_button_that_races_first(tab):
    page = tab.page
    tab.fill(tokens=40)
    page.click("#puzzles-open")
    row = page.locator('.puzzles [data-puzzle="predict"]')
    row.get_by_role("button", name="Predict a speed-up").click()
    assert not row.locator("form").is_visible()
    row.get_by_role("button", name="Race").click()
    tab.status("ended")
    row.locator("form").wait_for()
    assert "How many times as fast" in row.inner_text() and not row.get_by_role("button", name="Race").is_visible()
    assert not tab.errors
