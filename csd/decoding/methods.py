"""Named recipes: each method is a tree of the same two combinators, run by the same loop.

    autoregressive   Vertical(target, Nothing())
    speculative(k)   Vertical(target, Horizontal((Vertical(draft, Nothing()), k)))
    prompt lookup    Vertical(target, MaxGram(k))
    CS Drafting      Vertical(target, cascade([draft1, draft2], MaxGram(k), K))
    adaptive         Vertical(target, Adaptive(drafts and Max-Gram, where they pay))

The vertical cascade alone and the horizontal cascade alone are CS Drafting with a K that has only a diagonal, or only
a first row. Importable without torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from csd.decoding.adaptive import GENERAL, Cost, Prior, adaptive
from csd.decoding.combinators import Horizontal, Session, Vertical, cascade
from csd.decoding.draft import Drafter, Nothing
from csd.decoding.maxgram import Index, MaxGram

if TYPE_CHECKING:
    from csd.decoding.acceptance import Accept

NAMES = ("autoregressive", "speculative", "prompt lookup", "vertical", "horizontal", "cascade", "adaptive")
CASCADES = ("vertical", "horizontal", "cascade")  # by K
LONGEST_DRAFT = 64  # tokens: beyond it no review pays on any device, and caches need the room

Matrix = tuple[tuple[int, ...], ...]


class Refusal(ValueError):
    """A sentence for whoever asked: what was wrong, and what to do."""


@dataclass(frozen=True)
class Method:
    """A recipe by name, with the paper's parameters.

    `k`: tokens per draft (speculative, prompt lookup). `draft`: which draft speculates. `drafts` and `K`: the cascade's
    models, strongest first, and the paper's cumulative K (no K where it adapts, but a `prior`). `lenience`: of inner
    reviewers. `longest`, `earliest`: Max-Gram.
    """

    name: str
    k: int = 0
    draft: str = ""
    drafts: tuple[str, ...] = ()
    K: Matrix = ()
    lenience: float = 1.0
    longest: int = 16
    earliest: bool = False
    prior: Prior = field(default=GENERAL, hash=False)

    @property
    def title(self) -> str:
        """The name with its parameters, short enough for a lane's head."""
        if self.name == "speculative":
            return f"speculative, {self.draft}, k={self.k}"
        if self.name == "prompt lookup":
            return f"prompt lookup, k={self.k}"
        lenience = f", l={self.lenience:g}" if self.lenience != 1 else ""
        if self.name in CASCADES:
            kind = "cascade" if self.name == "cascade" else f"{self.name} cascade"
            return f"{kind}, K={json.dumps(self.K, separators=(',', ':'))}{lenience}"
        if self.name == "adaptive":
            return f"adaptive cascade, {' over '.join((*self.drafts, 'Max-Gram'))}{lenience}"
        return self.name

    @property
    def models(self) -> tuple[str, ...]:
        """The models that it runs, the target last. A draft that K gives no token to is not run."""
        drafts = (self.draft,) if self.name == "speculative" else ()
        if self.name in CASCADES:
            drafts, _ = used(self.drafts, self.K)
        if self.name == "adaptive":
            drafts = self.drafts
        return (*reversed(drafts), "target")

    @property
    def copies(self) -> bool:
        """Whether it uses Max-Gram."""
        return self.name in ("prompt lookup", "adaptive", *CASCADES)


def autoregressive() -> Method:
    return Method("autoregressive")


def speculative(draft: str, k: int) -> Method:
    return Method("speculative", k=k, draft=draft)


def prompt_lookup(k: int) -> Method:
    return Method("prompt lookup", k=k)


def cs_drafting(drafts: tuple[str, ...], K: Matrix, lenience: float = 1.0) -> Method:
    return Method("cascade", drafts=drafts, K=K, lenience=lenience)


def adapting(drafts: tuple[str, ...], prior: Prior = GENERAL, lenience: float = 1.0) -> Method:
    return Method("adaptive", drafts=drafts, prior=prior, lenience=lenience)


def vertical(drafts: tuple[str, ...], ks: tuple[int, ...], lenience: float = 1.0) -> Method:
    """The vertical cascade alone: level i reviews ks[i] tokens of the level below it, the last k is Max-Gram's."""
    n = len(ks)
    K = tuple(tuple(ks[row] if column >= row else 0 for column in range(n)) for row in range(n))
    return Method("vertical", drafts=drafts, K=K, lenience=lenience)


def horizontal(drafts: tuple[str, ...], ks: tuple[int, ...]) -> Method:
    """The horizontal cascade alone: every draft writes by itself, up to position ks[i], the last k is Max-Gram's."""
    n = len(ks)
    return Method("horizontal", drafts=drafts, K=(tuple(ks), *[(0,) * n] * (n - 1)))


