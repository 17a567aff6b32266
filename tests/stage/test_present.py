"""The stage as a talk shows it: large, with the next race at hand; and all of it inside the app."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bare import greedy
from browser import set_field
from handmade import alone, nested

from csd.stage import log as stage
from csd.stage import tour
from csd.web.races import recorded_races

CONTRAST = (Path(__file__).parent / "contrast.js").read_text("utf-8")


def test_a_blank_screen_holds_the_replay(bare):
    one = bare().show(greedy(alone()), greedy(nested())).press("p", "Home", " ")
    assert one.text(".cs-replay") == "Pause"
    one.press("b")
    assert one.page.text_content(".cs-replay") == "Play" and one.page.locator("[data-blank]").count() == 1
    one.press("b")
    assert one.text(".cs-replay") == "Play" and not one.page.locator("[data-blank]").count()
    assert not one.errors


def test_a_talk_goes_on_with_the_next_race_where_a_page_can_start_it(bare):
    one = bare().show(greedy(alone()), greedy(nested())).press("p")
    assert not one.page.is_visible(".cs-bridge"), "an exported file starts no race"
    one.press("p")
    one.page.evaluate("""() => { window.asked = [];
        window.addEventListener("cascade-race", ({ detail }) => asked.push(detail.example));
        const form = document.createElement("form");
        form.innerHTML = '<button id="race">Race</button><p id="examples"><button>story</button><button>code</button></p>';
        document.body.append(form); }""")
    one.press("r")
    one.page.focus(".cascade-stage")
    one.press("p", "r")
    one.page.click(".cs-example >> text=code")
    one.page.click(".cs-race")
    assert one.page.evaluate("asked") == ["", "code", ""], "only while presenting"
    prompt, story, race = boxes(one.page)
    assert prompt["y"] + prompt["height"] < race["y"] + 8 and story["y"] > prompt["y"], "the prompt stays whole"
    one.press("o")
    prompt, story, race = boxes(one.page)
    assert prompt["x"] + prompt["width"] < story["x"], "the line ends before them, and has a second one below it"
    assert prompt["y"] + prompt["height"] / 2 == pytest.approx(race["y"] + race["height"] / 2, abs=1)
    assert not one.errors


def boxes(page):
    """Of the prompt, and of the first and the last button that come with the pointer."""
    page.mouse.move(400, 500)
    page.mouse.move(410, 500)
    return (page.locator(one).first.bounding_box() for one in (".cs-prompt-text", ".cs-example", ".cs-race"))


def test_presenting_keeps_the_proof_and_leaves_out_tooltips(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    one.page.hover(".cs-token >> nth=0")
    one.press("p", "End")
    assert not one.page.is_visible(".cs-tip")
    assert one.page.is_visible(".cs-lead")
    for key in ("Escape", "x"):
        one.press("b")
        assert not one.page.is_visible(".cs-track")
        one.press(key)
        assert one.page.is_visible(".cs-track"), "any key brings the stage back, and does nothing else"
    assert one.page.get_attribute(".cascade-stage", "data-present") is not None
    one.press("?")
    assert one.page.is_visible(".cs-keys p")
    one.press("Escape")
    assert (
        not one.page.is_visible(".cs-keys p") and one.page.get_attribute(".cascade-stage", "data-present") is not None
    )
    one.press("g", "e", "l")  # there is no page to ask
    one.press("Escape")
    assert one.page.get_attribute(".cascade-stage", "data-present") is None
    one.page.evaluate("document.querySelector('.cs-keys').open = true")
    one.press("p")
    assert not one.page.is_visible(".cs-keys p"), "they would lie over the slide"
    assert not one.errors


def test_a_refusal_is_read_on_the_presented_stage_until_the_next_race(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    refused = "The prompt is too long: it has 5,000 characters."
    one.page.evaluate("sentence => stage.wait(false, sentence)", refused)
    assert not one.page.is_visible(".cs-prompt-refused"), "the page says it in its own line"
    assert one.text(".cs-pace") == "previous race"
    one.press("p")
    assert not one.page.is_visible(".cs-prompt-refused")
    assert one.page.get_attribute(".cascade-stage", "data-refused") is None, "the talk is about the race that it shows"
    one.page.evaluate("stage.wait(true)")
    one.page.evaluate("sentence => stage.wait(false, sentence)", refused)
    assert one.text(".cs-prompt-refused") == refused
    box = one.page.locator(".cs-prompt-refused").bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 720
    one.page.evaluate("stage.wait(true)")
    assert not one.page.is_visible(".cs-prompt-refused")
    assert not one.errors


def test_a_method_of_a_long_name_stays_on_the_stage(bare):
    long = replace(alone(), header=replace(alone().header, method="m" * 200))
    one = bare().show(greedy(long), greedy(nested()))
    one.page.click('.cs-lane[data-lane="0"] .cs-name')
    right = "node => node.getBoundingClientRect().right"
    assert "m" * 200 in one.page.text_content(".cs-legend-of")
    assert one.page.eval_on_selector(".cs-legend-of", right) <= 1280
    one.press("o")
    assert "m" * 200 in one.page.text_content(".cs-score-title")
    assert one.page.eval_on_selector(".cs-score-title", right) <= 1280
    assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not one.errors


def test_a_presented_race_begins_with_one_text_and_the_page_keeps_its_columns(bare):
    trace = greedy(alone())
    one = bare().show(trace, replace(trace, header=replace(trace.header, method="cascade"))).press("v")
    view = "document.querySelector('.cascade-stage').dataset.view"
    assert one.page.evaluate(view) == "columns"
    one.press("p")
    assert one.page.evaluate(view) == "one"
    one.press("v")
    assert one.page.evaluate(view) == "columns"
    one.press("Escape")
    assert one.page.evaluate(view) == "columns"
    assert not one.errors


def test_presenting_fills_the_screen_with_large_tokens(bare):
    one = bare().show(alone(), nested()).press("p")
    size = one.page.eval_on_selector(".cs-token", "node => getComputedStyle(node).fontSize")
    assert size == "19.2px", "of each of several texts that differ; a single one has 24 px"
    for part in (".cs-track", ".cs-bar", ".cs-lanes", ".cs-transport"):
        box = one.page.locator(part).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 720
    whole = """node => { const [line, head] = ["lineHeight", "paddingTop"].map(name => parseFloat(getComputedStyle(node)[name]));
        return (node.clientHeight - head) / line; }"""
    lines = one.page.eval_on_selector(".cs-lane.cs-selected .cs-text", whole)
    assert lines == pytest.approx(round(lines), abs=0.02), "no half line at its end"
    small = """all => all.filter(node => node.checkVisibility({ visibilityProperty: true }) && !node.closest(".cs-hidden")
        && [...node.childNodes].some(one => one.nodeType === 3 && one.textContent.trim())
        && parseFloat(getComputedStyle(node).fontSize) < 0.0125 * innerWidth - 0.1)
        .map(node => [node.className, node.textContent])"""
    assert one.page.eval_on_selector_all(".cs-body *", small) == [], "all of it can be read from the last row"
    one.press("o")
    assert one.page.is_visible(".cs-score")
    assert not one.page.is_visible(".cs-lanes")
    one.press("Escape", "Escape")
    assert one.page.get_attribute(".cascade-stage", "data-present") is None
    assert one.page.is_visible(".cs-lanes")
    assert not one.errors


@pytest.mark.slow
def test_the_app_has_the_same_stage(chromium, house):
    """In Gradio's page: its way with style sheets and its own key handlers leave the stage as it is."""
    page = chromium.new_context(viewport={"width": 1280, "height": 720}).new_page()
    errors: list[str] = []
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.goto(house.url)
    page.wait_for_selector('#family-status [data-state="ready"]', timeout=60_000)
    set_field(page, "#max-new input", 24)
    page.click("#race")
    page.wait_for_selector('#status p[data-state="ended"]', timeout=60_000)
    stage_ = page.locator("#stage .cascade-stage")
    assert stage_.evaluate("node => getComputedStyle(node).fontFamily").startswith("Geist")
    assert page.locator("#stage .cs-scrubber").evaluate("node => node.getBoundingClientRect().bottom") <= 720
    stage_.focus()
    for key in ("Home", "ArrowRight"):
        page.keyboard.press(key)
    assert stage_.get_attribute("data-state") == "replay"
    assert not page.is_visible("#stage .cs-score")
    page.click("#stage .cs-look")
    lowest = page.locator("#stage .cs-score").evaluate("node => node.getBoundingClientRect().bottom")
    assert lowest <= 720, "the opened review fits into a laptop's window"
    assert page.locator("#stage .cs-track-row:visible").count() == 1
    page.click("#stage .cs-look")
    assert page.locator("#stage .cs-track-row:visible").count() == 4
    page.keyboard.press("p")
    box = stage_.bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1280, 720)
    assert stage_.evaluate("node => getComputedStyle(node).fontSize") == "18.56px"
    page.keyboard.press("g")
    page.wait_for_selector(".tour dialog[open] .cs-track-row")
    page.keyboard.press("Escape")
    assert stage_.get_attribute("data-present") == "" and not page.is_visible(".tour dialog"), "back where the talk was"
    before = stage_.get_attribute("data-race")
    page.click("#stage .cs-example >> text=list")
    page.wait_for_function("race => document.querySelector('#stage .cascade-stage').dataset.race !== race", arg=before)
    assert "JSON" in page.inner_text("#stage .cs-prompt-text"), "the example was in the form before its race began"
    page.wait_for_selector('#status p[data-state="ended"]', timeout=60_000, state="attached")
    page.wait_for_selector("#stage .cs-race:enabled")
    page.keyboard.press("/")
    assert "JSON" in page.input_value("#stage .cs-prompt-typed")
    page.keyboard.type("A bear, a pop")  # letters that are keys of the presenter
    page.keyboard.press("Escape")
    assert stage_.get_attribute("data-present") == "" and not page.is_visible("#stage .cs-prompt-typed")
    page.click(
        "#stage .cs-prompt-text", position={"x": 20, "y": 10}
    )  # buttons lie over its end while the pointer moves
    page.keyboard.press("End")
    page.keyboard.type(" and a hero")
    before = stage_.get_attribute("data-race")
    page.keyboard.press("Enter")
    page.wait_for_function("race => document.querySelector('#stage .cascade-stage').dataset.race !== race", arg=before)
    assert page.inner_text("#stage .cs-prompt-text") == "A bear, a pop and a hero"
    assert page.input_value("#prompt textarea") == "A bear, a pop and a hero"
    page.wait_for_selector('#status p[data-state="ended"]', timeout=60_000, state="attached")
    page.keyboard.press("Escape")
    assert stage_.get_attribute("data-present") is None
    assert page.evaluate("document.activeElement.textContent") == "Present", "no frame around the stage"
    assert not errors
    page.context.close()


