"""axe-core over the page and over an exported race: no serious and no critical finding, light and dark."""

from __future__ import annotations

import pytest

from csd.record import recording as record
from csd.stage import export

Axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed").Axe
GRAVE = ("serious", "critical")
THEMES = ("light", "dark")


def findings(page) -> list[str]:
    """Each grave finding: its rule, what it says, and the elements."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes']][:5]}"
        for one in found
        if one["impact"] in GRAVE
    ]


@pytest.fixture(params=THEMES)
def page(request, chromium, house):
    own = chromium.new_page(viewport={"width": 1280, "height": 720}, color_scheme=request.param)
    own.goto(f"{house.url}?__theme={request.param}")
    own.wait_for_selector("#stage .cs-track-row", timeout=60_000)
    yield own
    own.close()


def test_the_page_after_a_race(page):
    page.wait_for_selector('#family-status [data-state="ready"]', timeout=60_000)
    page.fill("#max-new input", "24")
    page.click("#race")
    page.wait_for_selector('#status [data-state="ended"]', timeout=60_000)
    page.click("#more")
    page.wait_for_timeout(1500)
    assert findings(page) == []


@pytest.mark.parametrize("tab", ["Theory", "Compare"])
def test_the_other_tabs(page, tab):
    page.get_by_role("tab", name=tab).click()
    if tab == "Theory":
        page.wait_for_function("document.querySelectorAll('#theory .js-plotly-plot').length == 4", timeout=60_000)
    page.wait_for_timeout(1500)
    assert findings(page) == []


def test_the_tour(page):
    page.click("#tour-start")
    page.wait_for_selector("dialog[open]")
    assert findings(page) == []


@pytest.mark.parametrize("theme", THEMES)
def test_an_exported_race(chromium, tmp_path, theme):
    recording = next(iter(record.bundled_recordings(record.FOLDER).values()))
    file = tmp_path / "race.html"
    file.write_text(export.page(recording), encoding="utf-8")
    own = chromium.new_page(viewport={"width": 1280, "height": 720}, color_scheme=theme)
    own.goto(file.as_uri())
    own.wait_for_selector(".cs-track-row")
    own.wait_for_timeout(500)
    try:
        assert findings(own) == []
    finally:
        own.close()
