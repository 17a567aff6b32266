"""What the page does in the browser: calls of assets/page.js with the values of an event's inputs."""

from __future__ import annotations

from csd.paths import ASSETS

HEAD = f"<script>{(ASSETS / 'page.js').read_text(encoding='utf-8')}</script>"

PRESS = "(id) => CascadePage.press(id)"
TOGGLE_ADVANCED = "() => CascadePage.toggleAdvanced()"
COPY_LINK = "(query, omitted) => CascadePage.copyLink(query, omitted)"


def download_figures(image_format: str) -> str:
    """Downloads the visible figures as "png" or "svg"."""
    return f"() => CascadePage.downloadFigures('{image_format}')"
