"""The tour as slides, and the talk: every slide whole and large, its keys, and the clicker."""

from __future__ import annotations

import pytest
from browser import CUT
from playwright.sync_api import Page

from csd.stage import tour
from csd.stage.remember import POINTS

AXES_SAY_IT = """() => [...document.querySelectorAll(".tour .cs-axis-vertical")].filter(axis => axis.checkVisibility())
    .every(axis => axis.textContent.includes("check"))"""  # what the vertical arrow means


def test_every_slide_is_whole_on_a_projector_of_720_lines(tab):
    """While the stage is presented: before the question is answered, and after the longer of its answers."""
    page = tab.page
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    page.keyboard.press("p")
    page.keyboard.press("g")
    for act in tour.ACTS:
        page.wait_for_selector(f'.tour h2:visible:text-is("{act.title}")')
        assert page.evaluate(CUT, ".tour-stage") == [0, 0], act.title
        if act.talk:
            page.wait_for_function(AXES_SAY_IT)
        page.keyboard.press("123"[(act.right + 1) % 2])
        page.wait_for_selector(".tour-answer:visible b")
        assert page.evaluate(CUT, ".tour-stage") == [0, 0], act.title
        page.keyboard.press("ArrowRight")
    assert not tab.errors


def test_a_slide_has_keys_of_its_own_and_buttons_only_while_the_pointer_moves(tab):
    page = tab.page
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    page.keyboard.press("p")
    page.keyboard.press("g")
    buttons = "getComputedStyle(document.querySelector('.tour-buttons')).opacity"
    box = page.locator(".tour-next").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    assert page.evaluate(buttons) == "1"
    page.keyboard.press("PageDown")
    assert page.evaluate(buttons) == "0" and page.is_visible(".tour-answer:visible b"), "nothing covers the answer"
    page.keyboard.press("?")
    assert page.is_visible(".tour-keys")
    page.keyboard.press("b")
    assert page.get_attribute(".tour dialog", "data-blank") == "" and not page.is_visible(".tour-keys")
    for key in ("b", "PageDown", "Escape"):  # any of them brings the slide back, and does nothing else
        page.keyboard.press(key)
        assert page.get_attribute(".tour dialog", "data-blank") is None and page.is_visible(".tour-answer:visible b")
        page.keyboard.press("b")
    page.keyboard.press("b")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".tour h2:visible") == tour.ACTS[1].title
    page.keyboard.press("ArrowRight")
    assert page.is_visible(".tour-answer:visible b"), "an arrow tells the answer first, as Page Down does"
    assert page.inner_text(".tour h2:visible") == tour.ACTS[1].title
    assert not tab.errors


