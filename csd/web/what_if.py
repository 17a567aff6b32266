"""The what-if panel: the knobs of the paper's model, and what it predicts with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import Matrix, check_K, format_K, from_budgets, parse_K, to_budgets
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import Autoregressive, Cascade, Speculative
from csd.record.trace import Trace
from csd.theory import figures as theory_figures
from csd.theory import prediction as theory

Figure = Any
"""A plotly figure; only the rooms that draw them import plotly."""
MAX_DRAFTS = theory.MOST_DRAFTS
MAX_ALPHAS = len(theory.pairs(("",) * MAX_DRAFTS))
ALL_LEVELS = "all levels"
DISPLAY_NAMES = {MAX_GRAM: "Max-Gram"}
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


def make_panel(
    drafts: tuple[str, ...], draft: str, k: int | None, K: Matrix | None, traces: Sequence[Trace] = ()
) -> WhatIfPanel:
    """The panel with the rates and costs that a race has measured, or with typical ones."""
    panel = WhatIfPanel(drafts, draft, k, format_K(K) if K else None)
    if not 0 < len(drafts) <= MAX_DRAFTS:
        return panel
    alphas, costs, width = theory.knobs(drafts, theory.measured_world(traces) if traces else theory.World())
    return WhatIfPanel(
        panel.drafts,
        panel.draft,
        panel.k,
        panel.K,
        alphas=tuple(
            Knob(f"α {by} ← {DISPLAY_NAMES.get(of, of)}", value, 1.0)
            for (by, of), value in zip(theory.pairs(drafts), alphas, strict=True)
        ),
        costs=tuple(Knob(f"c {name}", value, max(1.0, 2 * value)) for name, value in zip(drafts, costs, strict=True)),
        width=width,
    )


def panel_after(traces: tuple[Trace, ...]) -> WhatIfPanel:
    """The panel with a race's drafts, k and K, and with what it measured."""
    return make_panel(*theory.asked_of(traces), traces)


def level_choices(drafts: Sequence[str]) -> tuple[str, ...]:
    return (ALL_LEVELS, *(f"without {name}" for name in (*drafts, DISPLAY_NAMES[MAX_GRAM])))


def predict(asked: WhatIf) -> Prediction:
    """The curves over k and a sentence about the chosen k and K."""
    try:
        world = theory.world_of(asked.drafts, asked.alphas, asked.costs, asked.width)
        curves = theory.what_if(asked.drafts, asked.draft, _whole_k(asked.k), chosen_K(asked), world)
    except ValueError as error:
        return Prediction(str(error))
    return Prediction(theory.what_if_words(curves), theory_figures.what_if(curves))


def chosen_K(asked: WhatIf) -> Matrix:
    """K without the level that is removed. Raises Refusal."""
    if not 0 < len(asked.drafts) <= MAX_DRAFTS:
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
        theory_figures.speedup_over_k(c),
        theory_figures.speedup_over_alpha(),
        theory_figures.cascades_over_alpha(c, copies),
    )


def measure(asked: WhatIf) -> MeasureUpdate:
    """Put the panel's k and K into the form, so that a race can measure what they bring."""
    try:
        K = chosen_K(asked)
    except ValueError as error:
        return MeasureUpdate(str(error))
    fields = {"draft": asked.draft, "k": asked.k, "K": format_K(K), "lanes": list(MEASURED)}
    return MeasureUpdate("The race with these numbers runs in the Race tab.", fields)
