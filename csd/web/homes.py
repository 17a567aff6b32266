"""The families that the page loads by itself."""

from __future__ import annotations

from collections.abc import Callable

from csd.models import catalog
from csd.models.spec import FamilySpec
from csd.web.loads import FamilyChoice

FIRST, PREFERRED = "embedded", "smollm2"
VARIABLE = "CSD_FAMILY"  # names the only family to load


def home_families(named: str, device: str, is_present: Callable[[FamilySpec], bool]) -> tuple[FamilyChoice, ...]:
    """The family that is named; if none is, the embedded one and behind it SmolLM2, where `is_present` finds it.

    Raises FamilyError for an unknown name.
    """
    names = [named] if named else [FIRST, *(spec.name for spec in catalog.READY if spec.name == PREFERRED)]
    specs = [catalog.find(name) for name in names]
    return tuple(FamilyChoice(spec, device) for spec in specs if spec is specs[0] or is_present(spec))
