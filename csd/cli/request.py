"""A request from command-line options; whatever they leave open comes from the family's defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from csd.decoding.methods import METHODS, Cascade
from csd.models.memory import LANES
from csd.models.spec import FamilySpec
from csd.request.defaults import Defaults, defaults_for
from csd.request.form import to_request
from csd.request.request import Request


def make_race_request(spec: FamilySpec, device: str, lanes: Sequence[str] | None, given: dict[str, Any]) -> Request:
    """The request of a race; `given` are the form fields that were set. Raises Refusal."""
    defaults = defaults_for(spec, device)
    lanes = lanes or (_lanes_with_K(defaults) if given.get("K") else defaults.preset.lanes)
    return to_request(defaults.form(**given, lanes=tuple(lanes)), defaults, least=1, most=LANES)


def make_bench_request(spec: FamilySpec, device: str, lanes: Sequence[str] | None, given: dict[str, Any]) -> Request:
    """The request that holds the methods of a benchmark: all methods may run, by default every one worth measuring.

    Raises Refusal.
    """
    defaults = defaults_for(spec, device)
    return to_request(
        defaults.form(**given, lanes=tuple(lanes or defaults.every_lane)), defaults, least=1, most=len(METHODS)
    )


def _lanes_with_K(defaults: Defaults) -> tuple[str, ...]:
    """The lanes of the first preset with the cascade that K belongs to."""
    return next(preset.lanes for preset in defaults.presets if Cascade.name in preset.lanes)
