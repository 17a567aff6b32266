"""The theory page: it computes the paper's model in the browser, from what each recorded race has measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from string import Template
from typing import Any

from csd import theme
from csd.decoding.k_matrix import Matrix, example_K, format_K
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods.method import TARGET
from csd.models.catalog import READY
from csd.paths import ASSETS
from csd.record.race import Race
from csd.record.recording import Recording, title_of
from csd.request.defaults import defaults_for
from csd.roles import roles_of_family
from csd.site.frame import TITLE, frame, read
from csd.stage import bundle
from csd.stage.glossary import glossary_html
from csd.stage.sealed import inert
from csd.stage.standing import times
from csd.theory.assumptions import ASSUMPTIONS
from csd.theory.what_if import MOST_DRAFTS, SliderValues, pairs, settings_of_race, with_best_start

USUAL_K = 4  # where a race has no speculative lane


def theory_page(recordings: Mapping[str, Recording]) -> str:
    """The page for these races by name. Those whose family has no draft, or too many, are left out of its choices."""
    races = [race for name, recording in recordings.items() if (race := race_data(name, recording))]
    body = Template(read("theory.html")).substitute(assumptions=ASSUMPTIONS, glossary=glossary_html())
    description = "The paper's prediction of how fast speculative decoding and cascades are, for any α, c and K."
    data = f'<script type="application/json" id="races">{inert(json.dumps(races))}</script>'
    links = '<a href="index.html">Races</a><a href="theory.html" aria-current="page">Theory</a>'
    return frame(f"Theory - {TITLE}", description, links, body, theory_script(), data)


def theory_script() -> str:
    """The controls and the panel, joined; assets/site/theory.js starts them."""
    controls = ASSETS / "controls"
    parts = (
        bundle.join_modules(controls, "sliders", "Sliders"),
        bundle.join_modules(controls, "staircase", "Staircase"),
        bundle.join_modules(controls, "cumulative", "Cumulative"),
        bundle.join_modules(ASSETS / "theory", "panel", "TheoryPanel"),
    )
    return "".join(parts) + read("theory.js")


def race_data(name: str, recording: Recording) -> dict[str, Any] | None:
    """What the panel starts from, with usual values for what the race did not measure; None without a panel for it."""
    race = Race(recording.traces)
    settings = settings_of_race(race)
    drafts = settings.drafts
    if not 0 < len(drafts) <= MOST_DRAFTS:
        return None
    values = SliderValues.of_model(drafts, settings.model)
    levels, called = (*drafts, MAX_GRAM), roles_of_family(drafts)
    return {
        "name": name,
        "title": recording.title or title_of(recording.traces[0].header.text),
        "drafts": list(drafts),
        "target": called[TARGET],
        "levels": [
            {
                "role": called[level],
                "look": theme.look(len(drafts) - column, len(levels)).key,
            }
            for column, level in enumerate(levels)
        ],
        "draft": settings.draft,
        "k": settings.k or USUAL_K,
        "K": format_K(settings.K or with_best_start(drafts, _usual_K(recording.family, drafts), settings.model)),
        "alphas": {f"{one} accepts {other}": v for (one, other), v in zip(pairs(drafts), values.alphas, strict=True)},
        "costs": dict(zip(drafts, values.costs, strict=True)),
        "width": values.per_reviewed_token,
        "measured": _measured(race),
    }


def _usual_K(family: str, drafts: tuple[str, ...]) -> Matrix:
    """The preset of a ready family with these drafts, otherwise an example."""
    spec = next((spec for spec in READY if spec.name == family), None)
    defaults = defaults_for(spec, "cpu") if spec else None
    if defaults and defaults.drafts == drafts and defaults.preset.K:
        return defaults.preset.K
    return example_K(len(drafts))


def _measured(race: Race) -> str:
    """Such as "Measured there: speculative 3.1×, adaptive cascade 4.4×"."""
    ratios = [(trace.header.method, race.speedup(trace)) for trace in race.traces if trace is not race.reference]
    told = ", ".join(f"{method} {times(ratio)}" for method, ratio in ratios if ratio)
    return f"Measured there: {told}" if told else "Watch that race"
