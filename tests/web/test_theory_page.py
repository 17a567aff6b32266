"""The Theory tab in a headless Chromium: labels, sliders, wrong input, and K as a picture."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from browser import Tab
from variants import variants

WORDS = "document.querySelector('#what-if').innerText"
FIELD = "#what-if-K textarea, #what-if-K input"
TITLES = "[...document.querySelectorAll('#what-if-figure .finding h2')].map((one) => one.title).join()"
K = "[[4,6,8],[0,1,2],[0,0,1]]"
RACED = "[[8,14,16],[0,3,5],[0,0,2]]"  # in the race on the stage
PLAN = "big model\nchecks 8 from small model, 6 from tiny model, 2 from copier\n"
PHONE = 390
SIZES = [(1280, 720), (1920, 1080), (PHONE, 844)]
LINES = "labels => labels.map((label) => [...label.querySelectorAll('tspan')].map((line) => line.textContent))"
# Boxes of text are higher than its letters.


@pytest.fixture(scope="module")
def one(chromium, served):
    served.gate.open()
    tab = Tab(chromium, served)
    tab.page.get_by_role("tab", name="Theory").click()
    tab.page.wait_for_function(f"{WORDS}.includes('predicted')")
    assert not tab.page.is_visible("#what-if-plan") and not tab.page.is_visible(".sliders-fold .sliders-row")
    assert not tab.page.is_visible("#paper-curves") and not tab.page.is_visible("#what-if-picture [role=slider]")
    assert tab.page.inner_text("#what-if-picture .staircase-words").startswith(PLAN)
    tab.page.click("#what-if-picture summary")
    tab.page.click("#curves > button")
    tab.page.wait_for_function("document.querySelectorAll('#theory .js-plotly-plot').length === 3")
    yield tab
    assert not tab.errors
    tab.close()


def row(key: str) -> str:
    return f'#what-if-sliders .sliders-row[data-key="{key}"]'


def type_K(one: Tab, text: str) -> None:
    one.page.fill(FIELD, text)


@variants("c", ["0.01", "0.5", "0.9"])
def test_every_label_stands_at_its_own_curve(one, c):
    """B8: the leader of each label starts at the end of the curve that it names, in pixels on the screen."""
    page = one.page
    page.fill('#curve-sliders [data-key="c"] input[type="number"]', c)
    page.wait_for_function(
        "c => document.querySelectorAll('#theory .js-plotly-plot')[0].layout.title.text.includes(`c = ${c}`)", arg=c
    )
    found = page.evaluate("""() => [...document.querySelectorAll('#theory .js-plotly-plot')].map((plot) => {
        const ends = Object.fromEntries([...plot.querySelectorAll('.scatterlayer .trace')].map((trace, i) => {
            const line = trace.querySelector('.js-line');
            const end = line.getPointAtLength(line.getTotalLength());
            const at = end.matrixTransform(line.getScreenCTM());
            return [plot.data[i].name, [at.x, at.y]];
        }));
        const labels = [...plot.querySelectorAll('.annotation')].filter((note) => note.querySelector('.annotation-arrow-g path'))
            .map((note) => {
                const leader = note.querySelector('.annotation-arrow-g path');
                const from = leader.getPointAtLength(0).matrixTransform(leader.getScreenCTM());
                const to = leader.getPointAtLength(leader.getTotalLength()).matrixTransform(leader.getScreenCTM());
                const box = note.querySelector('.annotation-text-g').getBoundingClientRect();
                const [start, end] = from.x < to.x ? [from, to] : [to, from];
                return {text: note.querySelector('text').textContent, y: start.y, end: end.y,
                    top: box.top, bottom: box.bottom, right: box.right - plot.getBoundingClientRect().right};
            });
        return {ends, labels};
    })""")
    checked = 0
    for plot in found:
        for label in plot["labels"]:
            assert label["right"] <= 1
            if label["text"] in plot["ends"]:
                # the leader keeps 6 px away from the end; a steep one starts a little above or below it
                assert abs(label["y"] - plot["ends"][label["text"]][1]) < 7
                assert label["top"] <= label["end"] <= label["bottom"]
                checked += 1
        boxes = sorted((label["top"], label["bottom"]) for label in plot["labels"])
        assert all(below[0] - above[1] > -6 for above, below in pairwise(boxes))
    assert checked == 5 + 5 + 4


def test_sliders_without_effect_are_disabled_and_say_why(one):
    """B9: with a K that leaves tiny out, four sliders are switched off; with one that uses it, all have effect. Of
    each group the first one with an effect is seen at once, the others under "More"."""
    page = one.page
    type_K(one, "[[16,16,20],[0,0,7],[0,0,0]]")
    page.wait_for_selector(row("tiny") + "[data-unused]", state="attached")
    dead = page.locator("#what-if-sliders .sliders-idle .sliders-row")
    assert dead.count() == 4 and not dead.first.is_visible()
    page.get_by_text("The numbers of the other models (7)").click()
    assert page.inner_text(".sliders-idle p") == "4 settings have no effect with this plan:"
    for i in range(4):
        assert dead.nth(i).locator("input[type=number]").is_disabled()
        assert dead.nth(i).locator(".sliders-note").inner_text().startswith("the tiny model ")
    assert "the tiny model takes no part" in page.inner_text(row("tiny"))
    type_K(one, K)
    page.wait_for_selector(row("tiny") + "[data-unused]", state="detached")
    assert dead.count() == 0 and not page.is_visible(".sliders-idle")
    keys = "rows => rows.map((row) => row.dataset.key)"
    first = page.locator("#what-if-sliders .sliders > .sliders-group .sliders-row").evaluate_all(keys)
    assert first == ["target accepts small", "small"]
    more = page.locator("#what-if-sliders .sliders-fold .sliders-row").evaluate_all(keys)
    assert more[0] == "target accepts tiny" and len(more) == 7, "each is back in its place"
    type_K(one, "[[0,0,8],[0,0,0],[0,0,0]]")
    page.wait_for_function(
        "key => document.querySelectorAll('#what-if-sliders .sliders > .sliders-group .sliders-row')[1].dataset.key === key",
        arg="small",
    )
    type_K(one, K)
    before = page.inner_text("#what-if-answer")
    page.fill(row("tiny") + " input[type=number]", "0.9")
    page.wait_for_function("before => document.querySelector('#what-if-answer').innerText !== before", arg=before)


def test_a_number_out_of_range_is_moved_into_it_and_said(one):
    """B10: no error of Gradio's, no traceback; the nearest number in range counts."""
    page = one.page
    box = row("target accepts small") + " input[type=number]"
    page.fill(box, "7")
    assert page.inner_text(row("target accepts small") + " .sliders-note") == "From 0 to 1: 7 became 1."
    page.wait_for_function(f"{WORDS}.includes('predicted')")
    page.locator(box).blur()
    assert page.input_value(box) == "1"
    page.fill(box, "")
    page.locator(box).blur()
    assert page.input_value(box) == "1"
    page.fill("#what-if-k input", "")
    page.wait_for_function(f"{WORDS}.includes('k is empty. Enter a whole number')")
    assert page.locator(".toast-wrap .error").count() == 0
    page.fill("#what-if-k input", "4")
    page.wait_for_function(f"{WORDS}.includes('predicted')")


