"""The scale of text: every size on the page is one of it, so that few sizes stand beside each other."""

from __future__ import annotations

import re

import pytest

from csd.paths import ASSETS
from csd.typeface import SIZES, typeface_css

PAGE = ("page.css", "theory.css", "theory/step.css", "compare.css", "compare/chart.css", "puzzles.css")
STAGE = sorted(path.relative_to(ASSETS).as_posix() for path in (ASSETS / "stage" / "style").glob("*.css"))
ON_A_WALL = ("present.css", "slide.css")  # they are read from afar, and have sizes of their own
DRAWN = ("text", "cs-strip-marks")  # in the units of a picture
SMALL = "max-height: 480px"  # a phone on its side


def own_sizes(css: str) -> list[str]:
    """Sizes in pixels of rules that are neither of a slide nor of a picture."""
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", css.partition(SMALL)[0])
    return [
        f"{selector.strip()}: {size}"
        for selector, body in rules
        for size in re.findall(r"font(?:-size)?: [^;]*?(\d[\d.]*px)", body)
        if not any(part in selector for part in (*DRAWN, ".tour", ".cs-presenting")) and size not in LARGE
    ]


LARGE = ("40px", "34px", "0px")  # the factor on a phone


@pytest.mark.parametrize("name", [*PAGE, *STAGE])
def test_sizes_are_those_of_the_scale(name):
    if not name.endswith(ON_A_WALL):
        assert own_sizes((ASSETS / name).read_text(encoding="utf-8")) == []


def test_every_name_of_the_scale_is_defined_and_used():
    defined, texts = typeface_css(), "".join((ASSETS / name).read_text(encoding="utf-8") for name in (*PAGE, *STAGE))
    assert set(re.findall(r"var\(--type-(\w+)\)", texts)) == {*SIZES, "unit"}
    for name, pixels in SIZES.items():
        assert f"--type-{name}: calc({pixels} * var(--type-unit));" in defined
