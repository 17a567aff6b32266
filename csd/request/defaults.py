"""What is used where the visitor leaves something open: presets, tuned values, the adaptive cascade's prior.

The page, the API, links, the command line and the benchmark all start from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from csd.decoding.adaptive.prior import GENERAL, Prior
from csd.decoding.k_matrix import Matrix, example_K, format_K
from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, PromptLookup, Speculative
from csd.models.catalog import FamilySpec
from csd.request.form import Form
from csd.request.tuned import Tuned, find_tuned

SHORT_DRAFT = 4  # tokens per draft where nothing was tuned
LOOKUP = 8  # tokens that prompt lookup copies where nothing was tuned
PAPER_K: dict[int, Matrix] = {1: ((5, 15), (0, 10)), 2: ((5, 19, 29), (0, 1, 11), (0, 0, 10))}
"""The worked examples of the paper, by number of drafts."""


@dataclass(frozen=True)
class Preset:
    """A ready combination: the settings of every method, and the lanes that race."""

    name: str
    draft: str
    k: int
    lookup: int
    K: Matrix
    lenience: float
    lanes: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        """What it sets in the form, by field name."""
        return {
            "lanes": list(self.lanes),
            "draft": self.draft,
            "k": self.k,
            "lookup": self.lookup,
            "K": format_K(self.K),
            "lenience": self.lenience,
        }


@dataclass(frozen=True)
class Defaults:
    """The presets of one family on one device, the first of which is the default, and what was learned of its drafts."""

    drafts: tuple[str, ...]
    presets: tuple[Preset, ...]
    prior: Prior = GENERAL

    @property
    def preset(self) -> Preset:
        return self.presets[0]

    def find_preset(self, name: str) -> Preset:
        """The preset of this name, or the default one."""
        return next((preset for preset in self.presets if preset.name == name), self.preset)

    def form(self, **changes: Any) -> Form:
        """The form as it starts out; `changes` are fields that the visitor has set."""
        return replace(Form(**self.preset.fields()), **changes)

    @property
    def every_lane(self) -> tuple[str, ...]:
        """Every method worth measuring for this family: speculative decoding and K need a draft."""
        with_draft = (Autoregressive, Speculative, PromptLookup, Cascade, AdaptiveCascade)
        without = (Autoregressive, PromptLookup, AdaptiveCascade)
        return tuple(method.name for method in (with_draft if self.drafts else without))


def defaults_for(spec: FamilySpec, device: str = "auto") -> Defaults:
    """The defaults of a family on a device, with what was tuned for it there."""
    return make_defaults(tuple(draft.name for draft in spec.drafts), find_tuned(spec, device))


def make_defaults(drafts: Sequence[str], tuned: Tuned | None = None) -> Defaults:
    """Presets for a family with these drafts, strongest first: adaptive, the best known K, and the paper's K."""
    first = drafts[0] if drafts else ""
    fixed_lanes = (Autoregressive.name, Speculative.name if drafts else PromptLookup.name, Cascade.name)
    if tuned is not None:
        draft, k = tuned.draft or first, tuned.k or SHORT_DRAFT
        chosen = Preset("tuned K", draft, k, tuned.lookup, tuned.K, tuned.lenience, fixed_lanes)
    else:
        chosen = Preset("short drafts", first, SHORT_DRAFT, LOOKUP, example_K(len(drafts)), 1.0, fixed_lanes)
    adaptive = replace(chosen, name="adaptive", lenience=1.0, lanes=(*fixed_lanes[:2], AdaptiveCascade.name))
    paper = [
        replace(chosen, name="paper's K", draft=first, k=5, K=K, lenience=1.0)
        for drafts_, K in PAPER_K.items()
        if drafts_ == len(drafts)
    ]
    return Defaults(tuple(drafts), (adaptive, chosen, *paper), tuned.prior if tuned else GENERAL)
