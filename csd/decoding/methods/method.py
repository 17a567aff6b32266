"""What a decoding method is: a small frozen dataclass that checks its settings and builds its tree of drafters.

To add one, write a file beside this one, and import and name the class in `csd.decoding.methods` (METHODS).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from csd.decoding.adaptive.prior import GENERAL, Prior
from csd.decoding.combinators import Vertical
from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import Matrix
from csd.decoding.maxgram import MaxGram
from csd.decoding.session import Session
from csd.decoding.stages import Stage
from csd.decoding.suffix_index import SuffixIndex
from csd.ranges import LONGEST_DRAFT, shorten

if TYPE_CHECKING:
    from csd.decoding.acceptance import AcceptanceRule

TARGET = "target"


def _no_tokenizer(text: str) -> Sequence[int]:
    raise Refusal("This lane has no tokenizer.")


@dataclass(frozen=True)
class LaneParts:
    """What a lane offers to the method that runs in it.

    A session for each of its models, the target's rule of acceptance, Max-Gram's index and table, and `encode`, which
    gives the ids of a plain piece of text.
    """

    sessions: Mapping[str, Session]
    rule: AcceptanceRule
    index: SuffixIndex
    bigram: Sequence[int] | None = None
    encode: Callable[[str], Sequence[int]] = _no_tokenizer

    @property
    def target(self) -> Session:
        return self.sessions[TARGET]

    def max_gram(self, k: int = LONGEST_DRAFT) -> MaxGram:
        return MaxGram(self.index, k, self.bigram)


@dataclass(frozen=True)
class Knobs:
    """Everything that a form, a link or the command line can set; each method takes what it needs.

    `drafts` are the family's, strongest first; `draft` and `k` belong to speculative decoding, `lookup` to prompt
    lookup, `K` (cumulative) and `lenience` to the cascades, `prior` to the adaptive one.
    """

    drafts: tuple[str, ...] = ()
    draft: str = ""
    k: int = 4
    lookup: int = 8
    K: Matrix = ()
    lenience: float = 1.0
    prior: Prior = GENERAL


class Method(ABC):
    """A way to decode. Its dataclass fields are its settings, stored in the header of every trace.

    `name` identifies the method everywhere and is what people read; `formula` is its predicted speed-up; `leaves` are
    the statistical authors whose tokens it may write (Max-Gram's two, if it uses that), shown as level 0; `uses` are
    the settings of a form that change it.
    """

    name: ClassVar[str]
    formula: ClassVar[str] = "not known"
    leaves: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_knobs(cls, knobs: Knobs) -> Method:
        """The method with the settings of a form."""
        return cls()

    def to_knobs(self) -> dict[str, Any]:
        """The fields of `Knobs` named in `uses` that make this method again."""
        return {name: getattr(self, name) for name in self.uses}

    @property
    def label(self) -> str:
        """Its settings in a few words, for the head of a lane; empty where there is nothing to set."""
        return ""

    def models(self) -> tuple[str, ...]:
        """The neural models that it runs, weakest draft first, the target last."""
        return (TARGET,)

    def check(self, drafts: Sequence[str]) -> None:  # noqa: B027  a method without settings has nothing to check
        """Raise Refusal where a family with these drafts, strongest first, cannot run it."""

    def stages(self) -> tuple[Stage, ...] | None:
        """The plan of its draft block; None where the plan is not fixed."""
        return None

    @abstractmethod
    def build(self, lane: LaneParts) -> Vertical:
        """Its tree over one lane: the target's review of what its drafter proposes."""


def title(method: Method) -> str:
    """The name with its settings, such as "speculative, small, k=4"."""
    return f"{method.name}, {method.label}" if method.label else method.name


def check_drafts(names: Sequence[str], drafts: Sequence[str]) -> None:
    """Refuse names that are not the family's drafts, or not in their order from the strongest to the weakest."""
    known = ", ".join(drafts) or "none"
    for name in names:
        if name not in drafts:
            raise Refusal(f"This family has no draft “{shorten(name)}”. Its drafts are: {known}.")
    order = [list(drafts).index(name) for name in names]
    if order != sorted(set(order)):
        raise Refusal(f"The drafts of a cascade go from the strongest to the weakest, each once: {known}.")


def lenience_label(lenience: float) -> str:
    return f", l={lenience:g}" if lenience != 1 else ""
