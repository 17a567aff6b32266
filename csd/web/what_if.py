"""The what-if panel: the sliders of the paper's model, and the plan. The browser predicts with them (assets/theory)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from csd import theme
from csd.decoding.errors import Refusal, read_number
from csd.decoding.k_matrix import Matrix, check_K, example_K, format_K, parse_K
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import Autoregressive, Cascade, Speculative
from csd.decoding.methods.method import TARGET
from csd.ranges import DRAFTED, shorten
from csd.record.race import Race
from csd.request.defaults import Defaults
from csd.request.form import in_order
from csd.roles import roles_of_family
from csd.theory import curves as paper
from csd.theory import what_if as theory
from csd.theory.assumed import WIDTH, Number, Prediction
from csd.theory.parts import NO_PARTS, lanes_of_parts, parts_in_words, whole_halves
from csd.theory.prediction import CostModel, Pair
from csd.theory.what_if import Measured, PanelSettings, SliderValues
from csd.web.slider_values import Slider, SliderGroup, moved_sliders, read_sliders, sliders_value, with_reasons

Figure = Any
"""A plotly figure; only the rooms that draw them import plotly."""
MEASURED = tuple(method.name for method in (Autoregressive, Speculative, Cascade))
"""The lanes that a race needs to measure a prediction."""
MOST_COST = 100.0  # target passes: no prediction needs a dearer draft
OFTEN = "How often is a guess right?"
ABOUT_ALPHA = "α, from 0 to 1"
COST = "What does a guess cost?"
ABOUT_C = "c, in big-model runs"


@dataclass(frozen=True)
class WhatIf:
    """What the panel asks; `sliders` is what the browser sent of them."""

    drafts: tuple[str, ...]
    draft: str
    k: float | None
    K: str
    sliders: Any


@dataclass(frozen=True)
class WhatIfPanel:
    """What the panel shows for a family. `k` and `K` are None where the race had none; families with more drafts than
    the panel takes, or with none, have no sliders. `measured` are the speed-ups of the race, if there was one, and
    `was_stopped` says whether it came to no end."""

    drafts: tuple[str, ...]
    draft: str
    k: int | None
    K: str | None
    groups: tuple[SliderGroup, ...] = ()
    measured: tuple[Measured, ...] = ()
    was_stopped: bool = False


@dataclass(frozen=True)
class PlanCheck:
    """What is wrong with the panel's plan, if anything is; `sliders` is their new value where K has changed which of
    them have an effect, `parts` what a race of the plan's parts compares."""

    refused: str = ""
    sliders: dict[str, Any] | None = None
    parts: str = ""


@dataclass(frozen=True)
class MeasureUpdate:
    """The fields of the race that measures a prediction, and what was `predicted`; without fields the
    sentence says what is wrong."""

    text: str
    fields: Mapping[str, Any] | None = None
    predicted: Prediction | None = None


def make_panel(settings: PanelSettings) -> WhatIfPanel:
    """The panel with the rates and costs that a race has measured, or with typical ones."""
    drafts, K = settings.drafts, format_K(settings.K) if settings.K else None
    measured, was_stopped = settings.measured, settings.was_stopped
    panel = WhatIfPanel(drafts, settings.draft, settings.k, K, measured=measured, was_stopped=was_stopped)
    if not 0 < len(drafts) <= theory.MOST_DRAFTS:
        return panel
    return replace(panel, groups=_slider_groups(drafts, settings.model))


def _slider_groups(drafts: Sequence[str], model: CostModel) -> tuple[SliderGroup, ...]:
    """A slider for each pair of reviewer and drafter, for each draft, and for the width of a review."""
    called, values = roles_of_family(drafts), SliderValues.of_model(drafts, model)
    alphas = tuple(
        Slider(
            _pair_key(pair),
            f"{called[pair[1]]}, checked by {called[pair[0]]}",
            value,
            origin=_origin(pair in model.alphas),
        )
        for pair, value in zip(theory.pairs(drafts), values.alphas, strict=True)
    )
    costs = tuple(
        Slider(
            name,
            f"a run of the {called[name]}",
            value,
            min(MOST_COST, max(1.0, 2 * value)),
            origin=_origin(name in model.costs),
        )
        for name, value in zip(drafts, values.costs, strict=True)
    )
    width = Slider(WIDTH, "each guess in a check", values.per_reviewed_token, 0.2, origin=_origin(bool(model.alphas)))
    return SliderGroup(OFTEN, ABOUT_ALPHA, alphas, 1), SliderGroup(COST, ABOUT_C, (*costs, width), 1)


def _readable_groups(drafts: Sequence[str]) -> tuple[SliderGroup, ...]:
    """The groups for reading what a browser sent: a measured cost may be higher than the sliders of usual ones go."""
    often, cost = _slider_groups(drafts, CostModel())
    return often, replace(cost, sliders=tuple(replace(slider, high=MOST_COST) for slider in cost.sliders))


def _origin(was_measured: bool) -> Literal["measured", "usual"]:
    return "measured" if was_measured else "usual"


def figure_value(panel: WhatIfPanel) -> dict[str, Any]:
    """What the figure shows at first, and what it can go back to. K and k are None where those of before stay."""
    start = {"draft": panel.draft, "k": panel.k, "K": panel.K, "sliders": sliders_value(panel.groups)}
    is_measured = any(one.origin == "measured" for group in panel.groups for one in group.sliders)
    measured = [asdict(one) for one in panel.measured]
    race = {"isMeasured": is_measured, "wasStopped": panel.was_stopped, "measured": measured}
    return {"drafts": list(panel.drafts), "roles": roles_of_family(panel.drafts), **race, "start": start, **start}


