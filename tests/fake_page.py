"""A page without Gradio: its context over families and races that a test controls."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from csd.models import catalog
from csd.models.spec import FamilySpec
from csd.record.recording import bundled_recordings
from csd.record.trace import Trace
from csd.run import LaneFinished, RaceStarted
from csd.web.context import PageContext, make_context
from csd.web.fields import PageFields
from csd.web.loads import FamilyChoice
from csd.web.race_events import run_race
from csd.web.studio import Studio
from csd.web.updates import RaceUpdate

HOME = FamilyChoice(catalog.find("embedded"), "cpu")
RECORDED: tuple[Trace, ...] = next(iter(bundled_recordings().values())).traces


def load_family(spec: FamilySpec, *_: Any) -> SimpleNamespace:
    """A family whose tokens are the words of a prompt."""
    runs_on = {"device": "cpu", "placed": "", "dtype": "torch.float32", "notes": ("Noted.",)}
    reads = {"context": 1024, "encode": str.split, "unspelled": lambda text: ()}
    return SimpleNamespace(spec=spec, draft_names=spec.draft_names, **runs_on, **reads)


def run_recorded(family: Any, request: Any, stopped: Any):
    """A race in no time: the lanes of a recorded one."""
    yield RaceStarted(tuple(trace.header for trace in RECORDED), {**RECORDED[0].pieces})
    for lane, trace in enumerate(RECORDED):
        yield LaneFinished(lane, trace)


def run_stopped(family: Any, request: Any, stopped: Any):
    for lane, trace in enumerate(RECORDED):
        yield LaneFinished(lane, replace(trace, end="stopped"))


def context(run: Any = run_recorded, load: Any = load_family, behind: tuple[FamilyChoice, ...] = ()) -> PageContext:
    return make_context(Studio(HOME, load, run, behind))


def fields(start: PageFields, **changes: Any) -> PageFields:
    return PageFields.from_values({**start.values(), **changes})


def race(page: PageContext, visitor: str = "v", **changes: Any) -> list[RaceUpdate]:
    """A race of what the form holds, with these changes."""
    return list(run_race(page, visitor, fields(page.start, **changes)))
