"""The first picture of the page, before Gradio's program has come."""

from __future__ import annotations

import re

import pytest
from browser import SIZE
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from variants import variants

from csd.web.early_style import EarlyStyle
from csd.web.page import SUBTITLE, TITLE

HEAD = "<style>é</style>"
PAGE = "<html><head><title>x</title></head><body></body></html>"


def client(*routes: Route) -> TestClient:
    return TestClient(EarlyStyle(Starlette(routes=list(routes)), HEAD))


@pytest.mark.parametrize(
    "answer", [HTMLResponse(PAGE), StreamingResponse(iter([PAGE[:20], PAGE[20:]]), status_code=200)]
)
def test_it_stands_at_the_end_of_the_head(answer):
    got = client(Route("/", lambda _: answer)).get("/")
    assert got.content.decode() == PAGE.replace("</head>", f"{HEAD}</head>")
    assert int(got.headers["content-length"]) == len(got.content)


def test_everything_else_passes_unchanged():
    one = client(Route("/other", lambda _: HTMLResponse(PAGE)), Route("/", lambda _: HTMLResponse("no page", 503)))
    assert one.get("/other").text == PAGE
    assert (one.get("/").text, one.get("/").status_code) == ("no page", 503)


def test_the_race_plays_before_gradio_is_there(chromium, house):
    page = chromium.new_context(viewport=SIZE).new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(house.url)
    drawn = page.evaluate("getComputedStyle(document.body, '::before').content")
    below = page.evaluate("getComputedStyle(document.body, '::after').content")
    assert (drawn, below) == (f'"{TITLE}"', f'"{SUBTITLE}"') and page.inner_text("body").strip() == ""
    page.wait_for_selector("#early .cs-token.cs-guess", state="attached")
    page.keyboard.press("p")  # the page presents as soon as it is there
    assert page.locator("#early .cascade-stage[data-present]").count() == 0
    page.context.close()


@pytest.mark.parametrize("address", ["#theory", "#race=recorded-1", "?prompt=Hello", "?hide=seed"])
def test_another_address_does_not_begin_with_that_race(chromium, house, address):
    page = chromium.new_context(viewport=SIZE).new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(house.url + address)
    assert page.evaluate("typeof CascadeEarly.playEarly") == "function"
    assert page.locator("#early").count() == 0
    page.context.close()


PARTS = (
    ".cs-headline",
    ".cs-track",
    ".cs-legend",
    ".cs-replay",
)  # not the bars and the text, which the opening moves, nor the idea, whose words change


@variants("size", [(1280, 720), (1920, 1080), (390, 844)])
def test_the_pages_stage_stands_and_goes_on_where_the_early_one_was(chromium, house, size):
    """Within a few pixels, so that nothing seems to jump."""
    page = chromium.new_context(viewport={"width": size[0], "height": size[1]}).new_page()
    page.add_init_script("""new MutationObserver(() => {
        const stage = document.querySelector("#early .cascade-stage")?.cascadeStage;
        if (stage?.played) window.reached = stage.played;
    }).observe(document, { subtree: true, childList: true, attributes: true });""")
    page.goto(house.url, wait_until="commit")
    page.wait_for_selector("#early .cs-idea b")
    before = places(page, "#early")
    page.wait_for_selector("html:not([data-drawing]) #stage .cascade-stage")
    now, reached = page.evaluate(
        "[document.querySelector('#stage .cascade-stage').cascadeStage.played, window.reached]"
    )
    assert now >= reached > 0
    assert before == pytest.approx(places(page, "#stage"), abs=4)
    assert page.locator("#early").count() == 0
    rests = page.evaluate("""async () => {
        const tops = [];
        for (let i = 0; i < 12; i += 1) {
            await new Promise(requestAnimationFrame);
            tops.push(document.querySelector("#stage .cs-selected").getBoundingClientRect().top);
        }
        return Math.max(...tops) - Math.min(...tops);
    }""")
    assert rests < 1, "the lane that waits does not move"
    page.context.close()


EARLY = ("tabs", "links", "form", "examples", "settings")  # the rows above the early race
REAL = ("#tabs [role=tab]", "#tour-start, #puzzles-open", "#prompt, #race", "#examples button", "#more, #races")


