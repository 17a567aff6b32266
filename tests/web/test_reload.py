"""A page that is loaded again, in a headless Chromium."""

from __future__ import annotations

import pytest
from browser import STORY, Tab


@pytest.fixture
def tab(chromium, house):
    opened = []

    def new() -> Tab:
        opened.append(Tab(chromium, house))
        return opened[-1]

    yield new
    for one in opened:
        one.close()


def test_a_reload_in_the_middle_leaves_a_page_that_races(tab, house):
    one = tab()
    house.gate.hold("Step")
    one.race()
    house.gate.wait()
    house.gate.at = ""
    one.page.reload()
    one.page.wait_for_selector('#family-status [data-state="ready"]')
    one.page.wait_for_function("document.querySelector('#status').innerText.includes('Your prompt is back')")
    assert one.page.input_value("#prompt textarea") == STORY
    one.race()
    assert one.status("ended").startswith("Done")


def test_a_reload_brings_the_latest_race_back(tab, house):
    """With its settings, and among the visitor's races; a page in another tab begins as usual."""
    one, begun = tab(), house.gate.begun
    one.race("A bird sat in a tree")
    one.status("ended")
    raced = one.page.get_attribute("#stage .cascade-stage", "data-race")
    for _ in range(2):
        one.page.reload()
        one.page.wait_for_selector(f'#stage .cascade-stage[data-race="{raced}"]')
        assert one.page.input_value("#earlier input").startswith("1. A bird")
    assert one.page.input_value("#prompt textarea") == "A bird sat in a tree"
    assert house.gate.begun == begun + 1, "nothing runs again"
    one.race("Two boys found a kite")
    one.page.wait_for_function("document.querySelector('#earlier input').value.startsWith('2. Two boys')")
    assert tab().page.get_attribute("#stage .cascade-stage", "data-race") != raced
    assert one.errors == []
