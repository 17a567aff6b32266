"""What six views of the page look like, as numbers that are the same on every machine: boxes and colours of named parts.

Pixels differ between machines and versions of Chromium. Places of parts hardly do, once all text is in one font, which
Gradio brings along, and nothing moves.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from browser import House

from csd.stage import bundle
from look.states import STATES, Page, open_page

HERE = Path(__file__).parent
REFERENCE = HERE / "appearance.json"
SCRIPT = (HERE / "appearance.js").read_text(encoding="utf-8")
WIDE, HALL, PHONE = (1280, 720), (1920, 1080), (390, 844)
VIEWS = {
    "light": (("landing", WIDE), ("landing", PHONE), ("drawer", WIDE), ("theory", WIDE)),
    "dark": (("review", WIDE), ("presenter", HALL)),
}
PARTS = (
    "#title h1", "#tabs [role=tab][aria-selected=true]", "#tour-start", "#prompt textarea", "#race", "#more",
    "#family", "#preset", "#max-new", "#examples", "#lines", "#status", "#races", "#stage .cs-copy-link", "#stage", "#downloads",
    "#advanced", "#advanced-close", "#K textarea", "#what-if-figure .finding", "#measure", ".step-fold",
    ".whatif .chart",
    ".cs-message", ".cs-headline", ".cs-factor", ".cs-lead", ".cs-same", ".cs-words",
    ".cs-track", ".cs-goal", ".cs-track-row", ".cs-track-row:last-child", ".cs-lane-bar", ".cs-ratio",
    ".cs-bar-svg path[data-look='1']", ".cs-legend", ".cs-lanes", ".cs-text", ".cs-step.cs-on .cs-token",
    ".cs-transport", ".cs-replay", ".cs-scrubber", ".cs-opened", ".cs-score-title", ".cs-told", ".cs-score",
    ".cs-cell[data-own]", ".cs-cell[data-fate=rejected]", ".cs-after", ".cs-plot .cs-line",
)  # fmt: skip
NEAR = 4  # pixels: rounding adds up over a page; a margin that somebody changes is larger
TOKENS = tuple(dict.fromkeys(re.findall(r"(--cs-[\w-]+)\s*:", bundle.CSS)))
ONE_FONT = """
@font-face { font-family: one; src: url("/static/fonts/SourceSansPro/SourceSansPro-Regular.woff2"); }
@font-face { font-family: one; font-weight: 600 900; src: url("/static/fonts/SourceSansPro/SourceSansPro-SemiBold.woff2"); }
body *, .cascade-stage, .cascade-stage * { font-family: one !important; animation: none !important; transition: none !important; }
"""

Look = dict[str, Any]  # by part: its box, its colours
Appearance = dict[str, Look]  # by view


def name_of(state: str, size: tuple[int, int], theme: str) -> str:
    return f"{state} {size[0]}x{size[1]} {theme}"


def take(browser: Any, house: House) -> Appearance:
    """All views, two tabs for them, and the stage's variables in each theme."""
    seen: Appearance = {}
    for theme, views in VIEWS.items():
        page = open_still_page(browser, house, theme)
        for state, size in views:
            with STATES[state](page, house):
                seen[name_of(state, size, theme)] = look(page, size)
        seen[f"variables {theme}"] = page.eval_on_selector(
            "#stage .cascade-stage",
            "(node, names) => Object.fromEntries(names.map((name) => [name, getComputedStyle(node).getPropertyValue(name)]))",
            TOKENS,
        )
        page.close()
    return seen


def open_still_page(browser: Any, house: House, theme: str) -> Page:
    """The landing race at its end, in one font, without motion."""
    page = open_page(browser, house, theme, WIDE)
    page.add_style_tag(content=ONE_FONT)
    page.evaluate("Promise.all(['400', '700'].map((weight) => document.fonts.load(`${weight} 16px one`)))")
    return page


def look(page: Page, size: tuple[int, int]) -> Look:
    """The parts at this size of the window. It takes two looks that are the same: the page has settled."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    last: Look = {}
    for _ in range(50):
        page.wait_for_timeout(150)
        now = page.evaluate(SCRIPT, PARTS)
        if now == last:
            return now
        last = now
    raise AssertionError(f"the page does not come to rest at {size}")


def differences(before: Appearance, now: Appearance) -> list[str]:
    """What looks different, a line each."""
    return [
        f"{view}: {part}: {line}"
        for view in sorted(before.keys() | now.keys())
        for part in sorted(before.get(view, {}).keys() | now.get(view, {}).keys())
        for line in changes(before.get(view, {}).get(part), now.get(view, {}).get(part))
    ]


def changes(before: Any, now: Any) -> list[str]:
    if before is None or now is None:
        return ["is new" if before is None else "is gone"]
    if isinstance(before, str):
        return [f"was {before}, is {now}"] if before != now else []
    return [
        f"{key} was {before.get(key)}, is {now.get(key)}"
        for key in sorted(before.keys() | now.keys())
        if not is_same(key, before.get(key), now.get(key))
    ]


def is_same(key: str, before: Any, now: Any) -> bool:
    if key == "box":
        return all(abs(one - other) <= NEAR for one, other in zip(before, now, strict=True))
    return before == now


def read() -> Appearance:
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


def write(seen: Appearance) -> None:
    """One line per part, so that a change can be read as a diff."""
    views = []
    for view, parts in seen.items():
        lines = ",\n".join(f"  {json.dumps(part)}: {json.dumps(look)}" for part, look in parts.items())
        views.append(f" {json.dumps(view)}: {{\n{lines}\n }}")
    REFERENCE.write_text("{\n" + ",\n".join(views) + "\n}\n", encoding="utf-8")
