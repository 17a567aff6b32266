"""What the page does in the browser: calls of assets/page with the values of an event's inputs."""

from __future__ import annotations

import json
from dataclasses import asdict

from csd.decoding.methods import METHODS
from csd.models import catalog
from csd.models.memory import LANES
from csd.own_files import own_text
from csd.paths import ASSETS
from csd.ranges import LENIENCE, LOOKUP_K, MAX_NEW, SEED, SPECULATIVE_K, TEMPERATURE, TOP_K, TOP_P
from csd.request.form import LEAST_LANES
from csd.stage import bundle
from csd.typeface import formulas_css, typeface_css
from csd.web import hidden_controls, puzzles
from csd.web.fields import CUSTOM

NUMBERS = {
    field: {**asdict(allowed), "range": str(allowed)}
    for field, allowed in {
        "max-new": MAX_NEW,
        "k": SPECULATIVE_K,
        "lookup": LOOKUP_K,
        "lenience": LENIENCE,
        "temperature": TEMPERATURE,
        "seed": SEED,
        "top-k": TOP_K,
        "top-p": TOP_P,
    }.items()
}
USED_BY = {  # the methods that use a field, by its id
    field: [name for name, method in METHODS.items() if field in method.uses]
    for field in ("k", "lookup", "lenience", "K")
}
PAGE = bundle.join_modules(ASSETS / "page", "index", "CascadePage") + "window.CascadePage = CascadePage;\n"
STYLE = typeface_css() + formulas_css() + own_text(ASSETS / "page" / "drawing.css")
EARLY_LINKS = [("How it works", "#tour-start", ""), ("Puzzles", "#puzzles-open", f"0/{len(puzzles.PUZZLES)}")]
# In the document, see early_style.py.
EARLY_SCRIPT = (
    'document.documentElement.setAttribute("data-drawing", "");\n'
    f"{bundle.join_modules(ASSETS / 'page', 'early', 'CascadeEarly')}window.CascadeEarly = CascadeEarly;\n"
    f"CascadeEarly.playEarly({len(bundle.CSS)}, {json.dumps(EARLY_LINKS)});"
)
EARLY = f"<style>{STYLE}</style><script>{EARLY_SCRIPT}</script>"
HEAD = (
    f"<script>{PAGE}"
    f"CascadePage.hideControls({json.dumps(hidden_controls.CONTROLS)}, {json.dumps(hidden_controls.NAME)});\n"
    f"CascadePage.checkNumbers({json.dumps(NUMBERS)}, {json.dumps(USED_BY)}, "
    f"{json.dumps([LEAST_LANES, LANES])});\n"
    "CascadePage.drawTogether();</script>"
)

PRESS = "(id) => CascadePage.press(id)"
RACE_FROM_TAB = "(id) => CascadePage.raceFromTab(id)"
START = "() => CascadePage.start()"
TELL_PROMPT = "() => CascadePage.tellPrompt()"
TOGGLE_SETTINGS = "() => CascadePage.toggle('more')"
SETTINGS_IN_WORDS = f"(...values) => CascadePage.tellSettings({json.dumps(catalog.TITLES)}, ...values)"
TOGGLE_RACES = "() => CascadePage.toggle('races')"
BEGIN_EXAMPLE = "() => CascadePage.beginExample()"
BEGIN_OWN = "() => CascadePage.beginOwn()"
TELL_PREVIOUS = "(status) => CascadePage.tellPrevious(status)"
END_EXAMPLE = "() => CascadePage.endExample()"
RACE = "() => CascadePage.press('race')"
TELL_SECTIONS = "(words) => CascadePage.tellSections(words)"
REVEAL_CUSTOM = f"(family) => CascadePage.reveal(family === {json.dumps(CUSTOM)} ? 'target' : '')"
REVEAL_PLAN = "(preset) => CascadePage.reveal(preset === 'adaptive' ? '' : 'K')"
TELL_NAMES = "(target, drafts) => CascadePage.tellNames(target, drafts)"
DROP_FAULTS = "() => CascadePage.dropFaults()"
CLOSE_SETTINGS = "() => CascadePage.close('more')"
BEGIN_RACE = "() => CascadePage.beginRace()"
END_RACE = "(status) => CascadePage.endRace(status)"
STOPPING = "() => '<p>Stopping.</p>'"
OPEN_ADDRESS = "() => CascadePage.openAddress()"
READ_ADDRESS = "() => CascadePage.readAddress()"
CHOOSE_RACE = "(id) => CascadePage.chooseRace(id)"
END_OWN = "() => CascadePage.endOwn()"
KEEP_TYPED = "(...values) => CascadePage.keepTyped(...values)"
LEAVE_RACE = "() => CascadePage.writeRace('')"
RESTORE_PROMPT = "(status) => CascadePage.restorePrompt(status)"
SHOWN_RACE = "() => CascadePage.shownRace()"
VISITOR_BEFORE = "() => [CascadePage.visitorBefore(), CascadePage.promptAside()]"
NOTE_VISITOR = "(visitor) => CascadePage.noteVisitor(visitor)"
ARRIVE = "() => CascadePage.arrive()"
COPY_LINK = "(query, omitted) => CascadePage.copyLink(query, omitted)"


def download_figures(image_format: str) -> str:
    """Downloads the visible figures as "png" or "svg"."""
    return f"() => CascadePage.downloadFigures('{image_format}')"
