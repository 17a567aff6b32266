"""The tour in a headless Chromium: its steps, keys and pictures."""

from __future__ import annotations

import pytest
from browser import CUT
from playwright.sync_api import Page

from csd.sentences import capitalized
from csd.stage import tour

ANSWER_IN_VIEW = """() => {
  const [said, buttons] = [".tour-question:not([hidden]) .tour-answer", ".tour-buttons"].map((one) =>
    document.querySelector(one).getBoundingClientRect());
  return said.height && said.bottom <= buttons.top + 1;
}"""


def go_on(page: Page) -> None:
    """To the next act, by way of the answer of this tab."""
    page.click(".tour-next")
    page.click(".tour-next")


def test_the_first_act_shows_the_prompt_that_it_continues(tab):
    page = tab.page
    page.click("#tour-start")
    shown = "getComputedStyle(document.querySelector('.tour .cs-text'), '::before').content"
    assert "The wind said to the sun" in page.evaluate(shown)
    assert page.locator(".tour .cascade-stage[data-other]").count() == 0, (
        "its colours stay: the tour has its own prompts"
    )


@pytest.mark.slow
def test_the_tour_steps_and_closes_by_keyboard(tab):
    page = tab.page
    page.focus("#tour-start")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tour dialog[open] section:not([hidden]) h2")

    def title() -> str:
        return page.inner_text(".tour section:not([hidden]) h2")

    def lanes() -> list[str]:
        return page.locator(".tour .cs-track-row .cs-name b").all_inner_texts()

    assert lanes() == ["big model alone"]
    seen = [title()]
    for act in tour.ACTS[1:]:
        assert page.evaluate("document.activeElement.classList.contains('tour-next')")
        before = tour.ACTS[len(seen) - 1]
        if page.inner_text(".tour-next") == "Show answer":
            page.keyboard.press("ArrowRight")
            assert title() == before.title, "nobody leaves an act without its answer"
            assert (
                page.inner_text(".tour-answer:visible")
                == f"{capitalized(before.choices[before.right])}. {before.answer}"
            )
        assert page.inner_text(".tour-next") == "Next"
        page.keyboard.press("ArrowRight")
        seen.append(title())
        assert len(lanes()) == len(act.lanes)
        assert page.is_visible(".tour .cs-lead") == (act.show == "result")
        assert page.is_visible(".tour .cs-runs >> nth=-1") and page.is_visible(".tour-lose") == bool(act.recipe)
        assert page.is_visible(".tour .cs-score") == (act.show == "review"), "the picture is there at once"
        assert page.locator(".tour-choices:visible button span").all_inner_texts() == list(act.choices)
        assert page.evaluate(CUT, ".tour-stage") == [0, 0]
        if act.title == tour.ACTS[4].title:  # its lanes run to the end, and rest there with the review of its text
            assert page.inner_text(".tour .cs-score-title").startswith("Step 1 of 2, cascade")
            assert page.evaluate(CUT, ".tour .cs-score") == page.evaluate(CUT, ".tour .cs-axis-vertical") == [0, 0]
            page.click(".tour-again")
            page.wait_for_selector(".tour .cascade-stage[data-state=replay]")
            assert not page.is_visible(".tour .cs-score")
            page.focus(".tour-next")
            page.wait_for_selector(".tour .cascade-stage[data-state=done] .cs-score")
            page.keyboard.press(str(2 - act.right))  # the other one
            assert (
                page.inner_text(".tour-answer:visible")
                == f"Not quite. The answer is “{act.choices[act.right]}”. {act.answer}"
            )
            assert page.locator(".tour-choices:visible button:disabled").count() == len(act.choices), "they stay"
            assert (
                page.inner_text(".tour-choices:visible [data-taken]:not([data-right]) span")
                == act.choices[1 - act.right]
            )
            assert page.evaluate(CUT, ".tour-stage") == [0, 0]
            page.set_viewport_size({"width": 390, "height": 844})
            page.wait_for_function(f"({CUT})('.tour .cs-score')[0] === 0")  # its type is fitted to the phone
            assert page.evaluate(CUT, ".tour-stage")[0] == page.evaluate(CUT, ".tour .cs-score")[0] == 0
            assert page.locator(".tour .cs-score-who:visible").count() == 4
            foot = page.locator(".tour-buttons").bounding_box()["y"]
            assert page.locator(".tour-choices:visible").evaluate("n => n.getBoundingClientRect().bottom") <= foot
            assert page.get_attribute(".tour .cs-score", "data-more") is None, "no picture fades out where it ends"
            assert page.is_visible(".tour .cs-axis-horizontal") and page.is_visible(".tour .cs-axis-vertical")
            page.set_viewport_size({"width": 1280, "height": 720})
            page.focus(".tour-next")
    assert seen == [act.title for act in tour.ACTS]
    *_, losing, last = tour.ACTS
    page.locator(".tour-choices:visible button").nth(last.right).click()
    assert page.inner_text(".tour-answer:visible") == f"Right. {last.answer}"
    assert page.evaluate("document.activeElement.classList.contains('tour-next')")
    assert not page.is_visible(".tour-lose")
    page.keyboard.press("ArrowLeft")
    assert title() == losing.title and page.is_visible(".tour-lose")
    assert page.locator(".tour-choices:visible button:enabled").count() == 2, "each time anew"
    page.locator(".tour-choices:visible button").nth(losing.right).click()
    assert page.inner_text(".tour .cs-track-row >> nth=3").startswith("adaptive cascade"), "the lane that it speaks of"
    box = page.locator(".tour dialog").bounding_box()
    assert box["x"] >= 0 and box["y"] >= 0
    assert box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 720
    page.keyboard.press("Escape")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert page.evaluate("document.activeElement.id") == "tour-start"
    assert not tab.errors


