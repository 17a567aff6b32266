"""The values of the page's fields, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from csd.models import catalog
from csd.request.form import Form, in_order, to_request
from csd.request.request import Request
from csd.web.families import FamilyChoice

CUSTOM = "custom…"  # the family whose models the visitor names


@dataclass(frozen=True)
class FamilyFields:
    """The family: a ready one by its name, or `target` and `others` (the drafts, comma-separated) of a custom one.

    `copies` are the quantised copies of the target among the drafts, keys of `catalog.COPIES`; None: those that the
    family has by itself.
    """

    family: str
    target: str = ""
    others: str = ""
    copies: Sequence[str] | None = None
    dtype: str = "auto"
    device: str = "auto"

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> FamilyFields:
        return cls(**{field.name: values[field.name] for field in fields(cls)})

    def to_choice(self) -> FamilyChoice:
        """Raises FamilyError, a ValueError with a sentence."""
        return FamilyChoice(self._to_spec(), self.device, self.dtype)

    def filled_in(self) -> FamilyFields:
        """The same with the copies that it stands for. Raises FamilyError."""
        return replace(self, copies=list(self._to_spec().copies))

    def _to_spec(self) -> catalog.FamilySpec:
        if self.family == CUSTOM:
            parts = (self.others or "").replace("\n", ",").split(",")
            drafts = [part for part in parts if part.strip()]
            return catalog.custom(self.target or "", [*drafts, *(self.copies or ())], self.dtype)
        spec = catalog.find(self.family)
        return spec if self.copies is None else spec.without_copies().with_copies(*self.copies)


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