@variants("size", [(390, 844), (1280, 720), (1920, 1080)])
def test_the_form_and_the_buttons_can_be_read_where_they_will_stand(chromium, house, size):
    page = chromium.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce").new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(house.url)
    before = [seen(page, f"#early .early-{row} > span") for row in EARLY]
    page.unroute("**/assets/*.js")
    page.goto(house.url)
    page.wait_for_selector("html:not([data-drawing]) #race")
    for early, (name, now) in zip(before, zip(EARLY, (seen(page, parts) for parts in REAL)), strict=True):
        assert len(early) == len(now) > 1, name
        for (text, place), (real, real_place) in zip(early, now, strict=True):
            if text == "Puzzles":  # how many are solved comes with the page
                place[2] = real_place[2]
            assert place == pytest.approx(real_place, abs=6), text
            assert real.startswith(text)
    page.context.close()


PRESSED = [
    ("How it works", "#tour dialog[open]"),
    ("Code", "#go[data-racing]"),
    ("Race", "#go[data-racing]"),
    ("Theory", "#what-if-lead h2"),
]


@variants("pressed", PRESSED, fast=2)
def test_what_is_pressed_before_the_page_is_there_is_pressed_in_it(chromium, house, pressed):
    part, then = pressed
    page = chromium.new_context(viewport=SIZE).new_page()
    held, released = [], []
    page.route("**/assets/*.js", lambda route: route.continue_() if released else held.append(route))
    page.goto(house.url, wait_until="commit")
    page.click("#early .early-links :text('Puzzles')")
    page.locator("#early span", has_text=re.compile(f"^{part}$")).last.click()  # the last that was pressed counts
    assert page.locator("#early [data-pressed]").all_inner_texts() == [part]
    released.append(True)
    for route in held:
        route.continue_()
    page.wait_for_selector(then)
    assert page.get_attribute("#puzzles-open", "aria-expanded") == "false"
    page.context.close()


def test_without_an_early_race_the_pages_stage_begins_once_it_is_drawn(chromium, house):
    page = chromium.new_context(viewport={"width": 900, "height": 720}).new_page()
    page.goto(house.url)
    page.wait_for_selector("html:not([data-drawing]) #stage .cascade-stage[data-unasked]")
    page.wait_for_function("document.querySelector('#stage .cascade-stage').cascadeStage.time > 0")
    page.context.close()


def test_a_link_hides_the_race_at_the_start_at_once(chromium, house):
    """What is shown beside "Opening the race" would stand under it."""
    page = chromium.new_context(viewport=SIZE).new_page()
    page.add_init_script("""new MutationObserver(() => {
        const stage = document.querySelector("html[data-arriving]:not([data-drawing]) #stage .cs-idea");
        if (stage) window.shown = (window.shown ?? false) || getComputedStyle(stage).visibility === "visible";
    }).observe(document, { subtree: true, childList: true, attributes: true });""")
    page.goto(f"{house.url}#race=list-people-to-json&lane=4&step=2")
    page.wait_for_selector("html:not([data-drawing]):not([data-arriving])")
    assert page.evaluate("window.shown") is False
    page.context.close()


def seen(page, parts: str) -> list[tuple[str, list[float]]]:
    """What stands on these parts and where, from the left."""
    return page.evaluate(
        "(parts) => [...document.querySelectorAll(parts)].map((part) => {"
        " const { left, top, width, height } = part.getBoundingClientRect();"
        " return [part.querySelector('textarea')?.value ?? part.textContent.trim(), [left, top, width, height]]; })"
        ".filter(([, [, , width]]) => width).sort((a, b) => a[1][0] - b[1][0])",
        parts,
    )


def places(page, where: str) -> list[float]:
    """Left, top and width of the parts of a stage."""
    return page.evaluate(
        "([where, parts]) => parts.flatMap((part) => {"
        " const { left, top, width } = document.querySelector(`${where} ${part}`).getBoundingClientRect();"
        " return [left, top, width]; })",
        [where, PARTS],
    )
