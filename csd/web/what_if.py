"""The what-if panel: the sliders of the paper's model, and what it predicts with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from csd.decoding.errors import Refusal, read_number
from csd.decoding.k_matrix import Matrix, check_K, example_K, format_K, parse_K
from csd.decoding.methods import Autoregressive, Cascade, Speculative
from csd.ranges import DRAFTED
from csd.record.race import Race
from csd.request.defaults import Defaults
from csd.roles import roles_of_family
from csd.theory import curves as paper
from csd.theory import figures as theory_figures
from csd.theory import what_if as theory
from csd.theory.parts import NO_PARTS, lanes_of_parts, parts_in_words, whole_halves
from csd.theory.prediction import CostModel, Pair
from csd.theory.what_if import Curve, Measured, PanelSettings, SliderValues
from csd.web.finding import Finding, Number
from csd.web.slider_values import Slider, SliderGroup, read_sliders, with_reasons

Figure = Any
"""A plotly figure; only the rooms that draw them import plotly."""
MEASURED = tuple(method.name for method in (Autoregressive, Speculative, Cascade))
"""The lanes of the race that measures a prediction."""
MOST_COST = 100.0  # target passes: no prediction needs a dearer draft
WIDTH = "width"
OFTEN = "How often is a guess right?"
ABOUT_ALPHA = "α, the share that is accepted"
COST = "What does a guess cost?"
ABOUT_C = "c, in runs of the big model"

ADAPTIVE = "The adaptive cascade ({:.1f}× in the race) chooses its plan anew before each guess, so it has no curve."


@dataclass(frozen=True)
class WhatIf:
    """What the panel asks; `sliders` is what the browser sent of them, `measured` are the speed-ups of the race that
    set the panel."""

    drafts: tuple[str, ...]
    draft: str
    k: float | None
    K: str
    sliders: Any
    measured: tuple[Measured, ...] = ()


@dataclass(frozen=True)
class WhatIfPanel:
    """What the panel shows for a family. `k` and `K` are None where the race had none; families with more drafts than
    the panel takes, or with none, have no sliders."""

    drafts: tuple[str, ...]
    draft: str
    k: int | None
    K: str | None
    groups: tuple[SliderGroup, ...] = ()
    measured: tuple[Measured, ...] = ()


@dataclass(frozen=True)
class Prediction:
    """A figure and its finding; without a figure the finding says what is wrong. `sliders` is their new value where K
    has changed which of them have an effect; `parts` is what a race of the plan's parts compares."""

    finding: Finding
    figure: Figure | None = None
    sliders: dict[str, Any] | None = None
    parts: str = ""


@dataclass(frozen=True)
class MeasureUpdate:
    """The fields of the race that measures a prediction; without them the sentence says what is wrong."""

    text: str
    fields: Mapping[str, Any] | None = None


def make_panel(settings: PanelSettings) -> WhatIfPanel:
    """The panel with the rates and costs that a race has measured, or with typical ones."""
    drafts, K = settings.drafts, settings.K
    panel = WhatIfPanel(drafts, settings.draft, settings.k, format_K(K) if K else None, measured=settings.measured)
    if not 0 < len(drafts) <= theory.MOST_DRAFTS:
        return panel
    values = theory.SliderValues.of_model(drafts, settings.model)
    return replace(panel, groups=slider_groups(drafts, values))


def slider_groups(drafts: Sequence[str], values: SliderValues) -> tuple[SliderGroup, ...]:
    """A slider for each pair of reviewer and drafter, for each draft, and for the width of a review."""
    called = roles_of_family(drafts)
    alphas = tuple(
        Slider(_pair_key(pair), f"{called[pair[1]]}, checked by {called[pair[0]]}", value)
        for pair, value in zip(theory.pairs(drafts), values.alphas, strict=True)
    )
    costs = tuple(
        Slider(name, f"a run of the {called[name]}", value, min(MOST_COST, max(1.0, 2 * value)))
        for name, value in zip(drafts, values.costs, strict=True)
    )
    width = Slider(WIDTH, "each token in a review", values.per_reviewed_token, 0.2)
    return SliderGroup(OFTEN, ABOUT_ALPHA, alphas, 1), SliderGroup(COST, ABOUT_C, (*costs, width), 1)


def starting_panel(defaults: Defaults, shown: Race | None = None) -> WhatIfPanel:
    """The panel of a family's preset, with what a race of this family has measured."""
    preset = defaults.preset
    found = theory.settings_of_race(shown) if shown else None
    if found is None or found.drafts != defaults.drafts:
        return make_panel(PanelSettings(defaults.drafts, preset.draft, preset.k, preset.K, CostModel()))
    return make_panel(replace(found, k=found.k or preset.k, K=found.K or preset.K))


