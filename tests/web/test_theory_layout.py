"""Where the parts of the Theory tab stand, and the labels of its chart."""

from __future__ import annotations

import json

import pytest
from browser import Tab

from csd.web.races import recorded_races

FIELD = "#what-if-K textarea, #what-if-K input"
SIZES = [(1280, 720), (1920, 1080), (390, 844)]
RESULTS = (".whatif .finding", ".whatif .chart", ".step-fold summary")
CONTROLS = ("#what-if-sliders", "#what-if-picture", "#measure")
LABELLED = ("1-story-an-otter-makes-a-boat", "6-story-a-mouse-on-an-island-sampled")
OVERLAPS = """() => {
    const texts = [...document.querySelectorAll('.whatif .chart text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
    const room = ({ height }) => 0.15 * Math.min(height, 24);
    return texts.flatMap(([one, a], i) => texts.slice(i + 1).filter(([, b]) => a.left < b.right && b.left < a.right
        && a.top + room(a) < b.bottom - room(b) && b.top + room(b) < a.bottom - room(a)).map(([other]) => [one, other]));
}"""


@pytest.mark.slow
def test_the_sum_of_a_step_is_seen_without_scrolling_and_the_controls_stand_beside_the_results(chromium, served):
    tab = Tab(chromium, served)
    page = tab.page
    page.get_by_role("tab", name="Theory").click()
    page.wait_for_selector(".step-fold summary")
    box = {name: page.locator(name).bounding_box() for name in (*RESULTS, *CONTROLS)}
    assert box[RESULTS[-1]]["y"] + box[RESULTS[-1]]["height"] < 720
    tops = [box[name]["y"] for name in RESULTS]
    assert tops == sorted(tops)
    assert all(box[one]["x"] + box[one]["width"] < box[other]["x"] for one in RESULTS for other in CONTROLS)
    assert box["#measure"]["y"] + box["#measure"]["height"] < 720, "what is needed is seen without scrolling"
    assert not page.is_visible("#parts"), "it belongs to the plan"
    page.click("#what-if-picture summary")
    assert page.is_visible("#parts") and page.is_visible("#parts-about")
    page.click("#what-if-picture summary")
    page.set_viewport_size({"width": 1920, "height": 1080})
    chart, step, knobs = (
        page.locator(name).bounding_box() for name in (".whatif .chart", "#what-if-step", "#what-if-knobs")
    )
    assert chart["width"] > 1920 / 2 and chart["height"] > 1080 / 3
    assert step["y"] >= chart["y"] + chart["height"]
    assert max(one["y"] + one["height"] for one in (step, knobs)) <= 1080
    page.click(".step-fold summary")
    assert page.locator(".step-places").bounding_box()["height"] > 1080 / 8
    page.click(".step-fold summary")
    page.set_viewport_size({"width": 390, "height": 844})
    order = (".finding", "#what-if-sliders", ".whatif .chart", "#what-if-step", "#what-if-picture", "#what-if-races")
    tops = [page.locator(f"#theory {name}").first.bounding_box()["y"] for name in order]
    assert tops == sorted(tops)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not tab.errors
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", LABELLED)
def test_labels_of_the_chart_do_not_overlap(chromium, served, name):
    """Of a race with a plan and of one with an adaptive lane; as measured, and with sliders moved."""
    tab = Tab(chromium, served)
    page = tab.page
    page.evaluate(f"location.hash = 'race={name}'")
    page.wait_for_selector("#after")
    page.get_by_role("tab", name="Theory").click()
    page.wait_for_selector(".chart-value")
    numbers = page.locator("#what-if-sliders .sliders > .sliders-group input[type=number]")
    for moved in ((), ("0.5", "0.2"), ("0.95", "0.05")):
        for i, number in enumerate(moved):
            numbers.nth(i).fill(number)
        if moved:
            page.wait_for_function("document.querySelector('.whatif-back').hasAttribute('data-away')")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(200)  # the chart is drawn anew
            assert page.evaluate(OVERLAPS) == [], (moved, width)
    assert not tab.errors
    tab.close()


@pytest.mark.slow
def test_the_picture_is_drawn_when_the_tab_is_opened_after_a_race(chromium, served):
    """The parts of a tab are drawn when it is opened first; a race without a K of its own must not leave them empty."""
    tab = Tab(chromium, served)
    page = tab.page
    adaptive = next(race for race in recorded_races().values() if race.traces[-1].header.method == "adaptive cascade")
    page.evaluate(f"location.hash = 'race={adaptive.id.removeprefix('recorded-')}'")
    page.wait_for_selector("#after")
    page.get_by_role("tab", name="Theory").click()
    page.click("#what-if-picture summary")
    page.wait_for_selector("#what-if-picture [role=slider]")
    assert json.loads(page.input_value(FIELD))[0] == [
        int(text) for text in page.locator("#what-if-picture [role=slider]").all_inner_texts()[:3]
    ]
    bars = page.locator("#what-if-picture .staircase-bar").evaluate_all("bars => bars.map((bar) => bar.clientWidth)")
    assert max(bars) > 40
    assert not tab.errors
    tab.close()