def test_back_closes_the_tour_and_leaves_the_page_where_it_is(tab):
    page = tab.page
    address, race = page.url, page.get_attribute("#stage .cascade-stage", "data-race")
    page.click("#tour-start")
    page.click(".tour-next")
    page.go_back()
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert page.url == address and page.get_attribute("#stage .cascade-stage", "data-race") == race
    page.click("#tour-start")
    page.click(".tour-close")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    page.wait_for_function("!history.state?.tour")
    page.click("#tour-start")
    page.wait_for_selector(f'.tour h2:visible:text-is("{tour.ACTS[0].title}")')
    page.keyboard.press("Escape")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert not tab.errors


@pytest.mark.slow
def test_on_a_phone_the_tour_scrolls_as_one_page_above_its_buttons(tab):
    page = tab.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.click("#tour-start")
    for act in tour.ACTS:
        page.wait_for_selector(f'.tour h2:visible:text-is("{act.title}")')
        top = page.locator(".tour section:not([hidden]) .tour-count").bounding_box()
        assert top["y"] < page.locator(".tour h2:visible").bounding_box()["y"], "every act begins at its top"
        page.locator(".tour-choices:visible button").first.click()
        page.wait_for_function(ANSWER_IN_VIEW)
        buttons = page.locator(".tour-buttons").bounding_box()
        assert buttons["y"] + buttons["height"] <= 845
        assert page.evaluate(CUT, ".tour-stage")[0] == 0
        assert page.locator(".tour h2:visible").bounding_box()["y"] >= 0, "the title stays above what scrolls"
        page.click(".tour-next")
    assert not tab.errors


def test_the_picture_of_an_act_moves_once_when_the_act_is_opened(tab):
    """The rounds of the review come one by one; then the whole picture rests."""
    page = tab.page
    tab.allow_motion()
    page.click("#tour-start")
    go_on(page)
    watch = ".tour .cs-rounds .cs-unfold"
    page.wait_for_selector(f"{watch}:text-is('Stop')")
    page.wait_for_selector(".tour .cs-round-told:not(:empty)")
    assert page.evaluate(CUT, ".tour-stage") == [0, 0], "the sentence of a round takes the place of the key"
    page.wait_for_selector(f"{watch}:text-is('Watch it happen')")
    assert not page.locator(".tour .cs-score[data-stepping]").count()
    assert not tab.errors


def test_a_double_click_on_answer_leaves_the_answer_there(tab):
    page, title = tab.page, "dialog[open] h2:visible"
    page.click("#tour-start")
    asked = page.inner_text(title)
    page.dblclick(".tour-next")
    assert page.inner_text(title) == asked and page.inner_text(".tour-answer:visible")
    page.click(".tour-next")
    assert page.inner_text(title) != asked
    assert not tab.errors


def test_an_answer_ends_what_moves_in_the_picture(tab):
    """The lanes that still run, and the rounds that still come."""
    page = tab.page
    tab.allow_motion()
    page.click("#tour-start")
    assert page.get_attribute(".tour .cascade-stage", "data-state") == "replay"
    page.keyboard.press("1")
    assert page.get_attribute(".tour .cascade-stage", "data-state") == "done"
    page.click(".tour-next")
    page.wait_for_selector(".tour .cs-round-told:not(:empty)")
    page.keyboard.press("1")
    assert page.inner_text(".tour .cs-round-told") == ""
    assert page.inner_text(".tour .cs-unfold") == "Watch it happen"
    assert not tab.errors


@pytest.mark.slow
def test_the_tour_races_what_a_cascade_loses_from_any_tab(tab):
    page = tab.page
    tab.fill("My own words", 12)
    page.get_by_role("tab", name="Theory").click()
    page.click("#tour-start")
    for _ in tour.ACTS[1:-1]:
        go_on(page)
    page.click(".tour-lose")
    assert tab.status("ended").startswith("Done: 12 tokens each.")
    assert page.is_visible("#stage .cs-track") and page.input_value("#temperature input") == "1.5"
    assert page.locator("#stage .cs-track-row .cs-name b").all_inner_texts()[2:] == [
        "cascade",
        "adaptive cascade",
    ]
    assert page.inner_text("#own-prompt") == "My prompt", "what was typed can be had back"
    page.fill("#prompt textarea", "Why is the sea salty?")
    page.wait_for_function("document.querySelector('#temperature input').value === '0'")
    page.wait_for_function("document.querySelector('#more').innerText.trim() === 'Settings'")
    assert page.input_value("#prompt textarea") == "Why is the sea salty?"
    assert page.input_value("#max-new input") == "12"
    assert not tab.errors
