"""The first picture of the page, before Gradio's program has come."""

from __future__ import annotations

import pytest
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


def test_the_title_and_the_empty_lanes_are_there_before_gradio_is(chromium, house):
    page = chromium.new_context(viewport={"width": 1280, "height": 720}).new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(house.url)
    drawn = page.evaluate("getComputedStyle(document.body, '::before').content")
    assert drawn == '"Cascade Speculative Drafting"' and page.inner_text("body").strip() == ""
    page.context.close()


@pytest.mark.parametrize("size", [(1280, 720), (1366, 768), (1920, 1080)])
def test_what_stands_there_first_stands_where_the_stage_will(chromium, house, size):
    """Within a few pixels, so that nothing seems to jump: the idea, and the bars of the two lanes."""
    page = chromium.new_context(viewport={"width": size[0], "height": size[1]}).new_page()
    page.goto(house.url)
    page.wait_for_selector(".cascade-stage[data-opening] .cs-idea b")
    drawn = page.evaluate("""() => {
        const root = document.documentElement;
        root.setAttribute("data-drawing", "");
        const { top, backgroundPosition, backgroundSize } = getComputedStyle(document.body, "::after");
        const lanes = backgroundPosition.split(", ").map((one) => one.split(" ")).map(([left, y], i) => {
            const high = parseFloat(backgroundSize.split(", ")[i].split(" ").at(-1));
            return parseFloat(top) + parseFloat(y) + high / 2;
        });
        root.removeAttribute("data-drawing");
        return [parseFloat(top), ...lanes];
    }""")
    stands = page.evaluate("""() => {
        const box = (node) => node.getBoundingClientRect();
        const bars = [...document.querySelectorAll(".cs-track-row")].filter((row) => getComputedStyle(row).opacity === "1");
        const middle = ({ top, height }) => top + height / 2;
        return [box(document.querySelector(".cs-idea b")).top, ...bars.map((row) => middle(box(row.querySelector(".cs-lane-bar"))))];
    }""")
    assert drawn == pytest.approx(stands, abs=4)
    page.context.close()
