"""The typefaces of page, stage, exports and figures: Geist, and Geist Mono for code, embedded, so that nothing is
downloaded and text has the same shape and width on every machine; and one with Greek and italics for formulas. Letters
beyond Latin come from the system."""

from __future__ import annotations

import base64

from csd.paths import ASSETS

FAMILIES = ("Geist", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "Liberation Sans", "sans-serif")
STACK = ", ".join(f'"{name}"' if " " in name else name for name in FAMILIES)
MONO = 'GeistMono, ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace'
LATIN = (
    "U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+0304, U+0308, U+0329, "
    "U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD"
)
LATIN_EXT = (
    "U+0100-02BA, U+02BD-02C5, U+02C7-02CC, U+02CE-02D7, U+02DD-02FF, U+1D00-1DBF, U+1E00-1E9F, "
    "U+1EF2-1EFF, U+2020, U+20A0-20AB, U+20AD-20C0, U+2113, U+2C60-2C7F, U+A720-A7FF"
)
FACES = (  # a family, a file, and its characters as its publisher divides them
    ("Geist", "geist-latin", LATIN),
    ("Geist", "geist-latin-ext", LATIN_EXT),
    ("GeistMono", "geist-mono-latin", LATIN),
)


SIZES = {"note": 14, "small": 15, "text": 17, "large": 20, "title": 24, "figure": 53}
"""The scale of text, in pixels of a window of 1280; all of it grows with the window, as `UNIT` does."""
UNIT = "clamp(0.94px, 0.4px + 0.046875vw, 1.5px)"


def typeface_css() -> str:
    """The rules that embed the typefaces, their families as the CSS variables `--cs-font` and `--cs-mono`, and the
    scale of text."""
    faces = "".join(
        f"@font-face {{ font-family: {family}; font-weight: 100 900; font-display: swap; unicode-range: {characters}; "
        f'src: url("data:font/woff2;base64,{_encoded(name)}") format("woff2"); }}\n'
        for family, name, characters in FACES
    )
    return f"{faces}:root {{ --cs-font: {STACK}; --cs-mono: {MONO}; }}\n{scale_css()}"


def formulas_css() -> str:
    """The rule that embeds the typeface of formulas, where a page has any."""
    source = f'url("data:font/woff2;base64,{_encoded("formulas")}") format("woff2")'
    return f'@font-face {{ font-family: "Cascade Formulas"; font-display: swap; src: {source}; }}\n'


def scale_css() -> str:
    """The scale of text as the CSS variables `--type-note`, `--type-small` and so on."""
    sizes = "".join(f" --type-{name}: calc({pixels} * var(--type-unit));" for name, pixels in SIZES.items())
    return (
        f":root {{ --type-unit: {UNIT};{sizes} }}\n"
        f".tour dialog {{ --type-unit: min(1px, {UNIT});{sizes} }}\n"  # which grows as a whole
    )


def _encoded(name: str) -> str:
    return base64.b64encode((ASSETS / "fonts" / f"{name}.woff2").read_bytes()).decode("ascii")
