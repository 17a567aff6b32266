"""What if k or K were different? The settings of the what-if panel; the browser draws its curves (assets/theory)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from csd.decoding.k_matrix import Matrix, format_K, to_budgets
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import AdaptiveCascade, Cascade, Speculative
from csd.decoding.methods.method import TARGET
from csd.decoding.stages import Stage, cascade_stages
from csd.ranges import LONGEST_DRAFT
from csd.record import metrics
from csd.record.race import Race
from csd.record.trace import Trace
from csd.roles import roles_of_family
from csd.theory.comparison import compare_with_theory, is_near
from csd.theory.measurement import measure_cost_model, target_step_seconds
from csd.theory.plan import method_of
from csd.theory.prediction import CostModel, Pair, predict_round

LONGEST_START = 32  # tokens, as far as the panel's curves go at least
MOST_DRAFTS = 2  # drafts of a family that the panel has knobs for
USUAL_ALPHA, USUAL_COPY_ALPHA, USUAL_COSTS = 0.8, 0.4, (0.2, 0.08)  # of the sliders, until they are measured


def parts_without_effect(drafts: Sequence[str], draft: str, K: Matrix) -> dict[Pair | str, str]:
    """The pairs whose alpha, and the drafts whose cost, change neither curve, each with the reason."""
    called = roles_of_family(drafts)
    plan = cascade_stages(drafts, to_budgets(K))
    reviewed = {(TARGET, draft), *_reviewed(TARGET, plan)}
    at_work = {name for pair in reviewed for name in pair}
    return {
        pair: f"the {called[pair[1]]} writes nothing for the {called[pair[0]]}"
        if pair[0] in at_work
        else f"the {called[pair[0]]} takes no part"
        for pair in pairs(drafts)
        if pair not in reviewed
    } | {name: f"the {called[name]} takes no part" for name in drafts if name not in at_work}


def _reviewed(reviewer: str, plan: Sequence[Stage]) -> Iterator[Pair]:
    """Every pair of reviewer and drafter in a plan."""
    for stage in plan:
        yield reviewer, stage.name
        yield from _reviewed(stage.name, stage.below)


@dataclass(frozen=True)
class SliderValues:
    """What the sliders set: alpha of each of `pairs(drafts)`, c of each draft, and the cost of a reviewed token."""

    alphas: tuple[float, ...]
    costs: tuple[float, ...]
    per_reviewed_token: float

    @staticmethod
    def of_model(drafts: Sequence[str], model: CostModel) -> SliderValues:
        """What was measured, and usual values for what was not."""
        usual = {pair: USUAL_COPY_ALPHA if pair[1] == MAX_GRAM else USUAL_ALPHA for pair in pairs(drafts)}
        return SliderValues(
            tuple(round(model.alphas.get(pair, alpha), 3) for pair, alpha in usual.items()),
            tuple(round(model.costs.get(name, cost), 3) for name, cost in zip(drafts, USUAL_COSTS, strict=False)),
            round(model.per_reviewed_token, 3),
        )


def with_usual_values(drafts: Sequence[str], model: CostModel) -> CostModel:
    """The numbers that the sliders begin with: those that were measured, and usual ones in place of the others."""
    values = SliderValues.of_model(drafts, model)
    return CostModel(
        dict(zip(pairs(drafts), values.alphas, strict=True)),
        dict(zip(drafts, values.costs, strict=True)),
        values.per_reviewed_token,
    )


def with_best_start(drafts: Sequence[str], K: Matrix, model: CostModel) -> Matrix:
    """K with the length of its first stage that the theory predicts to be best, of 1 to LONGEST_START tokens."""
    full = with_usual_values(drafts, model)
    first, *rest = cascade_stages(drafts, to_budgets(K))

    def predicted(k: int) -> float:
        return predict_round((replace(first, k=k), *rest), full).ewif

    longest = min(LONGEST_START, LONGEST_DRAFT - (K[0][-1] - first.k))
    more = max(range(1, longest + 1), key=predicted) - first.k
    return (tuple(end + more if end else 0 for end in K[0]), *K[1:])


def pairs(drafts: Sequence[str]) -> tuple[Pair, ...]:
    """Every pair (reviewer, drafter) of a family, those of the target first."""
    names = (TARGET, *drafts, MAX_GRAM)
    return tuple((reviewer, drafter) for i, reviewer in enumerate(names) for drafter in names[i + 1 :])


@dataclass(frozen=True)
class Measured:
    """The speed-up of a lane in a race, and how many `tokens` it wrote.

    `rest` and `at` are where it belongs on a curve: the draft and k, or K as text and the first number of its plan; a
    method without a curve has neither. `predicted` is what the theory says with the numbers of the curves, `gap` in a
    few words why it is far off, and `about` in a sentence.
    """

    name: str
    speedup: float
    tokens: int
    rest: str = ""
    at: int = 0
    predicted: float | None = None
    gap: str = ""
    about: str = ""


@dataclass(frozen=True)
class PanelSettings:
    """What the panel takes over from a race: its family's drafts, the draft and k of the speculative lane, the K of the
    cascade, what was measured, and whether a lane `was_stopped` before its end. None where the race does not say."""

    drafts: tuple[str, ...]
    draft: str
    k: int | None
    K: Matrix | None
    model: CostModel
    measured: tuple[Measured, ...] = ()
    was_stopped: bool = False


def settings_of_race(race: Race) -> PanelSettings:
    """From the first speculative lane and the first cascade that uses all of the family's drafts.

    One set of numbers draws both curves: those of these two lanes. Without such a cascade it is that of all lanes, but
    alpha and c of the speculative draft are those of its own lane: there its runs only draft, elsewhere they review. Of
    a race that was stopped after a few tokens they are chance, and are left out.
    """
    drafts = race.traces[0].header.drafts if race.traces else ()
    lanes = [(method_of(trace), trace) for trace in race.traces]
    guess = next(((method, trace) for method, trace in lanes if isinstance(method, Speculative)), None)
    fixed = next(((m, trace) for m, trace in lanes if isinstance(m, Cascade) and m.drafts == drafts), None)
    target_step, own = target_step_seconds(race), (guess[1],) if guess else ()
    stopped = any(trace.end == "stopped" for trace in race.traces)
    if stopped and min(len(trace.tokens) for trace in race.traces) < metrics.SHORT_RUN:
        model = CostModel()
    elif guess and fixed:
        model = measure_cost_model((*own, fixed[1]), target_step)
    else:
        model = _refine(measure_cost_model(race.traces, target_step), measure_cost_model(own, target_step))
    return PanelSettings(
        drafts,
        guess[0].draft if guess else drafts[0] if drafts else "",
        guess[0].k if guess else None,
        fixed[0].K if fixed else None,
        model,
        tuple(_measured_lanes(race, model)),
        stopped,
    )


def _refine(model: CostModel, own: CostModel) -> CostModel:
    """A model with what one lane has measured in place of the means over all lanes."""
    if not own.costs:
        return model
    return CostModel({**model.alphas, **own.alphas}, {**model.costs, **own.costs}, own.per_reviewed_token)


def _measured_lanes(race: Race, model: CostModel) -> Iterator[Measured]:
    """The lanes that stand beside the curves."""
    drafts = race.traces[0].header.drafts if race.traces else ()
    full = with_usual_values(drafts, model) if len(drafts) <= MOST_DRAFTS else model
    for trace, lane in zip(race.traces, compare_with_theory(race), strict=True):
        method, speedup = method_of(trace), race.speedup(trace)
        if speedup is None or _was_cut_short(race, trace):
            continue
        if isinstance(method, Speculative):
            own = Measured(method.name, speedup, len(trace.tokens), method.draft, method.k)
        elif isinstance(method, Cascade) and method.drafts == trace.header.drafts:
            first = next(end for end in method.K[0] if end)
            own = Measured(method.name, speedup, len(trace.tokens), format_K(method.K), first)
        elif trace.header.method == AdaptiveCascade.name:
            yield Measured(AdaptiveCascade.name, speedup, len(trace.tokens), about=lane.about)
            continue
        else:
            continue
        predicted = predict_round(method.stages(), full).ewif
        yield replace(own, predicted=predicted, gap="" if is_near(speedup, predicted) else lane.gap)


def _was_cut_short(race: Race, trace: Trace) -> bool:
    """Whether the lane, or the one it is compared with, was stopped before its speed says much."""
    compared = [one for one in (trace, race.reference) if one is not None]
    return any(one.end == "stopped" and len(one.tokens) < metrics.SHORT_RUN for one in compared)
