"""A prompt of many lines lies over the rows below its field while it is typed, in a headless Chromium."""

from __future__ import annotations

from variants import variants


def test_nothing_is_cut_off_beside_a_long_prompt_that_is_typed(tab):
    """It lies over the rows below it, which are wider."""
    page = tab.page
    page.fill("#prompt textarea", "word " * 120)
    page.wait_for_selector("html[data-long-prompt]")
    page.wait_for_function("getComputedStyle(document.querySelector('#more')).opacity === '0'")
    page.focus("#race")
    page.wait_for_selector("html:not([data-long-prompt])")
    page.wait_for_function("getComputedStyle(document.querySelector('#more')).opacity === '1'")
    assert not tab.errors


@variants("size", [(1280, 720), (1920, 1080)])
def test_the_row_below_a_short_prompt_stays_while_it_is_typed(tab, size):
    page = tab.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.click("#prompt textarea")
    page.keyboard.press("Control+a")
    page.keyboard.type("Name three animals")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert not page.evaluate("document.documentElement.hasAttribute('data-long-prompt')")
    assert page.eval_on_selector("#more", "node => getComputedStyle(node).opacity") == "1"
    assert not tab.errors