@pytest.mark.parametrize("size", [(390, 844), (844, 390)], ids=["upright", "on its side"])
def test_a_phone_presents_all_lanes_above_the_keys(bare, size):
    one = bare(size=size, touch=True).show(greedy(alone()), greedy(nested()), greedy(alone()), greedy(nested()))
    one.press("p")
    keys = one.page.locator(".cs-transport").bounding_box()
    lanes = [row.bounding_box() for row in one.page.locator(".cs-track-row").all()]
    assert len(lanes) == 4 and all(lane["y"] + lane["height"] <= keys["y"] for lane in lanes)
    assert keys["y"] + keys["height"] <= size[1] and one.page.is_visible(".cs-presenter")
    assert one.page.locator(".cs-lead").bounding_box()["y"] >= 0
    if size[0] < size[1]:
        text = one.page.locator(".cs-lane.cs-selected .cs-text").bounding_box()
        assert text["y"] < keys["y"], "and the text"
    assert not one.errors


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_touch_screen_without_escape_shows_the_way_out(bare, dark):
    one = bare(dark, size=(390, 844), touch=True).show(greedy(alone()), greedy(nested()))
    page, leave = one.page, one.page.get_by_role("button", name="Leave", exact=True)
    page.get_by_role("button", name="Present", exact=True).tap()
    page.tap(".cs-track")  # what was pressed last looks different
    assert not [found for found in page.evaluate(CONTRAST) if found[1] == "Leave"]
    edge = leave.evaluate("node => getComputedStyle(node).borderTopColor")
    assert leave.is_visible() and edge != "rgba(0, 0, 0, 0)", "a button by its looks"
    leave.tap()
    assert page.get_attribute(".cascade-stage", "data-present") is None
    assert not one.errors


