"""Races over a toy family, by `csd.run`."""

from __future__ import annotations

from toy import DRAFTS, family

from csd.decoding.methods import (
    Autoregressive,
    Cascade,
    PromptLookup,
    Speculative,
)
from csd.record.trace import Trace
from csd.request.request import Request
from csd.run import LaneFinished

METHODS = (
    Autoregressive(),
    Speculative("draft-3", 4),
    PromptLookup(6),
    Cascade(DRAFTS[:2], ((2, 5, 8), (0, 2, 4), (0, 0, 6)), lenience=3.0),
)
PLAIN = Request("abcabd", METHODS, max_new=30)


def toy(**options):
    return family(7, seed=3, noises=(0.3, 0.6), **options)


def ended(events) -> list[Trace]:
    found = [event for event in events if isinstance(event, LaneFinished)]
    assert sorted(event.lane for event in found) == list(range(len(found)))
    return [event.trace for event in sorted(found, key=lambda event: event.lane)]
