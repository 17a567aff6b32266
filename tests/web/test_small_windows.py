"""The page in windows that are lower or narrower than the usual ones."""

from __future__ import annotations

import pytest
from browser import box, is_in_view


@pytest.mark.parametrize("height", [630, 660])
def test_what_replays_the_race_is_in_sight(tab, height):
    page = tab.page
    page.set_viewport_size({"width": 1280, "height": height})
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    page.wait_for_timeout(300)  # the text is fitted once the window has its size
    assert is_in_view(page, "#stage .cs-replay")


def test_the_tabs_and_both_buttons_stand_in_one_line_of_a_narrow_phone(tab):
    page = tab.page
    page.set_viewport_size({"width": 360, "height": 740})
    parts = ('button[role="tab"]:visible >> nth=0', "#tour-start", "#puzzles-open")
    places = [box(page, part) for part in parts]
    middles = [place["y"] + place["height"] / 2 for place in places]
    assert max(middles) - min(middles) < 6
    assert max(place["x"] + place["width"] for place in places) <= 360