def test_back_closes_the_review_and_then_the_presented_stage(bare):
    """The page stays where it is, and what is closed otherwise leaves no entry behind."""
    one = bare().show(greedy(alone()), greedy(nested()))
    page, presented, opened = one.page, ".cascade-stage[data-present]", ".cascade-stage[data-opened]"
    covers = "JSON.stringify(history.state?.over ?? [])"
    page.get_by_role("button", name="Look inside").click()
    assert page.is_visible(opened)
    page.go_back()
    page.wait_for_selector(".cascade-stage:not([data-opened])")
    one.press("p", "o")
    assert page.evaluate(covers) == '["present","review"]'
    page.go_back()
    page.wait_for_selector(".cascade-stage:not([data-opened])")
    assert page.is_visible(presented)
    page.go_back()
    page.wait_for_selector(".cascade-stage:not([data-present])")
    one.press("p", "o", "p")
    page.wait_for_function(f"{covers} === '[]'")
    assert not page.is_visible(presented) and not page.is_visible(opened)
    address = page.url
    for keys in (("o", "o"), ("p", "o", "Escape", "Escape"), ("o", "o", "o", "o"), ("p", "p", "p", "o", "p")):
        one.press(*keys)
        page.wait_for_function(f"{covers} === '[]'")
        assert not page.is_visible(presented) and not page.is_visible(opened) and page.url == address
    one.press("o", "o", "o")
    page.wait_for_function(f"""{covers} === '["review"]'""")
    assert page.is_visible(opened), "what was opened while the browser went back stays"
    one.press("Escape", "p", "Escape", "p")
    page.wait_for_function(f"""{covers} === '["present"]'""")
    assert page.is_visible(presented) and not page.is_visible(opened)
    assert not one.errors


