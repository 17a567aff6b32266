"""What if k or K were different? The curves and the settings of the what-if panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from csd.decoding.errors import check_number
from csd.decoding.k_matrix import Budgets, Matrix, check_K, format_K, to_budgets
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import AdaptiveCascade, Cascade, Refusal, Speculative
from csd.decoding.methods.method import TARGET
from csd.decoding.stages import Stage, cascade_stages
from csd.ranges import DRAFTED
from csd.record.race import Race
from csd.roles import roles_of_family
from csd.sentences import counted
from csd.theory.measurement import measure_cost_model, target_step_seconds
from csd.theory.plan import method_of
from csd.theory.prediction import CostModel, Pair, RoundEstimate, predict_round

CURVE_END = 32  # tokens: the curves go at least this far
ALIKE = 1.05  # speeds that differ by less are told as equal
MOST_DRAFTS = 2  # drafts of a family that the panel has knobs for
USUAL_ALPHA, USUAL_COPY_ALPHA, USUAL_COSTS = 0.8, 0.4, (0.2, 0.08)  # of the sliders, until they are measured


# ---- curves


@dataclass(frozen=True)
class Curve:
    """Predicted speed-up over k, or over the first number of K. `current` is the panel's own k or number.

    `flat` is the paper's prediction, `wide` adds the cost of reviewed tokens; `title` names all settings, `rest` those
    that the whole curve shares; `round` is the one at `current`.
    """

    name: str
    title: str
    rest: str
    ks: tuple[int, ...]
    flat: tuple[float, ...]
    wide: tuple[float, ...]
    current: int
    round: RoundEstimate

    @property
    def best(self) -> int:
        """Where the curve is highest."""
        return self.ks[self.wide.index(max(self.wide))]

    @property
    def current_speedup(self) -> float:
        return self.wide[self.ks.index(self.current)]


def predict_curves(drafts: Sequence[str], draft: str, k: int, K: Matrix, model: CostModel) -> tuple[Curve, Curve]:
    """The curves of speculative decoding with `draft` and of the cascade K. Raises Refusal for impossible settings."""
    budgets = to_budgets(check_K(K, len(drafts)))
    if draft not in drafts:
        raise Refusal(f"There is no draft “{draft}”. The drafts are: {', '.join(drafts) or 'none'}.")
    check_number(DRAFTED, k)
    first = next(budget for budget in budgets[0] if budget)
    ks = tuple(range(1, max(CURVE_END, k, first) + 1))
    speculative = [(Stage(draft, x),) for x in ks]
    cascade = [cascade_stages(drafts, with_first(budgets, x)) for x in ks]
    guess, plan = f"Speculative, {draft}, k={k}", f"Cascade, K={format_K(K)}"
    return (
        _curve("speculative", guess, draft, ks, speculative, k, model),
        _curve("cascade", plan, _rest(budgets), ks, cascade, first, model),
    )


def describe_curves(curves: Sequence[Curve]) -> tuple[str, str]:
    """How the two compare with the current settings, and what the cascade's speed is made of."""
    slow, fast = sorted(curves, key=lambda curve: curve.current_speedup)
    ratio = fast.current_speedup / slow.current_speedup
    one, other = ("the cascade" if curve.name == Cascade.name else "speculative decoding" for curve in (fast, slow))
    said = f"With this plan, {one} should be {ratio:.2f} times as fast as {other}."
    if ratio < ALIKE:
        said = "With this plan, the cascade and speculative decoding should be about equally fast."
    cascade = next(curve for curve in curves if curve.name == Cascade.name)
    tokens, runs = f"{cascade.round.tokens:.1f}", f"{cascade.round.passes:.1f}"
    why = (
        f"A round of the cascade brings {tokens} tokens in the time of {runs} runs of the big model: "
        f"{tokens} / {runs} = {cascade.current_speedup:.1f}×."
    )
    if cascade.current != cascade.best:
        why += f" With {counted(cascade.best, 'token')} guessed first it would be {max(cascade.wide):.1f}×."
    return said, why


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


def with_first(budgets: Budgets, k: int) -> Budgets:
    """Budgets with another number of tokens for the first stage that the target has."""
    row = list(budgets[0])
    row[next(column for column, budget in enumerate(row) if budget)] = k
    return (tuple(row), *budgets[1:])


