"""The values of the page's fields, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from csd.decoding.k_matrix import Matrix, check_K, parse_K
from csd.decoding.methods import AdaptiveCascade, Cascade, find_method
from csd.models import catalog
from csd.models.spec import COPIES, FamilyError, FamilySpec, custom, split_names
from csd.ranges import quote
from csd.request.form import Form, in_order, to_request
from csd.request.request import Request
from csd.theory.parts import PARTS, lanes_of_parts
from csd.web.examples import is_brought
from csd.web.loads import FamilyChoice
from csd.web.preset_names import preset_of

CUSTOM = "custom…"  # the family whose models the visitor names


@dataclass(frozen=True)
class FamilyFields:
    """The family: a ready one by its name, or `target` and `others` (the drafts, comma-separated) of a custom one.

    `copies` are the quantised copies of the target among the drafts, keys of `COPIES`; None: those that the
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

    def _to_spec(self) -> FamilySpec:
        copies = () if self.copies is None else self.copies
        if not isinstance(copies, (list, tuple)) or not all(copy in list(COPIES) for copy in copies):
            raise FamilyError(f"The copies must be a list of {' or '.join(COPIES)}, not {quote(copies)}.")
        if self.family == CUSTOM:
            drafts = split_names(self.others or "")
            return custom(self.target or "", [*drafts, *(self.copies or ())], self.dtype)
        spec = catalog.find(self.family)
        return spec if self.copies is None else spec.without_copies().with_copies(*self.copies)


@dataclass(frozen=True)
class PageFields:
    """The whole form: what to run, and on which family. `preset` is the name of the preset that was chosen last."""

    form: Form
    family: FamilyFields
    preset: str = ""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> PageFields:
        form = Form(**{field.name: values[field.name] for field in fields(Form)})
        return cls(form, FamilyFields.from_values(values), values.get("preset", ""))

    def values(self) -> dict[str, Any]:
        return {**asdict(self.form), **asdict(self.family)}

    def to_request(self) -> tuple[FamilyChoice, Request]:
        """Raises ValueError with a sentence for the visitor."""
        choice = self.family.to_choice()
        form = replace(self.form, lanes=in_order(self.lanes))
        return choice, to_request(form, choice.defaults, strict=False)

    @property
    def lanes(self) -> list[str]:
        """The lanes that race. Where K was edited and no lane uses it, the cascade, which follows K, takes the place of
        the adaptive one, which does not."""
        lanes = list(self.form.lanes)
        if not self.has_edited_K or any("K" in find_method(lane).uses for lane in lanes):
            return lanes
        return [Cascade.name if lane == AdaptiveCascade.name else lane for lane in lanes]

    @property
    def parts(self) -> list[str]:
        """The lanes that race the parts of K; all of them where K cannot be read, which the race then says."""
        with suppress(ValueError):
            return list(lanes_of_parts(self.family.to_choice().spec.draft_names, self._checked_K()))
        return list(PARTS)

    @property
    def has_edited_K(self) -> bool:
        """Whether K is another matrix than the preset's and those of the examples, and one that can run."""
        with suppress(ValueError):  # nothing can run then; `to_request` says why
            choice = self.family.to_choice()
            preset = choice.defaults.find_preset(preset_of(self.preset))
            edited = self._checked_K() != preset.K and not is_brought(choice.spec, "K", self.form.K)
            return bool(self.form.K) and edited
        return False

    @property
    def leaves_out_K(self) -> bool:
        """Whether K is wrong, and no lane uses it."""
        try:
            self._checked_K()
        except ValueError:
            return bool(self.form.K) and not any("K" in find_method(lane).uses for lane in self.form.lanes)
        return False

    def _checked_K(self) -> Matrix:
        """Raises ValueError for a K that the family cannot run."""
        return check_K(parse_K(str(self.form.K)), len(self.family.to_choice().spec.draft_names))
