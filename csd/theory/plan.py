"""The method and the plan of a lane, restored from its header and bounded, because a file may claim anything."""

from __future__ import annotations

from csd.decoding.methods import Method, Refusal, find_method, restore_method
from csd.decoding.stages import Stage
from csd.ranges import MOST_DRAFTS
from csd.record.trace import Trace


def method_of(trace: Trace) -> Method | None:
    """The method of a lane; None where the header does not describe one that this family could have run.

    `Method.check` keeps every length within `csd.ranges.LONGEST_DRAFT`.
    """
    if len(trace.header.drafts) > MOST_DRAFTS:
        return None
    try:
        method = restore_method(trace.header.method, trace.header.settings)
        method.check(trace.header.drafts)
    except Refusal:
        return None
    return method


def plan_of(trace: Trace) -> tuple[Stage, ...] | None:
    """The plan of a lane's draft block; None where it is not fixed (adaptive cascade) or not known."""
    method = method_of(trace)
    return None if method is None else method.stages()


def formula_of(trace: Trace) -> str:
    """The method's formula for the speed-up."""
    try:
        return find_method(trace.header.method).formula
    except Refusal:
        return "not known"
