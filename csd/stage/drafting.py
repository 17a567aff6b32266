"""Who drafted in a lane, how much of it was kept, and what it took; in words for the headline."""

from __future__ import annotations

from csd.record import metrics
from csd.record.trace import Trace
from csd.roles import COPIER, roles

DEAR = 0.25  # runs of the big model from which on a run of a draft is a reason
MOSTLY = 0.5  # share of a text above which the speed is owed to copying


def how_copied(trace: Trace) -> str:
    """How much was copied, where that is most of the text: few texts are as fast as such a one. Empty otherwise."""
    copied = metrics.copied(trace)
    return f"a {COPIER} of earlier words wrote {copied:.0%} of the text" if copied > MOSTLY else ""


def dear_draft(trace: Trace) -> str:
    """How long a run of the draft takes, where that is much of one of the big model."""
    called, runs, seconds = roles(trace.header.levels), metrics.forward_passes(trace), metrics.seconds_by_level(trace)
    each = {name: seconds.get(name, 0.0) / count for name, count in runs.items()}
    target = max(trace.header.levels, key=lambda level: level.level).name
    drafts = {name: cost / each[target] for name, cost in each.items() if name != target and each.get(target)}
    draft = max(drafts, key=drafts.__getitem__, default="")
    if not draft or drafts[draft] < DEAR:
        return ""
    return f": a run of the {called[draft]} took {drafts[draft]:.1f} times as long as one of the big model"


def drafted_and_lost(trace: Trace) -> tuple[int, int]:
    """How many drafted tokens the target reviewed, and how many of them it did not accept."""
    drafted = sum(len(step.review.tokens) for step in trace.steps)
    return drafted, drafted - sum(step.review.accepted for step in trace.steps)


def drafting_seconds(trace: Trace) -> float:
    """What the levels below the target took."""
    target = max(trace.header.levels, key=lambda level: level.level).name
    others = (target, metrics.OVERHEAD)
    return sum(spent for name, spent in metrics.seconds_by_level(trace).items() if name not in others)