def test_a_wrong_K_dims_the_curve_and_says_what_is_wrong(one):
    page = one.page
    opacity = "Number(getComputedStyle(document.querySelector('.whatif .chart')).opacity)"
    page.wait_for_function(f"{opacity} === 1")  # an earlier test may have dimmed it
    type_K(one, "[[4,2,1],[0,1,2],[0,0,1]]")
    page.wait_for_function(f"{WORDS}.includes('K is cumulative')")
    assert page.evaluate(opacity) < 0.5
    assert page.locator("#what-if-picture .staircase[data-wrong]").count() == 1
    type_K(one, K)
    page.wait_for_function(f"{opacity} === 1")
    assert page.locator("#what-if-picture .staircase[data-wrong]").count() == 0


def test_the_picture_and_the_field_hold_the_same_K(one):
    page = one.page
    type_K(one, K)
    handles = page.locator("#what-if-picture [role=slider]")
    page.wait_for_function("document.querySelector('#what-if-picture [role=slider]').textContent === '4'")
    assert handles.all_inner_texts() == ["4", "6", "8", "1", "2", "1"]
    assert handles.nth(1).get_attribute("data-told") == "tiny model for the big model: 2 tokens, to position 6"
    handles.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    page.wait_for_function("document.querySelector('#what-if-K textarea, #what-if-K input').value.startsWith('[[10,')")
    assert json.loads(page.input_value(FIELD))[0] == [10, 10, 10]
    assert page.evaluate("document.activeElement.getAttribute('aria-valuetext')") == "10, 10 tokens"
    page.wait_for_function(f"{TITLES}.includes('K=[[10,10,10],[0,1,2],[0,0,1]]')")


