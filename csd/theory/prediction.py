"""The paper's model of speed beside what a race measured, for any K. Traces in, numbers and sentences out. No gradio.

The model, as in `csd.theory.ewif`: each token is accepted independently, with the rate alpha of the pair (reviewer,
who handed it up); a run of a drafter costs c target runs; a review costs one run whatever its width; nothing else costs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from statistics import fmean, median

from csd.decoding.k_matrix import LONGEST_DRAFT, Budgets, Matrix, check_K, format_K, to_budgets
from csd.decoding.methods import Refusal, find_method, restore_method
from csd.decoding.stages import Stage, cascade_stages
from csd.record import metrics
from csd.record.metrics import AcceptanceCount
from csd.record.trace import Proposal, Review, Trace
from csd.theory.ewif import phi

TARGET, COPIES = "target", "MaxGram"
LONGEST = 32  # tokens, the right end of the what-if curves

Pair = tuple[str, str]
"""A reviewer and the drafter whose tokens it reviews."""


# ---- the model, for any tree


@dataclass(frozen=True)
class World:
    """What a prediction needs: alpha of each pair, c of each drafter (per run; Max-Gram per token) in target runs.

    `width` is how much of a target run each drafted token adds to the target's review; the paper counts 0.
    """

    alphas: Mapping[Pair, float] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)
    width: float = 0.0

    def __post_init__(self) -> None:
        for (reviewer, drafter), alpha in self.alphas.items():
            if not 0 <= alpha <= 1:
                raise ValueError(f"alpha of {reviewer} and {drafter} must lie between 0 and 1; {alpha:g} does not.")
        for name, cost in {**self.costs, "a review's width": self.width}.items():
            if not 0 <= cost < math.inf:
                raise ValueError(f"The cost of {name} is a finite number of target runs, 0 or more; {cost:g} is not.")


@dataclass(frozen=True)
class Round:
    """What one target run is expected to bring and to cost: new tokens, and target runs for drafts and for the review."""

    tokens: float
    drafting: float
    review: float
    block: float  # tokens handed to the target

    @property
    def ewif(self) -> float:
        return self.tokens / (self.drafting + self.review)


def predicted(stages: Sequence[Stage], world: World) -> Round:
    """One round of the target over this tree, by following how long the block may get and how much of it survives."""
    lengths, emitted, drafting = _block(TARGET, stages, world)
    tokens = sum(count * chance for count, chance in emitted.items())
    block = sum(length * chance for length, chance in lengths.items())
    return Round(tokens, drafting, 1 + world.width * block, block)


def _block(reviewer: str, stages: Sequence[Stage], world: World) -> tuple[dict[int, float], dict[int, float], float]:
    """Chances of each block length, chances of each number of tokens that the review lets out, and the drafts' cost.

    `alive` is the part of a length's chance in which the reviewer accepts all of it; what it rejects on the way is let out
    with one token of its own.
    """
    lengths, alive, emitted = defaultdict(float, {0: 1.0}), defaultdict(float, {0: 1.0}), defaultdict(float)
    cost, goal = 0.0, 0
    for node in stages:
        goal += node.k
        _, runs, inside = _block(node.name, node.below, world)
        alpha, each = world.alphas.get((reviewer, node.name), 0.0), world.costs.get(node.name, 0.0) + inside
        for length in range(goal):  # upwards: every run adds at least one token
            here, good = lengths.pop(length, 0.0), alive.pop(length, 0.0)
            cost += here * each
            left = 1.0  # the chance that the run writes a token at this place
            for place in range(1, max(runs) + 1 if here else 0):
                emitted[length + place] += good * left * alpha ** (place - 1) * (1 - alpha)
                chance = runs.get(place, 0.0)
                if chance:
                    lengths[length + place] += here * chance
                    alive[length + place] += good * chance * alpha**place
                left -= chance
    for length, chance in alive.items():
        emitted[length + 1] += chance
    return lengths, emitted, cost


def ewif_both(
    alpha: float, alpha_inner: float, alpha_copy: float, c1: float, c2: float, n: int, k: int, tail: int
) -> float:
    """Both cascades: n runs of the draft, each reviewing k copied tokens, then `tail` copied tokens for the target.

    Theorem 4.3, and where all of the first part is accepted, with chance phi(alpha)^n, theorem 4.5 goes on from there.
    tail = 0 is the vertical cascade, k = 0 the horizontal one.
    """
    survives = phi(alpha, alpha_inner, k)
    first = 1 + alpha * _sum(alpha * alpha_inner, k + 1) * _sum(survives, n)
    return (first + survives**n * alpha_copy * _sum(alpha_copy, tail)) / (1 + n * c1 + (n * k + tail) * c2)


def _sum(x: float, n: int) -> float:
    return sum(x**i for i in range(n))


# ---- what a race measured


def rates(traces: Sequence[Trace]) -> dict[Pair, AcceptanceCount]:
    """alpha of each pair: of the tokens that were judged on their own account, how many were accepted.

    What stands behind a rejected token was not judged and does not count, as in the paper's alpha.
    """
    judged: dict[Pair, int] = defaultdict(int)
    kept: dict[Pair, int] = defaultdict(int)
    for trace in traces:
        for record in metrics.records(trace):
            if isinstance(record, Review):
                for place, name in zip(range(record.accepted + 1), _handed(record)):
                    judged[record.by, name] += 1
                    kept[record.by, name] += place < record.accepted
    return {pair: AcceptanceCount(judged[pair], kept[pair]) for pair in judged}


def unit(traces: Sequence[Trace]) -> float:
    """Seconds of a target run over a single token: the autoregressive lane's, else those that drafted nothing; or nan."""
    alone = [trace for trace in traces if trace.header.method == "autoregressive" and trace.steps] or traces
    runs = [step.review.seconds for trace in alone for step in trace.steps if not step.review.tokens]
    return fmean(runs) if runs else math.nan


