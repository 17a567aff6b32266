"""Colours and patterns of the levels, once, for the stage and the figures alike.

A level is shown by a colour, a pattern and a digit, so that colour is never the only sign.
The hexes were chosen for contrast of at least 4.5 : 1 on each ground and for distance under three kinds of colour
blindness. A figure has one hex for all grounds, at least 3 : 1 on each (tests/test_theme.py computes both).
"""

from __future__ import annotations

from dataclasses import dataclass

LIGHT_GROUND = "#FFFFFF"
DARK_GROUND = "#0F1419"
PANEL_GROUND = "#27272A"  # Gradio's panels on a dark page, where the figures stand
LIGHT_INK = "#1A1A1A"
DARK_INK = "#F2F2F2"
TINT = 0.15  # share of the level's colour in the fill behind a token

# No grey has 4.5 : 1 on both grounds (white asks for a luminance under 0.183, the dark ground for one over 0.206).
# This one has 4.3 on both. In the app stage.css replaces it by the page's text colour; a saved picture keeps it.
FIGURE_INK = "#757A80"
FIGURE_GRID = "rgba(127,127,127,0.28)"


@dataclass(frozen=True, slots=True)
class Look:
    """How one level looks: `underline` is a CSS text-decoration-style, `shape` a plotly marker pattern."""

    key: str
    light: str
    dark: str
    figure: str
    underline: str
    shape: str


LOOKS = (
    Look("0", "#916528", "#F59E4A", "#B0742A", "dotted", "."),
    Look("1", "#1C67CD", "#9FC4F3", "#3A80DC", "dashed", "-"),
    Look("2", "#C42C99", "#E415C9", "#D03BA8", "double", "x"),
    Look("3", "#094C37", "#00E29D", "#12876A", "wavy", "/"),
)
TARGET = Look("T", LIGHT_INK, DARK_INK, "#73787D", "solid", "")
OVERHEAD = Look("overhead", "#6B6B6B", "#9A9A9A", "#8E9398", "none", "|")
REJECTED = Look("rejected", "#6B6B6B", "#9A9A9A", "#757A80", "line-through", "")


def look(level: int, target: int) -> Look:
    """The look of a level in a family whose target has level `target`; a fourth draft takes the first one's again."""
    if level >= target:
        return TARGET
    return LOOKS[level] if level < len(LOOKS) else LOOKS[1 + (level - 1) % (len(LOOKS) - 1)]


def mark(level: int, target: int) -> str:
    """The sign that stands on every token of a level: its digit, or T for the target."""
    return "T" if level >= target else str(level)


def luminance(colour: str) -> float:
    """Relative luminance of "#RRGGBB" (WCAG 2)."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mix(colour: str, ground: str, share: float) -> str:
    """`share` of a colour laid over a ground."""
    pairs = ((int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def css_variables() -> str:
    """The colours as CSS variables of the stage, for light pages and inside a `.dark` ancestor."""
    light = _variables(LIGHT_GROUND, LIGHT_INK, [(one.key, one.light) for one in (*LOOKS, TARGET)], REJECTED.light)
    dark = _variables(DARK_GROUND, DARK_INK, [(one.key, one.dark) for one in (*LOOKS, TARGET)], REJECTED.dark)
    return f".cascade-stage {{\n{light}}}\n.dark .cascade-stage {{\n{dark}}}\n"


def _variables(ground: str, ink: str, levels: list[tuple[str, str]], rejected: str) -> str:
    pairs = [("ground", ground), ("ink", ink), ("rejected", rejected)]
    pairs += [(f"level-{key}", colour) for key, colour in levels]
    # The target's own colour is the ink: its token is known by the box, so its fill stays the ground.
    pairs += [(f"tint-{key}", ground if key == TARGET.key else mix(colour, ground, TINT)) for key, colour in levels]
    return "".join(f"  --cs-{name}: {colour};\n" for name, colour in pairs)