def test_an_end_can_be_dragged_and_ends_that_were_pushed_come_back(one):
    page = one.page
    type_K(one, K)
    page.wait_for_function("document.querySelector('#what-if-picture [role=slider]').textContent === '4'")
    handle = page.locator("#what-if-picture [role=slider]").first
    page.wait_for_function(f"{TITLES}.includes('K={K}')")  # the page is drawn anew, and nothing moves any more
    handle.hover()
    box, track = handle.bounding_box(), page.locator("#what-if-picture .staircase-track").first.bounding_box()
    token = track["width"] / 24
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 8 * token, y, steps=4)
    page.wait_for_function(
        "document.querySelector('#what-if-K textarea, #what-if-K input').value.startsWith('[[12,12,12]')"
    )
    page.mouse.move(x + 1 * token, y, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "document.querySelector('#what-if-K textarea, #what-if-K input').value.startsWith('[[5,6,8]')"
    )


def test_a_click_on_the_chart_moves_the_first_end_there(one):
    """The drafters behind it write as many as before; the way back brings the plan of the race."""
    page = one.page
    page.set_viewport_size({"width": 1280, "height": 720})
    type_K(one, K)
    page.wait_for_function(f"{TITLES}.includes('K={K}')")
    page.wait_for_timeout(400)  # the chart has moved
    grid = page.locator(".whatif .chart-unit").bounding_box()  # from the first k to the last one, 32
    x, y = grid["x"] + grid["width"] * 7 / 31, grid["y"] - 20
    page.mouse.click(x, y)
    page.wait_for_function(f"{TITLES}.includes('K=[[8,10,12],[0,1,2],[0,0,1]]')")
    assert json.loads(page.input_value(FIELD))[0] == [8, 10, 12]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(grid["x"] + grid["width"] * 15 / 31, y, steps=5)
    page.mouse.up()
    page.wait_for_function(f"{TITLES}.includes('K=[[16,18,20],[0,1,2],[0,0,1]]')")
    page.wait_for_function("document.querySelector('#what-if-picture [role=slider]').textContent === '16'")
    page.click(".whatif-back")
    page.wait_for_function("!document.querySelector('.chart-ghost')")
    assert page.input_value(FIELD) == RACED


def test_parts_of_the_cascade_are_one_click_away(one):
    page = one.page
    type_K(one, K)
    value = "document.querySelector('#what-if-K textarea, #what-if-K input').value"
    wanted = {
        "vertical only": "[[4,4,4],[0,1,1],[0,0,1]]",
        "horizontal only": "[[4,6,8],[0,0,0],[0,0,0]]",
        "copying only": "[[0,0,8],[0,0,0],[0,0,0]]",
        "both cascades": K,
    }
    page.wait_for_function("document.querySelector('#what-if-picture [role=slider]').textContent === '4'")
    for name, text in wanted.items():
        button = page.get_by_role("button", name=name)
        button.click()
        page.wait_for_function(f"text => {value} === text", arg=text)
        assert button.get_attribute("aria-pressed") == "true"
        page.wait_for_function(f"text => {TITLES}.includes(text)", arg=text)