def costs(traces: Sequence[Trace], target_run: float) -> dict[str, float]:
    """c of every drafter that ran: mean seconds of a run, of Max-Gram per token, in target runs."""
    seconds: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for trace in traces:
        for record in metrics.records(trace):
            if record.by != TARGET and not getattr(record, "skipped", ""):
                seconds[record.by] += record.seconds
                counts[record.by] += len(record.tokens) if isinstance(record, Proposal) else 1
    return {name: seconds[name] / counts[name] / target_run for name in seconds if counts[name]}


def width(traces: Sequence[Trace], target_run: float) -> float:
    """How much of a target run each drafted token added to the target's reviews; 0 where nothing was drafted."""
    wide = [step.review for trace in traces for step in trace.steps if step.review.tokens]
    extra = sum(review.seconds - target_run for review in wide) / target_run
    return max(0.0, extra / sum(len(review.tokens) for review in wide)) if wide else 0.0


def measured_world(traces: Sequence[Trace]) -> World:
    """alpha, c and the price of width over all lanes of a race; empty where no target run over one token is known."""
    target_run = unit(traces)
    if not target_run > 0:
        return World()
    alphas = {pair: count.rate for pair, count in rates(traces).items()}
    return World(alphas, costs(traces, target_run), width(traces, target_run))


def _handed(review: Review) -> Iterator[str]:
    """For each token of the reviewed block, who handed it up (not who wrote it first)."""
    for inner in review.inner:
        own = inner.token is not None if isinstance(inner, Review) else 0
        count = inner.accepted + own if isinstance(inner, Review) else len(inner.tokens)
        yield from [inner.by] * count


# ---- prediction beside measurement


@dataclass(frozen=True)
class Lane:
    """One lane: what it is, alpha and c of this run, the prediction, and the measured speed-ups, this race's first.

    `flat` is the paper's prediction, `wide` the same with this run's price of a wide review; None where none holds.
    """

    name: str
    formula: str
    alphas: Mapping[Pair, AcceptanceCount]
    costs: Mapping[str, float]
    flat: float | None
    wide: float | None
    measured: tuple[float, ...]
    words: tuple[str, ...]


def beside(traces: Sequence[Trace], earlier: Sequence[Sequence[Trace]] = ()) -> tuple[Lane, ...]:
    """Every lane with its prediction; `earlier` races with the same settings give the spread of the measured speed-up."""
    target_run = unit(traces)
    races = [traces, *(race for race in earlier if race is not traces and _same(race, traces))]
    names = [trace.header.method for trace in traces]
    return tuple(
        _lane(
            f"{i + 1}: {trace.header.method}" if names.count(trace.header.method) > 1 else trace.header.method,
            trace,
            target_run,
            tuple(ratio for race in races if (ratio := _speedup(race, i)) is not None),
        )
        for i, trace in enumerate(traces)
    )


