"""What the pages of a site have in common: their frame, their style sheet, and their policy."""

from __future__ import annotations

from string import Template

from csd import theme
from csd.own_files import own_text
from csd.paths import ASSETS
from csd.stage import bundle, tour
from csd.stage.export import COLOURS, GROUND
from csd.stage.sealed import ascii_script, html, policy
from csd.typeface import formulas_css, typeface_css


def read(name: str) -> str:
    return own_text(ASSETS / "site" / name)


TITLE = "Cascade Speculative Drafting"
_PAGE = Template(read("page.html"))


def frame(title: str, description: str, links: str, body: str, script: str, data: str = "") -> str:
    """A whole page: markup in `links`, `body` and `data`, text elsewhere; `script` is all that may run."""
    script = ascii_script(GROUND + script)
    return _PAGE.substitute(
        policy=policy(script),
        title=html(title),
        description=html(description),
        css=_css(),
        links=links,
        body=body,
        data=data,
        script=script,
    )


def _css() -> str:
    controls = "".join(own_text(ASSETS / name) for name in ("theory.css", "theory/chart.css"))
    stage = typeface_css() + formulas_css() + COLOURS + bundle.CSS + tour.CSS
    return stage + theme.css_variables("body") + theme.method_css() + controls + read("site.css")
