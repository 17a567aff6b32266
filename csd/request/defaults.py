"""The settings that are used unless the visitor chooses others: presets, tuned values, the adaptive cascade's prior.

The page, the API, links, the command line and the benchmark all start from here.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from csd.decoding.adaptive.prior import GENERAL, Prior
from csd.decoding.k_matrix import Matrix, example_K, format_K
from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, PromptLookup, Speculative
from csd.models.memory import MAX_CONTEXT
from csd.models.spec import FamilySpec, Published
from csd.request.form import Form
from csd.request.tuned import Tuned, find_tuned

log = logging.getLogger(__name__)

SHORT_DRAFT = 4  # tokens per draft where nothing was tuned
LOOKUP = 8  # tokens that prompt lookup copies where nothing was tuned
PAPER_K: dict[int, Matrix] = {1: ((5, 15), (0, 10)), 2: ((5, 19, 29), (0, 1, 11), (0, 0, 10))}
"""The worked examples of the paper, by number of drafts."""


@dataclass(frozen=True)
class Preset:
    """A named combination of lanes and the settings of their methods."""

    name: str
    draft: str
    k: int
    lookup: int
    K: Matrix
    lenience: float
    lanes: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        """The fields of the form that it sets, by name."""
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
    """For one family on one device: its drafts, its presets (the first is the default), the prior of its drafts,
    sentences on tuning records that are damaged, and the tokens that its target reads at most."""

    drafts: tuple[str, ...]
    presets: tuple[Preset, ...]
    prior: Prior = GENERAL
    faults: tuple[str, ...] = ()
    context: int = MAX_CONTEXT

    @property
    def preset(self) -> Preset:
        return self.presets[0]

    def find_preset(self, name: str) -> Preset:
        """The preset of this name, or the default one."""
        return next((preset for preset in self.presets if preset.name == name), self.preset)

    def form(self, **changes: Any) -> Form:
        """The form with the default preset; `changes` are fields that the visitor has set."""
        return replace(Form(**self.preset.fields()), **changes)

    @property
    def every_lane(self) -> tuple[str, ...]:
        """Every method worth measuring for this family; without drafts, speculative decoding and K are left out."""
        with_draft = (Autoregressive, Speculative, PromptLookup, Cascade, AdaptiveCascade)
        without = (Autoregressive, PromptLookup, AdaptiveCascade)
        return tuple(method.name for method in (with_draft if self.drafts else without))


def defaults_for(spec: FamilySpec, device: str = "auto") -> Defaults:
    """The defaults of a family on a device, from its tuning record there if it has one."""
    faults: list[str] = []
    tuned = find_tuned(spec, device, faults.append)
    for fault in faults:
        _say_once(fault)
    context = min(spec.target.context or MAX_CONTEXT, MAX_CONTEXT)
    return replace(make_defaults(spec.draft_names, tuned, spec.published), faults=tuple(faults), context=context)


@cache
def _say_once(fault: str) -> None:
    log.warning(fault)


def make_defaults(drafts: Sequence[str], tuned: Tuned | None = None, published: Sequence[Published] = ()) -> Defaults:
    """Presets for a family with these drafts, strongest first.

    The paper's cascade comes first where a plan for drafts was tuned, otherwise the adaptive one, which needs none. The
    published K follow.
    """
    strongest = drafts[0] if drafts else ""
    baselines = (Autoregressive.name, Speculative.name if drafts else PromptLookup.name)
    fixed = Preset(
        name="short drafts",
        draft=strongest,
        k=SHORT_DRAFT,
        lookup=LOOKUP,
        K=example_K(len(drafts)),
        lenience=1.0,
        lanes=(*baselines, Cascade.name),
    )
    if tuned is not None:
        fixed = replace(
            fixed,
            name="tuned K",
            draft=tuned.draft or strongest,
            k=tuned.k or SHORT_DRAFT,
            lookup=tuned.lookup,
            K=tuned.K,
            lenience=tuned.lenience,
        )
    adaptive = replace(fixed, name="adaptive", lenience=1.0, lanes=(*baselines, AdaptiveCascade.name))
    presets = [fixed, adaptive] if tuned is not None and drafts else [adaptive, fixed]
    for one in published_settings(len(drafts), published):
        presets.append(replace(fixed, name=one.name, draft=strongest, k=5, K=one.K, lenience=one.lenience))
    return Defaults(tuple(drafts), tuple(presets), tuned.prior if tuned else GENERAL)


def published_settings(count: int, published: Sequence[Published] = ()) -> tuple[Published, ...]:
    """What was published for a family with `count` drafts, otherwise the paper's example for so many, if it has one."""
    own = tuple(one for one in published if len(one.K) == count + 1)
    return own or tuple(Published("paper's K", K, 1.0) for drafts, K in PAPER_K.items() if drafts == count)
