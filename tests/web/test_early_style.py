"""The first picture of the page, before Gradio's program has come."""

from __future__ import annotations

import pytest
from browser import SIZE
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from csd.web.early_style import EarlyStyle

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
    assert drawn == '"Cascade Speculative Drafting"' and page.inner_text("body").strip() == ""
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


PARTS = (".cs-idea b", ".cs-track", ".cs-legend", ".cs-lanes", ".cs-replay")  # not the bars, which the opening moves


@pytest.mark.parametrize("size", [(1280, 720), (1366, 768), (1920, 1080), (390, 844)])
def test_the_pages_stage_stands_and_goes_on_where_the_early_one_was(chromium, house, size):
    """Within a few pixels, so that nothing seems to jump."""
    page = chromium.new_context(viewport={"width": size[0], "height": size[1]}).new_page()
    page.add_init_script("""new MutationObserver(() => {
        const stage = document.querySelector("#early .cascade-stage")?.cascadeStage;
        if (stage && stage.time !== Infinity) window.reached = stage.time;
    }).observe(document, { subtree: true, childList: true, attributes: true });""")
    page.goto(house.url, wait_until="commit")
    page.wait_for_selector("#early .cs-idea b")
    before = places(page, "#early")
    page.wait_for_selector("html:not([data-drawing]) #stage .cascade-stage")
    now, reached = page.evaluate("[document.querySelector('#stage .cascade-stage').cascadeStage.time, window.reached]")
    assert now >= reached > 0
    assert before == pytest.approx(places(page, "#stage"), abs=4)
    assert page.locator("#early").count() == 0
    page.context.close()


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (390, 844)])
def test_the_form_can_be_read_where_it_will_stand(chromium, house, size):
    page = chromium.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce").new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(house.url)
    prompt, race = page.locator(".early-form p"), page.locator(".early-form b")
    before = [*prompt.bounding_box().values(), *race.bounding_box().values()]
    said = [prompt.inner_text(), race.inner_text()]
    page.unroute("**/assets/*.js")
    page.goto(house.url)
    page.wait_for_selector("html:not([data-drawing]) #race")
    now = [*page.locator("#prompt").bounding_box().values(), *page.locator("#race").bounding_box().values()]
    assert before == pytest.approx(now, abs=6)
    assert said == [page.input_value("#prompt textarea"), page.inner_text("#race")]
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


def places(page, where: str) -> list[float]:
    """Left, top and width of the parts of a stage."""
    return page.evaluate(
        "([where, parts]) => parts.flatMap((part) => {"
        " const { left, top, width } = document.querySelector(`${where} ${part}`).getBoundingClientRect();"
        " return [left, top, width]; })",
        [where, PARTS],
    )
