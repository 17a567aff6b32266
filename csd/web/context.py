"""What every event of the page works with."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from csd.decoding.methods import METHODS
from csd.models import catalog
from csd.models.memory import BYTES
from csd.models.spec import COPIES
from csd.request import link
from csd.request.defaults import Defaults
from csd.request.form import check_lanes, to_fields
from csd.request.request import RULES, Request
from csd.web import examples
from csd.web.downloads import Downloads
from csd.web.examples import first_example
from csd.web.fields import CUSTOM, FamilyFields, PageFields
from csd.web.linked_races import LinkedRaces
from csd.web.loads import FamilyChoice
from csd.web.races import FinishedRace, first_recorded, recorded_races
from csd.web.studio import Studio

DEVICES = ("auto", "cpu", "cuda")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PageContext:
    """`recorded` are the races that come with the project, by id. `landing` is the one
    that the page begins with, `start` holds the initial values of the fields, `options` the choices of those that have
    some, by name. `linked` are the races behind links, and `faults` sentences on recorded races that could not be
    read."""

    studio: Studio
    recorded: Mapping[str, FinishedRace]
    downloads: Downloads
    start: PageFields
    landing: FinishedRace | None
    options: Mapping[str, tuple[str, ...]]
    linked: LinkedRaces
    faults: tuple[str, ...] = ()


def make_context(studio: Studio, links: Path | None = None) -> PageContext:
    """`links` is the folder that keeps the races of links; without it they go with the page."""
    home = studio.home
    allowed = studio.deployment.families
    options = {
        "family": allowed or (*(spec.name for spec in catalog.READY), CUSTOM),
        "dtype": (home.dtype,) if allowed else ("auto", *BYTES),
        "device": (home.device,) if allowed else tuple(dict.fromkeys((home.device, *DEVICES))),
        "rule": RULES,
        "lanes": tuple(METHODS),
        "copies": tuple(COPIES),
    }
    faults: list[str] = []
    recorded = recorded_races(faults.append)
    for fault in faults:
        log.warning(fault)
    linked = LinkedRaces(studio.deployment.max_linked, links, studio.deployment.is_public)
    own = first_recorded(recorded, home.spec.name)
    landing = own or next(iter(recorded.values()), None)
    start = fields_of(home, own, studio.deployment.lanes)
    return PageContext(studio, recorded, Downloads(), start, landing, options, linked, tuple(faults))


def fields_of(choice: FamilyChoice, race: FinishedRace | None = None, lanes: Sequence[str] = ()) -> PageFields:
    """The defaults of a ready family, with the settings of a race, or else with its first example; and with `lanes`, if
    there are any that the family can run."""
    example = first_example(choice.spec)
    settings = {name: getattr(example, name) for name in examples.FIELDS}
    if race is not None:
        settings = settings_of(race, choice.defaults) or settings
    with suppress(ValueError):  # the family's own lanes stay
        check_lanes(lanes, choice.defaults)
        settings["lanes"] = list(lanes)
    family = FamilyFields(choice.spec.name, copies=list(choice.spec.copies), dtype=choice.dtype, device=choice.device)
    return PageFields(choice.defaults.form(**settings), family)


def settings_of(race: FinishedRace, defaults: Defaults) -> dict[str, Any]:
    """The fields of the form that run a race again. Where a family with these defaults cannot run its lanes, only those
    that an example sets; empty where the race does not have even these."""
    try:
        request = Request.from_traces(race.traces)
        settings = to_fields(request)
    except ValueError:
        return {}
    kept, faults = link.check_values(settings, defaults)
    try:
        for method in request.methods:
            method.check(defaults.drafts)
    except ValueError as error:
        faults.append(str(error))
    return {name: kept[name] for name in examples.FIELDS if name in kept} if faults else kept
