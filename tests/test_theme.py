"""Colours: the contrast that the page promises, computed (WCAG 2)."""

import itertools
import math
import re

import pytest

from csd import theme
from csd.decoding.methods import METHODS

LEVELS = (*theme.LOOKS, theme.TARGET)
PANEL_GROUND = "#27272A"  # Gradio's panels on a dark page, on which figures are shown


# What is left of linear red, green and blue for the colour-blind (Machado et al. 2009, severity 1).
SIGHTS = {
    "trichromacy": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(colour: str) -> tuple[float, ...]:
    """Linear red, green and blue of "#RRGGBB"."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


def oklab(colour: str, sight: str = "trichromacy") -> tuple[float, float, float]:
    """A colour in Oklab, as this sight sees it."""
    seen = (sum(a * b for a, b in zip(row, linear(colour), strict=True)) for row in SIGHTS[sight])
    red, green, blue = (min(1.0, max(0.0, c)) for c in seen)
    l = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)  # noqa: E741
    m = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    s = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    )


def test_contrast_of_known_pairs():
    assert theme.contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert theme.contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert theme.mix("#000000", "#FFFFFF", 0.25) == "#BFBFBF"


@pytest.mark.parametrize("look", LEVELS, ids=lambda look: look.key)
def test_blocks_stand_out_on_their_ground(look):
    assert theme.contrast(look.light, theme.LIGHT_GROUND) >= 3
    assert theme.contrast(look.dark, theme.DARK_GROUND) >= 3
    assert theme.contrast(look.dark, PANEL_GROUND) >= 3
    assert theme.contrast(look.terminal, theme.LIGHT_GROUND) >= 3
    assert theme.contrast(look.terminal, theme.DARK_GROUND) >= 3


@pytest.mark.parametrize("look", [theme.OVERHEAD, theme.REJECTED], ids=lambda look: look.key)
def test_what_was_rejected_reads_on_its_ground(look):
    assert theme.contrast(look.light, theme.LIGHT_GROUND) >= 4.5
    assert theme.contrast(look.dark, theme.DARK_GROUND) >= 4.5


def test_costlier_levels_are_darker_on_a_light_page():
    values = [theme.contrast(look.light, theme.LIGHT_GROUND) for look in LEVELS]
    assert values == sorted(values)


@pytest.mark.parametrize("look", LEVELS, ids=lambda look: look.key)
def test_words_read_on_every_block(look):
    for css, colour in zip(theme.css_variables().split(".dark"), (look.light, look.dark), strict=True):
        [text] = re.findall(rf"--cs-on-{look.key}: (#\w+);", css)
        assert theme.contrast(text, colour) >= 4.5


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_look_of_its_own(method):
    look = theme.method_look(method)
    assert look is not theme.OTHER_METHOD
    assert theme.contrast(look.light, theme.LIGHT_GROUND) >= 4.5
    assert theme.contrast(look.dark, theme.DARK_GROUND) >= 4.5
    assert theme.contrast(look.dark, PANEL_GROUND) >= 4.5
    assert [one.symbol for one in theme.METHOD_LOOKS.values()].count(look.symbol) == 1
    assert look.light not in {level.light for level in theme.LOOKS}
    assert theme.method_look("my own") is theme.OTHER_METHOD


def test_a_dark_page_shows_figures_in_dark_colours():
    css = theme.figure_css(".dark .plot")
    assert '.dark .plot [style*="fill: rgb(26, 26, 26)"] { fill: #F2F2F2 !important; }' in css
    for look in (*LEVELS, theme.OVERHEAD, *theme.METHOD_LOOKS.values()):
        assert css.count(f"stroke: {look.dark} !important") == 1


@pytest.mark.parametrize("look", theme.LOOKS, ids=lambda look: look.key)
def test_text_reads_on_every_tint(look):
    assert theme.contrast(theme.LIGHT_INK, theme.mix(look.light, theme.LIGHT_GROUND, theme.TINT)) >= 7
    assert theme.contrast(theme.DARK_INK, theme.mix(look.dark, theme.DARK_GROUND, theme.TINT)) >= 7


def test_colour_is_never_the_only_sign():
    for one, other in itertools.combinations(LEVELS, 2):
        assert one.underline != other.underline
        assert one.shape != other.shape
        assert one.key != other.key


@pytest.mark.parametrize("sight", SIGHTS)
def test_levels_stay_apart_for_the_colour_blind(sight):
    """A distance of 0.02 in Oklab can just be told apart side by side."""
    assert math.dist(oklab("#000000", sight), oklab("#FFFFFF", sight)) == pytest.approx(1, abs=1e-3)
    for ground in ("light", "dark"):
        for one, other in itertools.combinations(LEVELS, 2):
            seen = (oklab(getattr(look, ground), sight) for look in (one, other))
            assert math.dist(*seen) >= 0.075, f"{one.key} and {other.key}, {ground}"


def test_the_levels_are_calm_on_a_dark_page():
    """No level is more colourful than a paint of medium strength, which does not glow on a projector."""
    for look in theme.LOOKS:
        _, a, b = oklab(look.dark)
        assert math.hypot(a, b) < 0.2, look.key


def test_levels_of_a_family():
    assert [theme.mark(level, 3) for level in range(4)] == ["0", "1", "2", "T"]
    assert [theme.look(level, 3).key for level in range(4)] == ["0", "1", "2", "T"]
    assert theme.look(1, 1) is theme.TARGET
    assert [theme.look(level, 6).key for level in range(7)] == ["0", "1", "2", "3", "1", "2", "T"]


def test_max_gram_is_displayed_with_a_hyphen():
    assert (theme.display_name("MaxGram"), theme.display_name("small")) == ("Max-Gram", "small")


def test_variables_name_every_colour_twice():
    css = theme.css_variables()
    assert css.count("--cs-level-0:") == css.count("--cs-tint-T:") == 2
    assert f"--cs-level-1: {theme.LOOKS[1].light};" in css.split(".dark")[0]
    assert f"--cs-level-1: {theme.LOOKS[1].dark};" in css.split(".dark")[1]
