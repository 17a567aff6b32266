"""Families for a GPU that is lent to one race at a time, as on ZeroGPU: placed before, measured when it is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from csd.models.architecture import start_token
from csd.models.backends.interface import Backend
from csd.models.backends.prepare import Prepared
from csd.models.family import Family
from csd.models.loading import load_family
from csd.models.messages import Progress, ignore
from csd.models.spec import FamilySpec

NOTE = "It runs on a part of a shared GPU and without CUDA graphs, so its timings are indicative."


def place_family(spec: FamilySpec, device: str, progress: Progress = ignore) -> Family:
    """Load a family in bfloat16 and place it on a device on which nothing may run yet. Its `costs` are empty.

    Call it on the main thread, before the page is launched. Quantised copies are left out: making them would run on
    the device. Raises FamilyError.
    """

    def place(
        models: dict[str, Any], contexts: Mapping[str, int], _: str, progress: Progress, copies: Iterable[str]
    ) -> Prepared:
        backends = {name: _eager(models.pop(name).to(device)) for name in tuple(models)}
        return Prepared(backends, {}, (NOTE,))

    family = load_family(spec.without_copies(), "cpu", "bfloat16", progress, place)
    return replace(family, device=device)


def measured(family: Family) -> Family:
    """The placed family with the costs of its passes. Call it where the device may be used; it takes some seconds."""
    from csd.models.backends.costs import measure_costs

    return replace(family, costs=measure_costs(family.backends, family.contexts))


def _eager(model: Any) -> Backend:
    from csd.models.backends.eager import EagerBackend
    from csd.models.backends.encoder_decoder import take_apart

    start = start_token(model)
    return EagerBackend(model) if start is None else take_apart(model, start)