def panel_after(race: Race) -> WhatIfPanel:
    """The panel with a race's drafts, k and K, and with what it measured."""
    return make_panel(theory.settings_of_race(race))


def predict(asked: WhatIf) -> Prediction:
    """The curves over k and a sentence about the chosen k and K."""
    drafts = asked.drafts
    try:
        k, K = read_number(DRAFTED, asked.k), chosen_K(asked)
        curves = theory.predict_curves(drafts, asked.draft, k, K, _read_model(asked))
    except ValueError as error:
        return Prediction(Finding(str(error), state="refused"))
    reasons = {
        part if isinstance(part, str) else _pair_key(part): reason
        for part, reason in theory.parts_without_effect(drafts, asked.draft, K).items()
    }
    figure = theory_figures.what_if(curves, asked.measured)
    sliders = with_reasons(asked.sliders, reasons)
    return Prediction(_find(curves, asked.measured), figure, sliders, parts_in_words(drafts, K))


def _find(curves: Sequence[Curve], measured: Sequence[Measured]) -> Finding:
    """The cascade's prediction, how it compares, and why the adaptive cascade of the race has no curve."""
    cascade = next(curve for curve in curves if curve.name == Cascade.name)
    number = Number("cascade, predicted", f"{cascade.current_speedup:.1f}×", cascade.name, False, cascade.title)
    said, why = theory.describe_curves(curves)
    adaptive = (ADAPTIVE.format(one.speedup) for one in measured if not one.at)
    return Finding(said, " ".join((why, *adaptive)), (number,))


def chosen_K(asked: WhatIf) -> Matrix:
    """Raises Refusal."""
    if not 0 < len(asked.drafts) <= theory.MOST_DRAFTS:
        raise Refusal(f"This panel takes families with one or two drafts; this one has {len(asked.drafts)}.")
    return check_K(parse_K(asked.K), len(asked.drafts))


def fit_K(drafts: Sequence[str], K: str) -> str:
    """K, or an example where it was made for another number of drafts; what cannot be read stays to be corrected."""
    try:
        fits = len(parse_K(K)) == len(drafts) + 1
    except Refusal:
        return K
    return K if fits or not drafts else format_K(example_K(len(drafts)))


def _read_model(asked: WhatIf) -> CostModel:
    drafts = asked.drafts
    pairs = theory.pairs(drafts)
    widest = theory.SliderValues((1.0,) * len(pairs), (MOST_COST,) * len(drafts), 0.0)
    numbers = read_sliders(asked.sliders, slider_groups(drafts, widest))
    alphas = tuple(numbers[_pair_key(pair)] for pair in pairs)
    return SliderValues(alphas, tuple(numbers[name] for name in drafts), numbers[WIDTH]).to_model(drafts)


def _pair_key(pair: Pair) -> str:
    return f"{pair[0]} accepts {pair[1]}"


CURVES = (
    SliderGroup(
        "A small model and a copier",
        "c in runs of the big model, α as shares accepted",
        (
            Slider("c", "c, a run of the small model", 0.2, low=0.01, step=0.01),
            Slider("copies", "α of the copier", 0.5, high=0.95, step=0.01),
        ),
    ),
)


def paper_curves(sliders: Any) -> tuple[Figure, ...] | None:
    """None where the browser sent something else than numbers."""
    try:
        numbers = read_sliders(sliders, CURVES)
    except Refusal:
        return None
    return _draw_curves(numbers["c"], numbers["copies"])


@lru_cache(maxsize=64)  # visitors begin with the same numbers
def _draw_curves(c: float, copies: float) -> tuple[Figure, ...]:
    return paper.speedup_over_k(c), paper.speedup_over_alpha(), paper.cascades_over_alpha(c, copies)


def measure(asked: WhatIf) -> MeasureUpdate:
    """Put the panel's k and K into the form, so that a race can measure what they bring."""
    try:
        return _measure(asked, MEASURED)
    except ValueError as error:
        return MeasureUpdate(str(error))


def measure_parts(asked: WhatIf) -> MeasureUpdate:
    """The same for what each of the two cascades brings."""
    try:
        K = chosen_K(asked)
        if len(whole_halves(asked.drafts, K)) > 1:
            return MeasureUpdate(NO_PARTS)
        return _measure(asked, lanes_of_parts(asked.drafts, K))
    except ValueError as error:
        return MeasureUpdate(str(error))


def _measure(asked: WhatIf, lanes: Sequence[str]) -> MeasureUpdate:
    """Raises ValueError."""
    k, K = read_number(DRAFTED, asked.k), chosen_K(asked)
    return MeasureUpdate("", {"draft": asked.draft, "k": k, "K": format_K(K), "lanes": list(lanes)})