def _same(one: Sequence[Trace], other: Sequence[Trace]) -> bool:
    """Whether two races had the same prompt and settings, and came to their ends."""
    return [t.header for t in one] == [t.header for t in other] and all(t.end != "stopped" for t in (*one, *other))


def _speedup(race: Sequence[Trace], lane: int) -> float | None:
    alone = next((trace for trace in race if trace.header.method == "autoregressive"), None)
    if alone is None or not alone.decode_seconds or not race[lane].decode_seconds:
        return None
    return metrics.speed(race[lane]) / metrics.speed(alone)


def _lane(name: str, trace: Trace, target_run: float, measured: tuple[float, ...]) -> Lane:
    formula = _formula(trace)
    if not (trace.steps and target_run > 0):
        return Lane(name, formula, {}, {}, None, None, measured, (_missing(trace),))
    counts, prices, price = rates((trace,)), costs((trace,), target_run), width((trace,), target_run)
    stages = stages_of(trace)
    if stages is None:
        return Lane(name, formula, counts, prices, None, None, measured, (_round(trace, target_run),))
    flat = World({pair: count.rate for pair, count in counts.items()}, prices)
    round = predicted(stages, flat)
    wide = predicted(stages, replace(flat, width=price)).ewif
    words = (_tokens(trace, round, stages), _price(trace, round, target_run)) if stages else ()
    return Lane(name, formula, counts, prices, round.ewif, wide, measured, words)


def _formula(trace: Trace) -> str:
    try:
        return find_method(trace.header.method).formula
    except Refusal:
        return "not known"


def stages_of(trace: Trace) -> tuple[Stage, ...] | None:
    """The plan of a lane, from its header; None where it is not fixed (adaptive) or the settings make no sense."""
    try:
        method = restore_method(trace.header.method, trace.header.settings)
        method.check(trace.header.drafts)
    except Refusal:
        return None
    return method.stages()


def _missing(trace: Trace) -> str:
    if not trace.steps:
        return "This lane wrote nothing, so nothing was measured."
    return "There is no target run over a single token to compare with. Race with the autoregressive lane."


def _parts(trace: Trace, target_run: float) -> tuple[float, float, float, float]:
    """A mean round in target runs: all of it, the review, the drafts, the rest."""
    spent, rounds = metrics.seconds_by_level(trace), len(trace.steps) * target_run
    review, rest = spent.get(TARGET, 0.0), spent["overhead"]
    return tuple(x / rounds for x in (trace.decode_seconds, review, trace.decode_seconds - review - rest, rest))  # type: ignore[return-value]


def _drafted(trace: Trace) -> float:
    return fmean(len(step.review.tokens) for step in trace.steps)


def _round(trace: Trace, target_run: float) -> str:
    whole, review, drafts, rest = _parts(trace, target_run)
    return (
        f"A round brought {metrics.mat(trace):.1f} tokens and cost {whole:.2f} target runs: the review of "
        f"{_drafted(trace):.1f} drafted tokens {review:.2f}, drafts {drafts:.2f}, overhead {rest:.2f}."
    )


def _tokens(trace: Trace, round: Round, stages: Sequence[Stage]) -> str:
    """Why a round brought more or fewer tokens than independent acceptance gives."""
    found = metrics.mat(trace)
    start = f"A round brought {found:.1f} tokens, the model says {round.tokens:.1f}"
    if abs(found / round.tokens - 1) < 0.05:
        return f"{start}: acceptance was as good as independent."
    if found > round.tokens:
        return f"{start}: acceptance is not independent, easy stretches of the text are accepted in long runs."
    drafted = _drafted(trace)
    if drafted < 0.9 * round.block:
        cause = "Max-Gram found less to copy" if _copies(stages) else "blocks were cut short by the end of the text"
        return f"{start}: {cause}, blocks had {drafted:.1f} tokens and not {round.block:.1f}."
    return f"{start}: acceptance is not independent, rejections gather in hard stretches."


def _copies(stages: Sequence[Stage]) -> bool:
    return any(node.name == COPIES or _copies(node.below) for node in stages)


