"""axe-core over the page in each of its main states and over an exported race: no serious and no critical finding,
light and dark."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from look.states import STATES, open_page

from csd.record import recording as record
from csd.stage import export

Axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed").Axe
GRAVE = ("serious", "critical")
THEMES = ("light", "dark")
STILL = "* { transition: none !important; animation: none !important }"  # a colour on its way has another contrast


ALL = {"resultTypes": ["violations"], "preload": False}  # no details of what is right, and no sounds of the page
COLOURS = {**ALL, "runOnly": {"type": "rule", "values": ["color-contrast"]}}  # all that a theme changes
# What a state changes; the whole page where nothing is named. `unfolded` shows all that `theory` shows.
PARTS = {
    "review": ["#stage .cascade-stage"],
    "presenter": ["#stage .cascade-stage"],
    "presented-review": ["#stage .cascade-stage"],
    "drawer": ["#advanced"],
    "tour": [".tour dialog"],
    "unfolded": ["#theory"],
    "compare": ["#compare-tab"],
    "running": ["#lines", "#stage .cascade-stage"],
    "done": ["#lines", "#stage .cascade-stage", "#after"],
}


def findings(page, options: dict = ALL, parts: Sequence[str] = ("html",)) -> list[str]:
    """Each grave finding in these parts: its rule, what it says, and the elements."""
    for part in parts:
        assert page.is_visible(part), part
    found = Axe().run(page, context={"include": [[part] for part in parts]}, options=options).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes']][:5]}"
        for one in found
        if one["impact"] in GRAVE
    ]


@pytest.mark.slow
def test_the_page_in_each_state(chromium, house):
    """One tab goes through all states, and changes its theme in each."""
    page = open_page(chromium, house, "light", (1280, 720))
    page.add_style_tag(content=STILL)
    grave = {}
    for name, state in STATES.items():
        if name == "theory":
            continue
        with state(page, house):
            for theme in THEMES:
                page.evaluate("dark => document.body.classList.toggle('dark', dark)", theme == "dark")
                if found := findings(page, COLOURS if theme == "dark" else ALL, PARTS.get(name, ["html"])):
                    grave[f"{name}, {theme}"] = found
            page.evaluate("document.body.classList.remove('dark')")
    page.close()
    assert grave == {}


def test_an_exported_race(chromium, tmp_path):
    recording = next(iter(record.bundled_recordings(record.FOLDER).values()))
    file = tmp_path / "race.html"
    file.write_text(export.page(recording), encoding="utf-8")
    page = chromium.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page.goto(file.as_uri())
    page.wait_for_selector('.cascade-stage[data-state="done"]')
    found = {}
    for theme in THEMES:
        page.evaluate("theme => document.documentElement.classList.toggle('dark', theme === 'dark')", theme)
        found[theme] = findings(page)
    page.close()
    assert found == {"light": [], "dark": []}
