"""Controls that a link takes off the page, such as `?hide=advanced,seed`: a class sees only what its task needs."""

from __future__ import annotations

NAME = "hide"  # in the query of the page's address
CONTROLS = {  # CSS selectors, by the name in the link; fields are called as elsewhere in links
    "advanced": "#more",
    "always": "#always",
    "bet": "#stage .cs-ask",
    "downloads": "#downloads",
    "examples": "#examples",
    "family": "#family",
    "figures": "#after",
    "link": "#stage .cs-copy-link",
    "max_new": "#max-new",
    "preset": "#preset",
    "puzzles": "#puzzles",
    "races": "#replays",
    "seed": "#seed",
    "stop": "#stop",
    "tabs": "#tabs > .tab-wrapper",
    "temperature": "#temperature",
    "tour": "#tour",
}


def find_faults(text: str) -> list[str]:
    """A sentence if some of these names, separated by commas, are not controls."""
    unknown = [name for name in (part.strip() for part in text.split(",")) if name and name not in CONTROLS]
    if not unknown:
        return []
    named = ", ".join(repr(name[:40]) for name in unknown[:3])
    return [f"The link asks to hide {named}, which is not on this page. It can hide: {', '.join(CONTROLS)}."]