def test_the_picture_of_a_step_follows_the_sliders_and_stays_as_high(one):
    page = one.page
    type_K(one, "[[9,9,13],[0,0,7],[0,0,0]]")
    told = "document.querySelector('.step-fold summary').textContent"
    assert not page.is_visible(".whatif-better") and not page.is_visible(".step-drawn")
    page.click(".step-fold summary")
    assert page.is_visible(".step-drawn") and page.is_visible(".step-rows")
    assert page.inner_text(".step-said").startswith("Each guess costs time, but later ones")
    page.wait_for_function("document.querySelectorAll('.step-place').length === 14")
    page.wait_for_function(
        "document.querySelector('#what-if-picture .staircase-words').innerText.includes('9 from small model')"
    )
    cost = page.locator(row("small") + " input[type=number]")
    began = cost.input_value()
    place = """() => { const box = (one) => one.getBoundingClientRect(), { top } = box(document.querySelector('.whatif .finding'));
        return ['.step-picture', '.step-drawn > *'].flatMap((name) => [...document.querySelectorAll(name)].map(box))
            .flatMap(({ left, y, width, height }) => [left, y - top, width, height]); }"""
    before, stood = page.evaluate(told), page.evaluate(place)
    cost.fill("0.9")
    page.wait_for_function(f"before => {told} !== before", arg=before)
    assert page.evaluate(place) == pytest.approx(stood, abs=0.1), "no part of the equation moves"
    tokens, runs, speed = page.locator(".step-sum b").all_inner_texts()
    page.wait_for_function("speed => document.querySelector('.whatif .finding-speed').textContent === speed", arg=speed)
    digits = len(speed.rstrip("×").partition(".")[2])
    assert f"{float(tokens) / float(runs):.{digits}f}×" == speed, "the equation is right as it is written"
    equation = f"{tokens} tokens; the big model alone writes {runs} in that time. {tokens} / {runs} = {speed}."
    assert page.evaluate(told) == f"One step, predicted: {equation}"
    costs = [float(text) for text in page.locator(".step-rows b").all_inner_texts() if text]
    assert sum(costs) == pytest.approx(float(runs), abs=0.06)
    assert " 1: " in page.get_attribute(".step-drawn", "aria-label")
    cost.fill(began)
    page.wait_for_function(f"before => {told} === before", arg=before)


@variants("size", SIZES)
def test_the_results_stay_in_view_while_the_knobs_are_used_and_find_their_way_back(one, size):
    page = one.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    type_K(one, RACED)
    back = page.locator(".whatif-back")
    key = page.locator('.whatif-key [data-kind="predicted"]')
    if back.is_visible():  # an earlier test moved something
        back.click()
    page.wait_for_function("!document.querySelector('.whatif-back').hasAttribute('data-away')")
    assert not back.is_visible() and page.locator(".chart-ghost").count() == 0
    assert key.inner_text() == "predicted from the race’s averages"
    note = page.locator(row("target accepts small") + " .sliders-note")
    number = page.locator(row("target accepts small") + " input[type=number]")
    began = number.input_value()
    assert note.inner_text() == ""
    said = [" ".join(lines) for lines in page.locator(".chart-value").evaluate_all(LINES)]
    found = [label for text in said for label in re.findall(r"[a-z]+ [\d.]+×", text)]  # apart where there is room
    assert sorted(found) == ["measured 3.6×", "measured 4.5×", "predicted 3.6×", "predicted 4.7×"]
    assert not page.is_visible(".whatif-whose"), "the chart shows the race"
    page.eval_on_selector("#what-if-plan", "plan => plan.scrollIntoView({ block: 'end' })")
    page.get_by_role("button", name="vertical only").click()
    page.wait_for_function(f"{TITLES}.includes('K=[[8,8,8],[0,3,3],[0,0,2]]')")
    assert page.inner_text(".whatif-whose") == "The Race tab\u2019s 4.5× is another plan\u2019s, measured."
    seen = ".whatif .finding" if size[0] == PHONE else ".whatif .chart"
    assert page.eval_on_selector(
        seen,
        """(part) => { const { top, bottom } = part.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }""",
    ), f"{seen} is in view beside the plan"
    assert key.inner_text() == "predicted for your plan"
    assert page.locator(".chart-ghost").count() == 2
    ends = "document.querySelector('.whatif .chart-tick').textContent"
    top = page.evaluate(ends)
    number.fill("0.1")
    assert note.inner_text() == f"assumed; the race measured {began}"
    page.wait_for_function("document.querySelector('.whatif-key').textContent.includes('your numbers')")
    assert page.evaluate(ends) == top, "the axis stays"
    back.click()
    page.wait_for_function("!document.querySelector('.chart-ghost')")
    assert number.input_value() == began and page.input_value(FIELD) == RACED
    assert note.inner_text() == "" and not back.is_visible()
    page.set_viewport_size({"width": 1280, "height": 720})