# What a slide has beyond its window or below its fold, and text of less than 16 pixels of a window of 720 lines.
FAULTS = """() => {
  const dialog = document.querySelector(".tour dialog"), faults = [];
  const scale = innerWidth > 900 ? innerHeight / 720 : 0;
  const zoom = parseFloat(getComputedStyle(dialog).zoom);
  for (const part of [dialog, ...dialog.querySelectorAll(".tour-stage, .cs-score")]) {
    if (!part.checkVisibility()) continue;
    if (part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1) faults.push(`${part.className} is cut`);
  }
  const walker = document.createTreeWalker(dialog, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const words = node.textContent.trim(), owner = node.parentElement;
    if (!words || !owner.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { right, bottom, width } = range.getBoundingClientRect();
    if (width && (right > innerWidth + 1 || bottom > innerHeight + 1)) faults.push(`${words} is outside`);
    const drawing = owner.closest("svg");
    const unit = drawing ? drawing.getScreenCTM().a : zoom;
    if (width && parseFloat(getComputedStyle(owner).fontSize) * unit < 15.9 * scale) faults.push(`${words} is small`);
  }
  return faults;
}"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(390, 844), (1280, 720), (1920, 1080)])
def test_every_slide_of_a_talk_is_whole_and_read_from_afar(tab, size):
    page = tab.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(reduced_motion="reduce")
    begin_talk(page)
    for act in tour.ACTS:
        if not act.talk:
            continue
        page.wait_for_selector(f'.tour h2:visible:text-is("{act.title}")')
        assert page.evaluate(FAULTS) == [], act.title
        page.keyboard.press("PageDown")
    page.wait_for_selector('.tour h2:visible:text-is("What to remember")')
    assert page.evaluate(FAULTS) == []
    assert not tab.errors


def test_who_does_not_wait_for_the_end_of_a_race_on_a_slide_is_shown_it(tab):
    page = tab.page
    begin_talk(page)
    acts = [act for act in tour.ACTS if act.talk]
    for act in acts[:-1]:
        if act is acts[-2]:
            tab.allow_motion()
        page.keyboard.press("PageDown")
    page.wait_for_selector(f'.tour h2:visible:text-is("{acts[-1].title}")')
    page.wait_for_selector(".tour .cascade-stage[data-state=replay]")
    page.keyboard.press("PageDown")
    assert page.is_visible(".tour .cs-factor") and page.is_visible(f'.tour h2:text-is("{acts[-1].title}")')
    page.keyboard.press("PageDown")
    page.wait_for_selector('.tour h2:visible:text-is("What to remember")')
    assert not tab.errors


def test_a_press_while_a_picture_moves_goes_on(tab):
    page = tab.page
    begin_talk(page)
    tab.allow_motion()
    for title in ("Guess ahead", "Guess for the guesser: the vertical cascade"):
        page.keyboard.press("PageDown")
        page.wait_for_selector(f'.tour h2:visible:text-is("{title}")')
        page.wait_for_selector(".tour .cs-score[data-numbered]")
    assert not tab.errors


def begin_talk(page: Page) -> None:
    """From the race on the stage to the first slide after it."""
    stage = "#stage .cascade-stage"
    page.wait_for_selector(f"{stage}[data-state]")
    page.focus(stage)
    page.keyboard.press("End")
    page.keyboard.press("p")
    page.wait_for_selector(f"{stage}[data-state=done]")
    page.keyboard.press("PageDown")
    page.wait_for_selector(".tour dialog[open]")


@pytest.mark.slow
def test_a_talk_from_a_race_without_a_win_ends_with_its_own_number(tab):
    page = tab.page
    tab.fill(tokens=40)
    page.click("#lose")
    tab.status("ended")
    page.reload()
    page.wait_for_selector("#stage .cs-headline[data-beaten] .cs-factor:not(:empty)", state="attached")
    begin_talk(page)
    for _ in range(8):
        page.keyboard.press("PageDown")
    race = [len(trace.steps) for trace in tour.ACTS[4].traces]
    assert page.inner_text(".tour-won b") == f"{race[-1]} runs"
    assert page.inner_text(".tour-won span") == "of the big model instead of 12, for the same text"
    assert page.inner_text(".tour-began") == "This is the race of the slides."
    page.keyboard.press("Home")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert page.inner_text("#stage .cs-onward").startswith("Talk: 1 of"), "the talk begins again"
    assert not tab.errors


@pytest.mark.slow
def test_one_key_of_a_clicker_tells_a_whole_talk(tab):
    """The verdict, a few acts, and what to remember, where it stops. Who leaves that slide goes on: with
    a race that is lost, a look inside, the next example and inside that."""
    page, stage = tab.page, "#stage .cascade-stage"
    title = ".tour section:not([hidden]) h2"
    tab.fill(tokens=12)
    page.focus(stage)
    page.keyboard.press("End")
    page.keyboard.press("p")
    page.wait_for_selector(f"{stage}[data-state=done]")
    shown, won = page.get_attribute(stage, "data-race"), page.inner_text(f"{stage} .cs-factor")
    acts = [act for act in tour.ACTS if act.talk]
    slides = 2 + len(acts)
    assert page.inner_text(f"{stage} .cs-onward") == f"Talk: 1 of {slides} →"
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".tour-count:visible") == f"2 of {slides}"
    page.keyboard.press("PageUp")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    page.click(f"{stage} .cs-onward")  # once more from the race on
    for act in acts:
        assert page.inner_text(title) == act.title
        assert page.inner_text(".tour-claim:visible").startswith(act.claim) and not page.is_visible(
            ".tour-text:visible"
        )
        assert not page.is_visible(".tour-ask:visible"), "a press for each slide"
        shown_words = page.inner_text(".tour dialog").lower()
        assert "adaptive" not in shown_words and "fixed plan" not in shown_words, "a talk introduces neither"
        page.keyboard.press("PageDown")
    for _ in range(2):
        assert page.inner_text(title) == "What to remember"
        assert page.locator(".tour li:visible > p").all_inner_texts() == [point.text for point in POINTS]
        assert page.inner_text(".tour-won b") == page.text_content("#stage .cs-factor")
        assert not page.is_visible(".tour .cascade-stage")
        assert page.inner_text(".tour-began") == "One recorded race, with a plan tuned to it.", (
            "so much the number is worth"
        )
        page.keyboard.press("PageDown")  # a talk stops here
    page.keyboard.press("Space")
    assert page.is_visible(".tour dialog"), "nor does Space leave the last slide"
    page.keyboard.press("PageUp")
    assert page.inner_text(title) == acts[-1].title
    page.keyboard.press("l")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    tab.status("ended")
    page.wait_for_selector(f'{stage}[data-state=done]:not([data-race="{shown}"])')
    assert page.input_value("#temperature input") == "1.5", "the race that the last act has named"
    lost = page.get_attribute(stage, "data-race")
    page.keyboard.press("PageUp")
    assert page.inner_text(title) == acts[-1].title, "back to the slide that was left"
    page.go_back()
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    page.keyboard.press("PageDown")
    assert page.inner_text(title) == acts[-1].title, "which is still to come"
    page.keyboard.press("PageDown")
    assert page.inner_text(title) == "What to remember"
    assert page.inner_text(".tour-won b") == won != page.text_content("#stage .cs-factor"), "the race that was won"
    page.eval_on_selector(".tour-next", "button => button.click()")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    page.keyboard.press("PageDown")
    assert page.is_visible(f"{stage}[data-opened] .cs-score") and not page.is_visible(".tour dialog")
    page.keyboard.press("PageDown")  # and on, without the verdict once more
    page.wait_for_selector(f'{stage}[data-state=done]:not([data-race="{shown}"], [data-race="{lost}"])')
    page.keyboard.press("PageDown")
    assert page.is_visible(f"{stage}[data-opened] .cs-score")
    page.keyboard.press("PageUp")
    assert page.is_visible(f"{stage}[data-state=done] .cs-lead")
    assert not tab.errors


def test_a_slide_that_was_left_comes_next_and_escape_closes_its_keys_first(tab):
    page, title, keys = tab.page, ".tour section:not([hidden]) h2", ".tour-keys"
    page.focus("#stage .cascade-stage")
    page.keyboard.press("p")
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    page.wait_for_selector("#stage .cascade-stage[data-present][data-state=done]")
    for _ in range(2):
        page.keyboard.press("PageDown")
    assert (page.inner_text(title), page.inner_text(".tour-count:visible")) == ("Guess ahead", "3 of 9")
    page.keyboard.press("?")
    assert page.is_visible(keys)
    page.keyboard.press("Escape")
    assert not page.is_visible(keys) and page.inner_text(title) == "Guess ahead"
    page.go_back()
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert page.inner_text("#stage .cs-onward") == "Talk: 2 of 9 →"
    page.keyboard.press("PageDown")
    assert page.inner_text(title) == "Guess ahead"
    page.go_back()
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    page.keyboard.press("PageUp")
    assert page.inner_text(title) == "One by one"
    page.keyboard.press("Escape")
    page.wait_for_selector("#stage .cascade-stage:not([data-present])")
    assert not page.is_visible(".tour dialog") and page.is_visible("#stage .cs-how"), "the page, as it was before"
    page.wait_for_function("!history.state?.over?.length && !history.state?.tour")
    assert not tab.errors


def test_end_leads_to_the_last_slide(tab):
    page, title = tab.page, ".tour section:not([hidden]) h2"
    page.focus("#stage .cascade-stage")
    page.keyboard.press("p")
    page.keyboard.press("End")
    assert page.inner_text(title) == "What to remember"
    page.keyboard.press("PageUp")
    assert page.inner_text(title) != "What to remember"
    page.keyboard.press("End")
    assert page.inner_text(title) == "What to remember"
    assert not tab.errors
