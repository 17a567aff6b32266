"""The what-if panel: the knobs of the paper's model, and what it predicts with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import Matrix, check_K, format_K, from_budgets, parse_K, to_budgets
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import Autoregressive, Cascade, Speculative
from csd.record.race import Race
from csd.request.defaults import Defaults
from csd.theme import display_name
from csd.theory import curves
from csd.theory import figures as theory_figures
from csd.theory import what_if as theory
from csd.theory.prediction import CostModel
from csd.theory.what_if import PanelSettings

Figure = Any
"""A plotly figure; only the rooms that draw them import plotly."""
MAX_ALPHAS = len(theory.pairs(("",) * theory.MOST_DRAFTS))
ALL_LEVELS = "all levels"
MEASURED = tuple(method.name for method in (Autoregressive, Speculative, Cascade))
"""The lanes of the race that measures a prediction."""


@dataclass(frozen=True)
class WhatIf:
    """The values of the panel. `removed` is an entry of `level_choices`; `costs` (of a pass of each draft) and `width`
    (the cost of each reviewed token) are in target passes."""

    drafts: tuple[str, ...]
    draft: str
    k: float | None
    K: str
    removed: str
    alphas: tuple[float, ...]
    costs: tuple[float, ...]
    width: float


@dataclass(frozen=True)
class Knob:
    """A slider from 0 to `maximum`."""

    label: str
    value: float
    maximum: float


@dataclass(frozen=True)
class WhatIfPanel:
    """What the panel shows for a family. `k` and `K` are None where the race had none; families with more drafts than
    the panel takes, or with none, have no knobs."""

    drafts: tuple[str, ...]
    draft: str
    k: int | None
    K: str | None
    alphas: tuple[Knob, ...] = ()
    costs: tuple[Knob, ...] = ()
    width: float = 0.0


@dataclass(frozen=True)
class Prediction:
    """A figure and a sentence; without a figure the sentence says what is wrong."""

    text: str
    figure: Figure | None = None


@dataclass(frozen=True)
class MeasureUpdate:
    """The fields of the race that measures a prediction; without them the sentence says what is wrong."""

    text: str
    fields: Mapping[str, Any] | None = None


def make_panel(settings: PanelSettings) -> WhatIfPanel:
    """The panel with the rates and costs that a race has measured, or with typical ones."""
    drafts, K = settings.drafts, settings.K
    panel = WhatIfPanel(drafts, settings.draft, settings.k, format_K(K) if K else None)
    if not 0 < len(drafts) <= theory.MOST_DRAFTS:
        return panel
    values = theory.SliderValues.of_model(drafts, settings.model)
    alphas = tuple(
        Knob(f"α {by} ← {display_name(of)}", value, 1.0)
        for (by, of), value in zip(theory.pairs(drafts), values.alphas, strict=True)
    )
    costs = tuple(
        Knob(f"c {name}", value, max(1.0, 2 * value)) for name, value in zip(drafts, values.costs, strict=True)
    )
    return replace(panel, alphas=alphas, costs=costs, width=values.per_reviewed_token)


def starting_panel(defaults: Defaults) -> WhatIfPanel:
    preset = defaults.preset
    return make_panel(PanelSettings(defaults.drafts, preset.draft, preset.k, preset.K, CostModel()))


def panel_after(race: Race) -> WhatIfPanel:
    """The panel with a race's drafts, k and K, and with what it measured."""
    return make_panel(theory.settings_of_race(race))


def level_choices(drafts: Sequence[str]) -> tuple[str, ...]:
    return (ALL_LEVELS, *(f"without {name}" for name in (*drafts, display_name(MAX_GRAM))))


def predict(asked: WhatIf) -> Prediction:
    """The curves over k and a sentence about the chosen k and K."""
    drafts = asked.drafts
    try:
        k, K = _whole_k(asked.k), chosen_K(asked)
        alphas, costs = asked.alphas[: len(theory.pairs(drafts))], asked.costs[: len(drafts)]
        model = theory.SliderValues(alphas, costs, asked.width).to_model(drafts)
        found = theory.predict_curves(drafts, asked.draft, k, K, model)
    except ValueError as error:
        return Prediction(str(error))
    return Prediction(theory.describe_curves(found), theory_figures.what_if(found))


def chosen_K(asked: WhatIf) -> Matrix:
    """K without the level that is removed. Raises Refusal."""
    if not 0 < len(asked.drafts) <= theory.MOST_DRAFTS:
        raise Refusal(f"This panel takes families with one or two drafts; this one has {len(asked.drafts)}.")
    K = check_K(parse_K(asked.K), len(asked.drafts))
    choices = level_choices(asked.drafts)
    if asked.removed not in choices[1:]:
        return K
    budgets = theory.without_level(to_budgets(K), choices.index(asked.removed) - 1)
    return check_K(from_budgets(budgets), len(asked.drafts))


def _whole_k(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, float)) or k != int(k):
        raise Refusal("k is empty or not a whole number. Enter a whole number.")
    return int(k)


def paper_curves(c: float, copies: float) -> tuple[Figure, ...]:
    """The paper's figures for drafts that cost c and a share `copies` of copied tokens that are accepted."""
    return (
        curves.speedup_over_k(c),
        curves.speedup_over_alpha(),
        curves.cascades_over_alpha(c, copies),
    )


def measure(asked: WhatIf) -> MeasureUpdate:
    """Put the panel's k and K into the form, so that a race can measure what they bring."""
    try:
        K = chosen_K(asked)
    except ValueError as error:
        return MeasureUpdate(str(error))
    fields = {"draft": asked.draft, "k": asked.k, "K": format_K(K), "lanes": list(MEASURED)}
    return MeasureUpdate("Starting a race with these settings in the Race tab.", fields)