def step_value(panel: WhatIfPanel) -> dict[str, Any]:
    """What the picture of one step shows: plan, numbers of the sliders, and the role and the look of each level."""
    drafters, called = (*panel.drafts, MAX_GRAM), roles_of_family(panel.drafts)
    levels = [
        {"name": name, "role": called[name], "look": theme.look(len(panel.drafts) - column, len(drafters)).key}
        for column, name in enumerate(drafters)
    ]
    plan = {"drafts": list(panel.drafts), "K": panel.K, "sliders": sliders_value(panel.groups)}
    return {**plan, "levels": levels, "target": called[TARGET]}


def starting_panel(defaults: Defaults, shown: Race | None = None) -> WhatIfPanel:
    """The panel of a family's preset, with what a race of this family has measured. Where that race had no plan, the
    preset's starts with the length that the theory finds best for these numbers."""
    preset = defaults.preset
    found = theory.settings_of_race(shown) if shown else None
    if found is None or found.drafts != defaults.drafts:
        return make_panel(PanelSettings(defaults.drafts, preset.draft, preset.k, preset.K, CostModel()))
    K = found.K or theory.with_best_start(found.drafts, preset.K, found.model)
    return make_panel(replace(found, k=found.k or preset.k, K=K))


def panel_after(race: Race, home: Sequence[str]) -> WhatIfPanel:
    """The panel with a race's drafts, k and K, and with what it measured. Where the race had no K, that of before
    stays, unless the page's `home` family has more or fewer drafts: it may be for those."""
    found = theory.settings_of_race(race)
    if found.K is None and 0 < len(found.drafts) <= theory.MOST_DRAFTS and len(found.drafts) != len(home):
        found = replace(found, K=theory.with_best_start(found.drafts, example_K(len(found.drafts)), found.model))
    return make_panel(found)


def check_plan(asked: WhatIf) -> PlanCheck:
    """Which sliders have no effect with this k and K, or a sentence on what is wrong with them."""
    drafts = asked.drafts
    try:
        read_number(DRAFTED, asked.k)
        K = chosen_K(asked)
        check_draft(asked)
        read_sliders(asked.sliders, _readable_groups(drafts))
    except ValueError as error:
        return PlanCheck(str(error))
    reasons = {
        part if isinstance(part, str) else _pair_key(part): reason
        for part, reason in theory.parts_without_effect(drafts, asked.draft, K).items()
    }
    return PlanCheck("", with_reasons(asked.sliders, reasons), parts_in_words(drafts, K))


def chosen_K(asked: WhatIf) -> Matrix:
    """Raises Refusal."""
    if not 0 < len(asked.drafts) <= theory.MOST_DRAFTS:
        raise Refusal(f"This panel takes families with one or two drafts; this one has {len(asked.drafts)}.")
    return check_K(parse_K(asked.K), len(asked.drafts))


def check_draft(asked: WhatIf) -> None:
    """Raises Refusal."""
    if asked.draft not in asked.drafts:
        raise Refusal(f"There is no draft “{shorten(asked.draft)}”. The drafts are: {', '.join(asked.drafts)}.")


def fit_K(drafts: Sequence[str], K: str, sliders: Any) -> str:
    """K, or an example where it was made for another number of drafts: one that starts with the best length for the
    sliders. What cannot be read stays to be corrected."""
    try:
        fits = len(parse_K(K)) == len(drafts) + 1
    except Refusal:
        return K
    if fits or not 0 < len(drafts) <= theory.MOST_DRAFTS:
        return K
    return format_K(theory.with_best_start(drafts, example_K(len(drafts)), _model_of(drafts, sliders)))


def _model_of(drafts: Sequence[str], sliders: Any) -> CostModel:
    """What the sliders say; usual numbers where the browser sent something else."""
    try:
        return _read_model(drafts, sliders)
    except Refusal:
        return CostModel()


def _read_model(drafts: Sequence[str], sliders: Any) -> CostModel:
    """Raises Refusal."""
    numbers = read_sliders(sliders, _readable_groups(drafts))
    alphas = {pair: numbers[_pair_key(pair)] for pair in theory.pairs(drafts)}
    return CostModel(alphas, {name: numbers[name] for name in drafts}, numbers[WIDTH])


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


def measure(asked: WhatIf, lanes: Sequence[str] = ()) -> MeasureUpdate:
    """Put the panel's k and K into the form, so that a race can measure what they bring; its own `lanes` stay."""
    try:
        update = _measure(asked, in_order({*lanes, *MEASURED}))
        model = _read_model(asked.drafts, asked.sliders)
        keys: dict[str, Number] = {_pair_key(pair): pair for pair in theory.pairs(asked.drafts)}
        moved = frozenset(keys.get(key, key) for key in moved_sliders(asked.sliders))
        plan = (asked.drafts, asked.draft, int(asked.k or 0), chosen_K(asked))
        return replace(update, predicted=Prediction(*plan, model, moved))
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
    check_draft(asked)
    return MeasureUpdate("", {"draft": asked.draft, "k": k, "K": format_K(K), "lanes": list(lanes)})
