"""Colours: the contrast that the page promises, computed (WCAG 2)."""

import itertools

import pytest

from csd import theme
from csd.decoding.methods import METHODS

LEVELS = (*theme.LOOKS, theme.TARGET)
PANEL_GROUND = "#27272A"  # Gradio's panels on a dark page, on which figures are shown


def luminance(colour: str) -> float:
    """Relative luminance of "#RRGGBB"."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_known_pairs():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert theme.mix("#000000", "#FFFFFF", 0.25) == "#BFBFBF"


@pytest.mark.parametrize("look", [*LEVELS, theme.OVERHEAD, theme.REJECTED], ids=lambda look: look.key)
def test_signs_stand_out_on_their_ground(look):
    assert contrast(look.light, theme.LIGHT_GROUND) >= 4.5
    assert contrast(look.dark, theme.DARK_GROUND) >= 4.5
    assert contrast(look.dark, PANEL_GROUND) >= 3
    assert contrast(look.terminal, theme.LIGHT_GROUND) >= 3
    assert contrast(look.terminal, theme.DARK_GROUND) >= 3


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_look_of_its_own(method):
    look = theme.method_look(method)
    assert look is not theme.OTHER_METHOD
    assert contrast(look.light, theme.LIGHT_GROUND) >= 4.5
    assert contrast(look.dark, theme.DARK_GROUND) >= 4.5
    assert contrast(look.dark, PANEL_GROUND) >= 4.5
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
    assert contrast(theme.LIGHT_INK, theme.mix(look.light, theme.LIGHT_GROUND, theme.TINT)) >= 7
    assert contrast(theme.DARK_INK, theme.mix(look.dark, theme.DARK_GROUND, theme.TINT)) >= 7


def test_colour_is_never_the_only_sign():
    for one, other in itertools.combinations(LEVELS, 2):
        assert one.underline != other.underline
        assert one.shape != other.shape
        assert one.key != other.key


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