def _reviewed(reviewer: str, plan: Sequence[Stage]) -> Iterator[Pair]:
    """Every pair of reviewer and drafter in a plan."""
    for stage in plan:
        yield reviewer, stage.name
        yield from _reviewed(stage.name, stage.below)


def _curve(
    name: str,
    title: str,
    rest: str,
    ks: tuple[int, ...],
    plans: Sequence[tuple[Stage, ...]],
    current: int,
    model: CostModel,
) -> Curve:
    rounds = [predict_round(plan, model) for plan in plans]
    flat, wide = tuple(one.flat_ewif for one in rounds), tuple(one.ewif for one in rounds)
    return Curve(name, title, rest, ks, flat, wide, current, rounds[ks.index(current)])


def _rest(budgets: Budgets) -> str:
    """A cascade's plan without its first number."""
    return str(with_first(budgets, 1))


# ---- the panel


@dataclass(frozen=True)
class SliderValues:
    """What the sliders set: alpha of each of `pairs(drafts)`, c of each draft, and the cost of a reviewed token."""

    alphas: tuple[float, ...]
    costs: tuple[float, ...]
    per_reviewed_token: float

    def to_model(self, drafts: Sequence[str]) -> CostModel:
        """The cost model that they describe; a copied token is free."""
        alphas = dict(zip(pairs(drafts), self.alphas, strict=True))
        return CostModel(alphas, dict(zip(drafts, self.costs, strict=True)), self.per_reviewed_token)

    @staticmethod
    def of_model(drafts: Sequence[str], model: CostModel) -> SliderValues:
        """What was measured, and usual values for what was not."""
        usual = {pair: USUAL_COPY_ALPHA if pair[1] == MAX_GRAM else USUAL_ALPHA for pair in pairs(drafts)}
        return SliderValues(
            tuple(round(model.alphas.get(pair, alpha), 3) for pair, alpha in usual.items()),
            tuple(round(model.costs.get(name, cost), 3) for name, cost in zip(drafts, USUAL_COSTS, strict=False)),
            round(model.per_reviewed_token, 3),
        )


def pairs(drafts: Sequence[str]) -> tuple[Pair, ...]:
    """Every pair (reviewer, drafter) of a family, those of the target first."""
    names = (TARGET, *drafts, MAX_GRAM)
    return tuple((reviewer, drafter) for i, reviewer in enumerate(names) for drafter in names[i + 1 :])


@dataclass(frozen=True)
class Measured:
    """The speed-up of a lane in a race. `rest` and `at` are where it belongs on a curve: the settings that the curve
    shares, and k or the first number of K; a method without a curve has neither."""

    name: str
    speedup: float
    rest: str = ""
    at: int = 0


@dataclass(frozen=True)
class PanelSettings:
    """What the panel takes over from a race: its family's drafts, the draft and k of the speculative lane, the K of the
    cascade, and what was measured. None where the race does not say."""

    drafts: tuple[str, ...]
    draft: str
    k: int | None
    K: Matrix | None
    model: CostModel
    measured: tuple[Measured, ...] = ()


def settings_of_race(race: Race) -> PanelSettings:
    """From the first speculative lane and the first cascade that uses all of the family's drafts."""
    drafts = race.traces[0].header.drafts if race.traces else ()
    methods = [method_of(trace) for trace in race.traces]
    guess = next((method for method in methods if isinstance(method, Speculative)), None)
    fixed = next((method for method in methods if isinstance(method, Cascade) and method.drafts == drafts), None)
    model = measure_cost_model(race.traces, target_step_seconds(race))
    return PanelSettings(
        drafts,
        guess.draft if guess else drafts[0] if drafts else "",
        guess.k if guess else None,
        fixed.K if fixed else None,
        model,
        tuple(_measured_lanes(race)),
    )


def _measured_lanes(race: Race) -> Iterator[Measured]:
    """The lanes that stand beside the curves."""
    for trace in race.traces:
        method, speedup = method_of(trace), race.speedup(trace)
        if speedup is None:
            continue
        if isinstance(method, Speculative):
            yield Measured(method.name, speedup, method.draft, method.k)
        elif isinstance(method, Cascade) and method.drafts == trace.header.drafts:
            budgets = to_budgets(method.K)
            yield Measured(method.name, speedup, _rest(budgets), next(budget for budget in budgets[0] if budget))
        elif trace.header.method == AdaptiveCascade.name:
            yield Measured(AdaptiveCascade.name, speedup)