def _price(trace: Trace, round: Round, target_run: float) -> str:
    """Why a round cost more or less than the model counts."""
    whole, review, drafts, rest = _parts(trace, target_run)
    return (
        f"It cost {whole:.2f} target runs, the model says {1 + round.drafting:.2f}: the review of {_drafted(trace):.1f} "
        f"drafted tokens took {review:.2f} and not 1, drafts {drafts:.2f} and not {round.drafting:.2f}, "
        f"overhead {rest:.2f} and not 0."
    )


def spread(ratios: Sequence[float]) -> str:
    """Such as "2.31x, 2.25 to 2.40 in 3 races"; a dash where there is none, 1.00x for the reference."""
    if not ratios:
        return "–"
    if set(ratios) == {1.0}:
        return "1.00x"
    if len(ratios) == 1:
        return f"{ratios[0]:.2f}x in one race; race again for the spread"
    return f"{median(ratios):.2f}x, {min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} races"


def table(lanes: Sequence[Lane]) -> str:
    """The lanes as an HTML table for the page, with a caption; everything that comes from a trace is escaped."""
    names = ("lane", "α on this run", "c on this run", "predicted", "measured", "why they differ")
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    rows = "".join(_row(lane) for lane in lanes)
    return (
        '<div class="theory-table" tabindex="0" role="region" aria-label="Prediction and measurement"><table>'
        "<caption>The paper's prediction beside this race. α: share of judged tokens that the reviewer accepted (reviewer ← "
        "who handed them up). c: time of one run, of Max-Gram per token, in target runs over a single token.</caption>"
        f"<thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(lane: Lane) -> str:
    alphas = (
        f"{by} ← {of}: {count.rate:.2f} ({count.accepted}/{count.proposed})" for (by, of), count in lane.alphas.items()
    )
    cells = (
        _lines(alphas),
        _lines(f"{name}: {_figures(c)}" for name, c in lane.costs.items()),
        f"{_prediction(lane)}<br><small>{escape(lane.formula)}</small>",
        escape(spread(lane.measured)),
        _lines(lane.words),
    )
    return f'<tr><th scope="row">{escape(lane.name)}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _prediction(lane: Lane) -> str:
    if lane.flat is None or lane.wide is None:
        return "–"
    more = f", {lane.wide:.2f}x with this run's cost of wide reviews" if abs(lane.wide - lane.flat) >= 0.005 else ""
    return f"<b>{lane.flat:.2f}x</b>{more}"


def _lines(items: Iterable[str]) -> str:
    return "<br>".join(escape(item) for item in items) or "–"


def _figures(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


# ---- what if


@dataclass(frozen=True)
class Curve:
    """Predicted speed-up over the first number of K (or k); `at` is where the knobs stand now, `title` says so in full."""

    name: str
    title: str
    ks: tuple[int, ...]
    flat: tuple[float, ...]
    wide: tuple[float, ...]
    at: int

    @property
    def best(self) -> int:
        return self.ks[self.wide.index(max(self.wide))]

    def here(self) -> float:
        return self.wide[self.ks.index(self.at)]


def without_level(budgets: Budgets, column: int) -> Budgets:
    """Budgets without the tokens of one level (a draft by its column, Max-Gram last) and of what it would review."""
    return tuple(
        tuple(0 if c == column or r == column + 1 else k for c, k in enumerate(row)) for r, row in enumerate(budgets)
    )


def with_first(budgets: Budgets, k: int) -> Budgets:
    """Budgets with another number at the first stage that the target has."""
    row = list(budgets[0])
    row[next(c for c, own in enumerate(row) if own)] = k
    return (tuple(row), *budgets[1:])


def what_if(drafts: Sequence[str], draft: str, k: int, K: Matrix, world: World) -> tuple[Curve, ...]:
    """The curves of speculative decoding with `draft` and of the cascade K. Raises Refusal for a K that cannot be."""
    budgets = to_budgets(check_K(K, len(drafts)))
    if draft not in drafts:
        raise Refusal(f"There is no draft “{draft}” here. The drafts are: {', '.join(drafts) or 'none'}.")
    if not 1 <= k <= LONGEST_DRAFT:
        raise Refusal(f"k must be a whole number from 1 to {LONGEST_DRAFT}, not {k}.")
    start = next(value for value in budgets[0] if value)
    ks = tuple(range(1, max(LONGEST, k, start) + 1))

    def curve(name: str, title: str, trees: Sequence[tuple[Stage, ...]], at: int) -> Curve:
        rounds = [predicted(tree, world) for tree in trees]
        flat = tuple(round.tokens / (1 + round.drafting) for round in rounds)
        return Curve(name, title, ks, flat, tuple(round.ewif for round in rounds), at)

    cascades = [cascade_stages(drafts, with_first(budgets, x)) for x in ks]
    return (
        curve("speculative", f"Speculative, {draft}, k={k}", [(Stage(draft, x),) for x in ks], k),
        curve("cascade", f"Cascade, K={format_K(K)}", cascades, start),
    )


def what_if_words(curves: Sequence[Curve]) -> str:
    """Where the knobs stand and where each curve is highest."""
    return " ".join(
        f"{curve.title}: predicted {curve.here():.2f}x"
        + (
            ", the best of its curve."
            if curve.here() >= max(curve.wide)
            else f"; the curve is highest at {curve.best} with {max(curve.wide):.2f}x."
        )
        for curve in curves
    )


# ---- the what-if panel's knobs

MOST_DRAFTS = 2
ALPHA, COPIED, COST = 0.8, 0.4, (0.2, 0.08)  # where a knob stands as long as nothing was measured


def pairs(drafts: Sequence[str]) -> tuple[Pair, ...]:
    """Every pair (reviewer, drafter) of a family, the target's first."""
    names = (TARGET, *drafts, COPIES)
    return tuple((reviewer, drafter) for i, reviewer in enumerate(names) for drafter in names[i + 1 :])


def knobs(drafts: Sequence[str], world: World) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """Positions of the alphas, of the drafts' costs and of width, from what was measured or else the usual ones."""
    usual = {pair: COPIED if pair[1] == COPIES else ALPHA for pair in pairs(drafts)}
    alphas = tuple(round(world.alphas.get(pair, usual[pair]), 3) for pair in usual)
    prices = tuple(round(world.costs.get(name, each), 3) for name, each in zip(drafts, COST))
    return alphas, prices, round(world.width, 3)


def world_of(drafts: Sequence[str], alphas: Sequence[float], prices: Sequence[float], width: float) -> World:
    """The world that the knobs say; a copied token costs nothing."""
    return World(dict(zip(pairs(drafts), alphas)), dict(zip(drafts, prices)), width)


def asked_of(traces: Sequence[Trace]) -> tuple[tuple[str, ...], str, int | None, Matrix | None]:
    """What a race was run with: its family's drafts, the speculative lane's draft and k, the cascade's K, where they are."""
    drafts = traces[0].header.drafts if traces else ()
    settings = {trace.header.method: trace.header.settings for trace in reversed(traces)}
    guess = settings.get("speculative", {})
    K = settings.get("cascade", {}).get("K", ())
    fits = len(K) == len(drafts) + 1
    return drafts, guess.get("draft", drafts[0] if drafts else ""), guess.get("k"), K if fits else None


LAWS = """<h3>What the curves assume</h3>
<p>α is the share of a drafter's tokens that its reviewer accepts, c the time of one of its runs in runs of the target.
The model takes each acceptance as independent of all others, a review as one run however long the block is, and all else
(the drafts' bookkeeping, the page) as free. Real reviews cost more the wider they are, and real acceptance comes in
stretches, so a measured speed-up is another one. A speed-up is expected tokens per round over its cost in target runs.</p>
<dl class="glossary">
<dt>speculative</dt><dd><code>(1 − α^(k+1)) / ((1 − α) (1 + c k))</code>: the target reviews k tokens of the draft (Leviathan et al.,
theorem 3.8).</dd>
<dt>vertical cascade</dt><dd><code>(1 − α φ(α)^n) / ((1 − α) (1 + n c₁ + n k c₂))</code>, where
<code>φ(x) = 1 + (x − 1) (1 − (x α′)^(k+1)) / (1 − x α′)</code>: n runs of the draft, each reviewing k tokens of a smaller
one that it accepts with rate α′ (theorem 4.3).</dd>
<dt>horizontal cascade</dt><dd><code>(1 + α₁ + α₁α₂ + … ) / (1 + c₁ + c₂ + …)</code>: every place of the block has the α and the c of
whoever writes it (theorem 4.5).</dd>
<dt>both</dt><dd>the vertical cascade, then copied tokens behind it; for any K the page follows the tree of reviews in the same way.</dd>
</dl>"""
