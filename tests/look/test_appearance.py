"""Six views of the page look as they did: where its parts are, and their colours.

Is a change meant? `bash tests/screenshots.sh FOLDER --update` writes the reference, and takes pictures to look at.
"""

from __future__ import annotations

import pytest

from look.appearance import PARTS, WIDE, differences, look, name_of, open_still_page, read, take

LANDING = name_of("landing", WIDE, "light")


def test_six_views_look_as_they_did(chromium, served):
    assert differences(read(), take(chromium, served)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("style", "part"),
    [
        (".cascade-stage { --cs-hero: #c2410d !important }", ".cs-factor: text"),
        (".cs-track { margin-top: 16px !important }", ".cs-track: box"),
        (".cs-legend { display: none !important }", ".cs-legend: is gone"),
    ],
    ids=["colour", "place", "absence"],
)
def test_a_change_of_style_is_seen(still, style, part):
    before = look(still, WIDE)
    changed = still.add_style_tag(content=style)
    seen = differences({LANDING: before}, {LANDING: look(still, WIDE)})
    changed.evaluate("node => node.remove()")
    assert any(line.startswith(f"{LANDING}: {part}") for line in seen), seen


@pytest.fixture(scope="module")
def still(chromium, served):
    page = open_still_page(chromium, served, "light")
    yield page
    page.close()


def test_every_named_part_is_on_one_of_the_views():
    named = {part for view, parts in read().items() if not view.startswith("variables") for part in parts}
    assert named == set(PARTS)


def test_differences_are_told_in_lines_and_rounding_is_not():
    before = {"view": {"#race": {"box": [0, 0, 90, 30], "text": "red"}, "#stop": {"box": [0, 0, 9, 9]}}}
    near = {"view": {"#race": {"box": [4, -4, 86, 34], "text": "red"}, "#stop": {"box": [0, 0, 9, 9]}}}
    assert differences(before, near) == []
    far = {"view": {"#race": {"box": [0, 5, 90, 30], "text": "blue"}, "#more": {"box": [0, 0, 9, 9]}}}
    assert differences(before, far) == [
        "view: #more: is new",
        "view: #race: box was [0, 0, 90, 30], is [0, 5, 90, 30]",
        "view: #race: text was red, is blue",
        "view: #stop: is gone",
    ]