def checked(method: Method, drafts: tuple[str, ...]) -> Method:
    """The method if the family with these drafts (strongest first) can run it; raises Refusal with a sentence."""
    have = ", ".join(drafts) or "none"
    if method.name not in NAMES:
        raise Refusal(f"There is no method “{method.name}”. Choose one of: {', '.join(NAMES)}.")
    if method.name == "speculative" and method.draft not in drafts:
        raise Refusal(f"This family has no draft “{method.draft}”. Its drafts are: {have}.")
    if method.name in ("speculative", "prompt lookup") and not _whole(method.k, 1):
        raise Refusal(f"k must be a whole number from 1 to {LONGEST_DRAFT}, not {method.k!r}.")
    number = isinstance(method.lenience, (int, float)) and not isinstance(method.lenience, bool)
    if not (number and 1 <= method.lenience < float("inf")):
        raise Refusal(f"Lenience must be a number of at least 1, not {method.lenience!r}; 1 is strict.")
    if not _whole(method.longest, 1):
        raise Refusal(
            f"Max-Gram's longest match must be a whole number from 1 to {LONGEST_DRAFT}, not {method.longest!r}."
        )
    if method.name in ("adaptive", *CASCADES):
        order = [drafts.index(name) if name in drafts else -1 for name in method.drafts]
        if -1 in order:
            raise Refusal(f"This family has no draft “{method.drafts[order.index(-1)]}”. Its drafts are: {have}.")
        if order != sorted(set(order)):
            raise Refusal(f"The drafts of a cascade go from the strongest to the weakest, each once: {have}.")
    if method.name in CASCADES:
        checked_K(method.K, len(method.drafts))
    return method


def checked_K(K: Matrix, drafts: int) -> Matrix:
    """K if it is the paper's: (drafts + 1) square, upper triangular, cumulative along each row. Raises Refusal."""
    n = drafts + 1
    if (
        not isinstance(K, (tuple, list))
        or len(K) != n
        or any(not isinstance(row, (tuple, list)) or len(row) != n for row in K)
    ):
        rows = "1 row with 1 number" if n == 1 else f"{n} rows of {n} numbers"
        raise Refusal(f"K must have {rows}: {drafts} drafts and Max-Gram. Example: {json.dumps(example_K(drafts))}.")
    for r, row in enumerate(K):
        if not all(_whole(entry, 0) for entry in row):
            raise Refusal(f"K holds whole numbers from 0 to {LONGEST_DRAFT}; row {r + 1} is {list(row)}.")
        if any(row[:r]):
            raise Refusal(f"K is upper triangular: row {r + 1} must begin with {r} zeros, but is {list(row)}.")
        if any(a > b for a, b in zip(row[r:], row[r + 1 :])):
            raise Refusal(f"K is cumulative, each row must not fall from its diagonal on: row {r + 1} is {list(row)}.")
    if K[0][-1] < 1:
        raise Refusal("The first row of K is all zeros, so nothing would be drafted. Use autoregressive for that.")
    return tuple(tuple(row) for row in K)


def used(drafts: tuple[str, ...], K: Matrix) -> tuple[tuple[str, ...], Matrix]:
    """The drafts that K gives tokens to, and K without the rows and columns of the others."""
    reached: set[int] = set()
    for row in range(len(K)):
        if row == 0 or row - 1 in reached:
            reached |= {c for c in range(row, len(K)) if K[row][c] > (K[row][c - 1] if c > row else 0)}
    columns = [c for c in range(len(drafts)) if c in reached]
    rows = [0, *(c + 1 for c in columns)]
    return tuple(drafts[c] for c in columns), tuple(tuple(K[r][c] for c in (*columns, len(drafts))) for r in rows)


def parsed_K(text: str) -> Matrix:
    """K from text such as [[2,6,10],[0,4,8],[0,0,8]]. Raises Refusal where it is no list of lists."""
    try:
        rows = json.loads(text)
        return tuple(tuple(row) for row in rows)
    except (ValueError, TypeError, RecursionError) as error:
        raise Refusal(f"K must look like [[2,6,10],[0,4,8],[0,0,8]]; this could not be read: {text!r}.") from error


def example_K(drafts: int) -> Matrix:
    """A K in the spirit of the paper's settings, for any number of drafts."""
    n = drafts + 1
    rows = [[0] * r + [min(LONGEST_DRAFT, (5 if r == 0 else 1) * (c - r + 1)) for c in range(r, n)] for r in range(n)]
    return tuple((*row[:-1], max([10, *row[:-1]])) for row in rows)


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= LONGEST_DRAFT


def tree(
    method: Method,
    sessions: Mapping[str, Session],
    index: Index,
    bigram: tuple[int, ...] | None,
    strict: Accept,
    inner: Accept,
    costs: Mapping[str, Cost] = MappingProxyType({}),
) -> Vertical:
    """The method's tree over one lane's sessions; `strict` is the target's rule, `inner` that of the levels below.

    `costs`, seconds of each model's runs by width, are needed where it adapts.
    """
    if method.name == "adaptive":
        levels = [sessions[name] for name in ("target", *method.drafts)]
        return adaptive(levels, costs, index, bigram, method.prior, strict, inner)
    return Vertical(sessions["target"], _drafter(method, sessions, index, bigram, inner), strict)


def _drafter(method, sessions, index, bigram, accept) -> Drafter:
    if method.name == "speculative":
        return Horizontal(((Vertical(sessions[method.draft], Nothing(), accept), method.k),))
    if method.name == "prompt lookup":
        return MaxGram(index, method.k, bigram)
    if method.name in CASCADES:
        leaf = MaxGram(index, LONGEST_DRAFT, bigram)
        drafts, K = used(method.drafts, method.K)
        return cascade([sessions[name] for name in drafts], leaf, K, accept)
    return Nothing()
