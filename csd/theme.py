"""Names, colours and signs of levels and methods, defined once for the stage, the figures and the terminal.

A level is shown by a colour, and on demand by a pattern and a digit, a method by a symbol and a dash pattern, so that
colour is never the only cue. The levels' colours are for blocks, and have a contrast of at least 3 : 1 on their
background; those of methods are for lines and words, and have 4.5 : 1 (computed in tests/test_theme.py). Costlier
levels are darker on a light page, so that their order can be seen without colours. Figures are drawn in the colours of
a light page; `figure_css` replaces them on a dark one.
"""

from __future__ import annotations

from dataclasses import dataclass

LIGHT_GROUND = "#FFFFFF"
DARK_GROUND = "#0F0F11"
LIGHT_INK = "#1A1A1A"
DARK_INK = "#F2F2F2"
TINT = 0.3  # share of the level's colour in the background of a token

FIGURE_GRID = "rgba(127,127,127,0.28)"

DISPLAY_NAMES = {"MaxGram": "Max-Gram"}  # levels that are displayed under another name than they have in traces


@dataclass(frozen=True, slots=True)
class Look:
    """How one level looks: `terminal` is a colour for a ground that may be light or dark, `underline` a CSS
    text-decoration-style, `shape` a plotly marker pattern."""

    key: str
    light: str
    dark: str
    terminal: str
    underline: str
    shape: str


LOOKS = (
    Look("0", "#C48600", "#E2B93F", "#A17A1C", "dotted", "."),
    Look("1", "#3A8BD0", "#5297E3", "#3A80DC", "dashed", "-"),
    Look("2", "#AC5590", "#B26DA0", "#D03BA8", "double", "x"),
    Look("3", "#0C4A3B", "#86E3C2", "#12876A", "wavy", "/"),
)
TARGET = Look("T", LIGHT_INK, DARK_INK, "#73787D", "solid", "")
OVERHEAD = Look("overhead", "#6B6B6B", "#9A9A9A", "#8E9398", "none", "|")
REJECTED = Look("rejected", "#6B6B6B", "#9A9A9A", "#757A80", "line-through", "")


@dataclass(frozen=True, slots=True)
class MethodLook:
    """How one method looks in every plot: `symbol` and `dash` are plotly's names for its marker and its line; `phrase`
    is how a sentence calls it."""

    phrase: str
    symbol: str
    dash: str
    light: str
    dark: str


# Colours mean levels; a method has a marker and a dash pattern. Only the cascades have a colour, that of the result.
QUIET = (LIGHT_INK, DARK_INK)
ACCENT = ("#C2410C", "#FF6B3D")
METHOD_LOOKS = {
    "autoregressive": MethodLook("autoregressive decoding", "circle", "solid", *QUIET),
    "speculative": MethodLook("speculative decoding", "square", "dash", *QUIET),
    "prompt lookup": MethodLook("prompt lookup", "cross", "dot", *QUIET),
    "cascade": MethodLook("the cascade", "triangle-up", "solid", *ACCENT),
    "vertical cascade": MethodLook("the vertical cascade", "triangle-down", "dashdot", *ACCENT),
    "horizontal cascade": MethodLook("the horizontal cascade", "triangle-right", "longdash", *ACCENT),
    "adaptive cascade": MethodLook("the adaptive cascade", "diamond", "solid", *ACCENT),
    "draft alone": MethodLook("the draft alone", "x", "dot", OVERHEAD.light, OVERHEAD.dark),
}
OTHER_METHOD = MethodLook("", "star", "longdashdot", OVERHEAD.light, OVERHEAD.dark)


def method_look(method: str) -> MethodLook:
    """The look of a method by its name; one look for all that are not built in."""
    return METHOD_LOOKS.get(method, OTHER_METHOD)


def method_phrase(method: str) -> str:
    """How a sentence calls a method, such as "the adaptive cascade" or "speculative decoding"."""
    return method_look(method).phrase or method


def look(level: int, target: int) -> Look:
    """The look of a level in a family whose target has level `target`; from the fourth draft on, looks repeat.

    A draft without another is the small model, and looks like the one of two drafts that has this role.
    """
    if level >= target:
        return TARGET
    if (level, target) == (1, 2):
        return LOOKS[2]
    return LOOKS[level] if level < len(LOOKS) else LOOKS[1 + (level - 1) % (len(LOOKS) - 1)]


def mark(level: int, target: int) -> str:
    """The sign on every token of a level: its digit, or T for the target. A draft without another has the digit of the
    small model, whose colour it has."""
    if level >= target:
        return "T"
    return "2" if (level, target) == (1, 2) else str(level)


def display_name(level: str) -> str:
    """How a level is called wherever people read it."""
    return DISPLAY_NAMES.get(level, level)


def mix(colour: str, ground: str, share: float) -> str:
    """A colour blended over a background with weight `share`."""
    pairs = ((int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def css_variables(scope: str = ".cascade-stage") -> str:
    """The levels' colours as CSS variables of a part of the page, for light pages and below a `.dark` ancestor: of a
    level's blocks (`--cs-level-1`), of words on them (`--cs-on-1`), and of the ground of its words (`--cs-tint-1`)."""
    light = _variables(LIGHT_GROUND, LIGHT_INK, [(one.key, one.light) for one in (*LOOKS, TARGET)], REJECTED.light)
    dark = _variables(DARK_GROUND, DARK_INK, [(one.key, one.dark) for one in (*LOOKS, TARGET)], REJECTED.dark)
    return f"{scope} {{\n{light}}}\n.dark {scope} {{\n{dark}}}\n"


def method_css(scope: str = "") -> str:
    """The colour of each method as the variable --method of elements with its name."""
    return "".join(
        f'{scope}[data-method="{name}"] {{ --method: {look.light}; }}\n'
        f'.dark {scope}[data-method="{name}"] {{ --method: {look.dark}; }}\n'
        for name, look in METHOD_LOOKS.items()
    )


def figure_css(scope: str) -> str:
    """Rules that turn the light colours of the figures within `scope` into the dark ones. Plotly writes colours into
    each element's style, where only such a selector finds them."""
    looks = (*LOOKS, TARGET, OVERHEAD, REJECTED, *METHOD_LOOKS.values())
    pairs = {one.light: one.dark for one in looks}
    return "".join(
        f'{scope} [style*="{part}: {_rgb(light)}"] {{ {part}: {dark} !important; }}\n'
        for light, dark in pairs.items()
        for part in ("fill", "stroke")
    )


def _rgb(colour: str) -> str:
    """A colour as browsers write it into a style attribute."""
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


def _variables(ground: str, ink: str, levels: list[tuple[str, str]], rejected: str) -> str:
    pairs = [("ground", ground), ("ink", ink), ("rejected", rejected)]
    pairs += [(f"level-{key}", colour) for key, colour in levels]
    pairs += [(f"on-{key}", max((ground, ink), key=lambda text: contrast(text, colour))) for key, colour in levels]
    pairs += [(f"tint-{key}", mix(colour, ground, TINT)) for key, colour in levels]
    return "".join(f"  --cs-{name}: {colour};\n" for name, colour in pairs)
