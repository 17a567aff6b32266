"""Names, colours and patterns of the levels, defined once for the stage, the figures and the terminal.

A level is shown by a colour, a pattern and a digit, so that colour is never the only cue. The colours have a contrast
of at least 4.5 : 1 on their background and stay distinct under three kinds of colour blindness. A figure uses one
colour on all backgrounds, with at least 3 : 1 on each (computed in tests/test_theme.py).
"""

from __future__ import annotations

from dataclasses import dataclass

LIGHT_GROUND = "#FFFFFF"
DARK_GROUND = "#0F1419"
LIGHT_INK = "#1A1A1A"
DARK_INK = "#F2F2F2"
TINT = 0.15  # share of the level's colour in the background of a token

# No grey reaches 4.5 : 1 on both backgrounds (white needs a luminance below 0.183, the dark one above 0.206); this one
# has 4.3 on both. In the app, stage.css replaces it with the page's text colour; a saved picture keeps it.
FIGURE_INK = "#757A80"
FIGURE_GRID = "rgba(127,127,127,0.28)"

DISPLAY_NAMES = {"MaxGram": "Max-Gram"}  # levels that are displayed under another name than they have in traces


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
    """The look of a level in a family whose target has level `target`; from the fourth draft on, looks repeat."""
    if level >= target:
        return TARGET
    return LOOKS[level] if level < len(LOOKS) else LOOKS[1 + (level - 1) % (len(LOOKS) - 1)]


def mark(level: int, target: int) -> str:
    """The sign on every token of a level: its digit, or T for the target."""
    return "T" if level >= target else str(level)


def display_name(level: str) -> str:
    """How a level is called wherever people read it."""
    return DISPLAY_NAMES.get(level, level)


def mix(colour: str, ground: str, share: float) -> str:
    """A colour blended over a background with weight `share`."""
    pairs = ((int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def css_variables() -> str:
    """The colours as CSS variables of the stage, for light pages and below a `.dark` ancestor."""
    light = _variables(LIGHT_GROUND, LIGHT_INK, [(one.key, one.light) for one in (*LOOKS, TARGET)], REJECTED.light)
    dark = _variables(DARK_GROUND, DARK_INK, [(one.key, one.dark) for one in (*LOOKS, TARGET)], REJECTED.dark)
    return f".cascade-stage {{\n{light}}}\n.dark .cascade-stage {{\n{dark}}}\n"


def _variables(ground: str, ink: str, levels: list[tuple[str, str]], rejected: str) -> str:
    pairs = [("ground", ground), ("ink", ink), ("rejected", rejected)]
    pairs += [(f"level-{key}", colour) for key, colour in levels]
    # The target's colour is the ink itself: its tokens are boxed and keep the background.
    pairs += [(f"tint-{key}", ground if key == TARGET.key else mix(colour, ground, TINT)) for key, colour in levels]
    return "".join(f"  --cs-{name}: {colour};\n" for name, colour in pairs)
