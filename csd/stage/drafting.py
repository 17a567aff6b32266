"""Who drafted in a lane, how much of it was kept, and what it took; in words for the headline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from csd import theme
from csd.decoding.maxgram import MAX_GRAM
from csd.record import metrics
from csd.record.trace import Review, Trace
from csd.roles import COPIER, roles

DEAR = 0.25  # runs of the big model from which on a run of a draft is a reason
MOSTLY = 0.5  # share of a text above which the speed is owed to copying


def how_copied(trace: Trace) -> str:
    """How much was copied, where that is most of the text: few texts are as fast as such a one. Empty otherwise."""
    if metrics.copied(trace) <= MOSTLY:
        return ""
    return f"a {COPIER} of earlier words wrote {_percent_copied(trace)}% of the text"


def _percent_copied(trace: Trace) -> int:
    """As in the stage's legend, where the shares of all levels add to 100."""
    levels, shares = trace.header.levels, metrics.shares(trace)
    target = max(level.level for level in levels)
    counts: Counter[str] = Counter()
    for level in levels:
        counts[theme.mark(level.level, target)] += shares.get(level.name, 0)
    marks = list(counts)
    return dict(zip(marks, percentages([counts[one] for one in marks]), strict=True))[theme.mark(0, target)]


def percentages(counts: Sequence[int]) -> list[int]:
    """Shares in whole percent that add to 100: what rounding down leaves goes to the largest remainders. The same as in
    assets/stage/format.js."""
    total = sum(counts)
    if not total:
        return [0 for _ in counts]
    whole = [100 * count // total for count in counts]
    order = sorted(range(len(counts)), key=lambda i: (-(100 * counts[i] % total), -counts[i]))
    for i in order[: 100 - sum(whole)]:
        whole[i] += 1
    return whole


def dear_draft(trace: Trace) -> str:
    """How long a run of the draft takes, where that is much of one of the big model."""
    called, runs, seconds = roles(trace.header.levels), metrics.forward_passes(trace), metrics.seconds_by_level(trace)
    each = {name: seconds.get(name, 0.0) / count for name, count in runs.items()}
    target = max(trace.header.levels, key=lambda level: level.level).name
    drafts = {name: cost / each[target] for name, cost in each.items() if name != target and each.get(target)}
    draft = max(drafts, key=drafts.__getitem__, default="")
    if not draft or drafts[draft] < DEAR:
        return ""
    share = drafts[draft]
    took = f"{share:.0%} as long" if share < 1 else f"{share:.1f} times as long"
    return f": a run of the {called[draft]} took {took} as one of the big model"


def drafted_and_lost(trace: Trace) -> tuple[int, int]:
    """How many drafted tokens the target reviewed, and how many of them it did not accept."""
    drafted = sum(len(step.review.tokens) for step in trace.steps)
    return drafted, drafted - sum(step.review.accepted for step in trace.steps)


def copied_and_kept(trace: Trace) -> tuple[int, int]:
    """How many tokens the copier drafted, and how many of them whoever asked for them accepted."""
    found = [one for step in trace.steps for one in _copied_in(step.review)]
    return sum(drafted for drafted, _ in found), sum(kept for _, kept in found)


def _copied_in(review: Review) -> Iterator[tuple[int, int]]:
    for inner in review.inner:
        if isinstance(inner, Review):
            yield from _copied_in(inner)
        elif inner.by == MAX_GRAM:
            count = len(inner.tokens)
            yield count, max(0, min(count, review.accepted - (inner.at - review.at)))


def drafting_seconds(trace: Trace) -> float:
    """What the levels below the target took."""
    target = max(trace.header.levels, key=lambda level: level.level).name
    others = (target, metrics.OVERHEAD)
    return sum(spent for name, spent in metrics.seconds_by_level(trace).items() if name not in others)


def tell_guessing(own: float, other: float, name: str) -> str:
    """How long drafting took in a lane, where that is less than in the one that is called `name`."""
    (here, there), unit = in_one_unit(own, other)
    return f"guessing took {here} {unit} ({there} {unit} in {name})"


def in_one_unit(first: float, second: float) -> tuple[tuple[str, str], str]:
    """Two times as numbers in a unit, that of the bars: see assets/stage/format.js."""
    if max(first, second) < 1:
        return (f"{1000 * first:.0f}" if first >= 0.0005 else "under 1", f"{1000 * second:.0f}"), "ms"
    return (f"{first:.2f}", f"{second:.2f}"), "s"
