"""What every event of the page works with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from csd.decoding.methods import METHODS
from csd.models import catalog
from csd.request.request import RULES
from csd.web.downloads import Downloads
from csd.web.examples import first_example
from csd.web.families import FamilyChoice
from csd.web.fields import CUSTOM, FamilyFields, PageFields
from csd.web.races import FinishedRace, recorded_races
from csd.web.studio import Studio

DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class PageContext:
    """`recorded` are the races that come with the project, by id. `start` holds the initial values of the fields,
    `options` the choices of those that have some, by name."""

    studio: Studio
    recorded: Mapping[str, FinishedRace]
    downloads: Downloads
    start: PageFields
    options: Mapping[str, tuple[str, ...]]


def make_context(studio: Studio) -> PageContext:
    home = studio.home
    options = {
        "family": (*(spec.name for spec in catalog.READY), CUSTOM),
        "dtype": ("auto", *catalog.BYTES),
        "device": tuple(dict.fromkeys((home.device, *DEVICES))),
        "rule": RULES,
        "lanes": tuple(METHODS),
        "copies": tuple(catalog.COPIES),
    }
    return PageContext(studio, recorded_races(), Downloads(), start_fields(studio), options)


def start_fields(studio: Studio) -> PageFields:
    """What the form starts with: the home family."""
    return fields_of(studio.home)


def fields_of(choice: FamilyChoice) -> PageFields:
    """The defaults of a ready family, with the first example's prompt."""
    example = first_example(choice.spec)
    form = choice.defaults.form(
        prompt=example.prompt, temperature=example.temperature, seed=example.seed, max_new=example.max_new
    )
    family = FamilyFields(choice.spec.name, copies=list(choice.spec.copies), dtype=choice.dtype, device=choice.device)
    return PageFields(form, family)