def test_a_clicker_leaves_a_step_that_somebody_stopped_at(bare):
    """Steps belong to the arrows: a talk goes on from wherever the race stands."""
    one = bare().show(alone(), nested())
    one.press("p", "End", "ArrowLeft")
    assert one.state() == "replay"
    one.press("PageDown")
    assert one.state() == "done"
    assert not one.errors


def test_a_talk_plays_few_rounds_and_shows_many_as_one_picture(bare):
    """A clicker looks into a race: the step with most to see of the page's first one has 26 rounds, that of another race five."""
    one = bare()
    first = next(iter(recorded_races().values())).recording.traces
    for traces, label in ((first, "Watch it happen"), (tour.ACTS[1].traces, "Stop")):
        one.page.evaluate("log => stage.update({race: String(log.length), log})", stage.log_of(traces, "r"))
        one.page.focus(".cascade-stage")
        one.press("p", "PageDown", "PageDown", "PageDown")  # the race, its end, and inside it
        assert one.text(".cs-unfold") == label
        one.press("PageDown", "p")
    assert not one.errors


def test_a_talk_goes_on_from_a_step_that_was_opened_before_it(bare):
    """The entry of the opened step lies below that of the presented stage, which stays."""
    one = bare().show(greedy(alone()), greedy(nested()))
    covers = "JSON.stringify(history.state?.over ?? [])"
    one.press("End", "o", "p")
    one.page.wait_for_function(f"{covers} === JSON.stringify(['review', 'present'])")
    one.press("PageDown")
    one.page.wait_for_function(f"{covers} === JSON.stringify(['present'])")
    one.page.wait_for_timeout(300)
    assert one.page.locator(".cascade-stage[data-present]:not([data-opened])").count() == 1
    one.press("Escape")
    one.page.wait_for_function(f"{covers} === '[]'")
    assert one.page.locator(".cascade-stage[data-present]").count() == 0
    one.press("End", "o", "p", "p")
    one.page.wait_for_function(f"{covers} === '[]'")
    assert one.page.locator(".cascade-stage[data-present], .cascade-stage[data-opened]").count() == 0
    assert not one.errors
