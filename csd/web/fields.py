"""The values of the page's fields, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from csd.models import catalog
from csd.request.form import Form, in_order, to_request
from csd.request.request import Request
from csd.web.families import FamilyChoice

CUSTOM = "custom…"  # the family whose models the visitor names


@dataclass(frozen=True)
class FamilyFields:
    """The family: a ready one by its name, or `target` and `others` (the drafts, comma-separated) of a custom one."""

    family: str
    target: str = ""
    others: str = ""
    dtype: str = "auto"
    device: str = "auto"

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> FamilyFields:
        return cls(**{field.name: values[field.name] for field in fields(cls)})

    def to_choice(self) -> FamilyChoice:
        """Raises FamilyError, a ValueError with a sentence."""
        if self.family != CUSTOM:
            return FamilyChoice(catalog.find(self.family), self.device, self.dtype)
        parts = (self.others or "").replace("\n", ",").split(",")
        drafts = [part for part in parts if part.strip()]
        return FamilyChoice(catalog.custom(self.target or "", drafts, self.dtype), self.device, self.dtype)


@dataclass(frozen=True)
class PageFields:
    """The whole form: what to run, and on which family."""

    form: Form
    family: FamilyFields

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> PageFields:
        form = Form(**{field.name: values[field.name] for field in fields(Form)})
        return cls(form, FamilyFields.from_values(values))

    def values(self) -> dict[str, Any]:
        return {**asdict(self.form), **asdict(self.family)}

    def to_request(self) -> tuple[FamilyChoice, Request]:
        """Raises ValueError with a sentence for the visitor."""
        choice = self.family.to_choice()
        form = replace(self.form, lanes=in_order(self.form.lanes))
        return choice, to_request(form, choice.defaults)
