"""The three rules of acceptance, pure: a draft and the reviewer's logits in, a verdict out.

Logits are [n + 1, V] for a draft of n tokens: row j judges token j, the last row gives the bonus.
p is the reviewer's law, q the draft's. Lenience l >= 1 is for inner reviewers; the target is always strict.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from csd.decoding.draft import Draft


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """How many tokens were accepted, and the reviewer's own token after them.

    `law` has one row for each emitted token, [accepted + 1, V]: the law that it was emitted from. None: point masses.
    `margin` is the distance of the two best scores there; None where the filter leaves one token only.
    """

    accepted: int
    token: int
    margin: float | None
    law: Tensor | None = None
    p: tuple[float, ...] = ()
    q: tuple[float, ...] = ()


class Accept(Protocol):
    """A rule: called with the draft, the reviewer's logits and the position that the draft starts at."""

    lenience: float

    def __call__(self, draft: Draft, logits: Tensor, at: int) -> Verdict: ...


@dataclass(frozen=True)
class Filter:
    """Temperature, top-k and top-p, applied in this order as transformers does; 0 and 1.0 switch the last two off."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __call__(self, logits: Tensor) -> Tensor:
        """Scores whose softmax is the filtered law; a token that is filtered out has -inf."""
        scores = (logits if logits.dtype == torch.float64 else logits.float()) / self.temperature
        if 0 < self.top_k < scores.shape[-1]:
            # All equals of the last one stay: which of them `topk` takes is not defined.
            last = scores.topk(self.top_k, dim=-1).values[..., -1:]
            scores = scores.masked_fill(scores < last, -math.inf)
        if self.top_p < 1:
            ordered = scores.sort(dim=-1, descending=True, stable=True)
            before = ordered.values.softmax(-1).cumsum(-1).roll(1, -1)
            before[..., 0] = 0
            values = ordered.values.masked_fill(before >= self.top_p, -math.inf)
            scores = torch.empty_like(scores).scatter_(-1, ordered.indices, values)
        return scores


class Noise:
    """Gumbel noise fixed by (seed, position): the same at every level of a tree and in every lane.

    It comes from a counter, never from how often a generator was called. Rows are kept for the positions under review,
    so that a lane pays for each position once.
    """

    def __init__(self, seed: int, vocab: int, device: str | torch.device = "cpu", keep: int = 256):
        self._seed, self._vocab, self._keep = seed, vocab, keep
        self._generator = torch.Generator(device=device)
        self._rows: dict[int, Tensor] = {}

    def rows(self, at: int, count: int) -> Tensor:
        """Noise for positions at .. at + count - 1: [count, V]."""
        if len(self._rows) > self._keep:
            self._rows = {position: row for position, row in self._rows.items() if position >= at}
        return torch.stack([self._row(position) for position in range(at, at + count)])

    def _row(self, position: int) -> Tensor:
        if position not in self._rows:
            self._generator.manual_seed(_mixed(self._seed, position))
            draw = torch.empty(self._vocab, dtype=torch.float64, device=self._generator.device)
            draw.exponential_(generator=self._generator).clamp_(min=2.0**-60)
            self._rows[position] = draw.log_().neg_()
        return self._rows[position]


def _mixed(seed: int, position: int) -> int:
    """SplitMix64 of the pair, so that neighbouring seeds and positions give unrelated generators."""
    z = (seed * 0x9E3779B97F4A7C15 + position * 0xD1B54A32D192ED03 + 0x632BE59BD9B4E019) & (2**64 - 1)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return (z ^ (z >> 31)) >> 1


class Dice:
    """The randomness of the rule Rejection, fresh at every use."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def accept(self, chance: float) -> bool:
        return self._random.random() < chance

    def draw(self, law: Tensor) -> int:
        """A token from a law that need not be normalised; one of probability 0 never comes."""
        heap = law.double().cumsum(-1)
        point = torch.tensor(self._random.random(), dtype=torch.float64, device=law.device) * heap[-1]
        return int(torch.searchsorted(heap, point, right=True).clamp(max=int(law.nonzero()[-1])))


def _margin(row: Tensor) -> float | None:
    """The distance of the two best scores; None where only one is left."""
    return _gap(*row.topk(2).values.tolist())


def _gap(best: float, second: float) -> float | None:
    return best - second if second > -math.inf else None


def _near_by(scores: Tensor) -> tuple[list[int], Callable[[int], float | None]]:
    """The first argmax of each row, and what gives a row's margin when asked; numpy is faster at both than torch."""
    if scores.dtype not in (torch.float32, torch.float64):  # numpy has no bfloat16
        return scores.argmax(-1).tolist(), lambda row: _margin(scores[row])
    rows = scores.numpy()
    firsts = rows.argmax(-1).tolist()

    def margin(row: int) -> float | None:
        first, own = firsts[row], rows[row]
        second = max(own[:first].max(initial=-math.inf), own[first + 1 :].max(initial=-math.inf))
        return _gap(float(own[first]), float(second))

    return firsts, margin


def _far_off(scores: Tensor) -> tuple[list[int], Callable[[int], float | None]]:
    """The same of scores on a GPU, fetched at once: the host waits a single time."""
    rows = torch.cat([scores.argmax(-1, keepdim=True).double(), scores.topk(2).values.double()], -1).tolist()
    return [int(first) for first, _, _ in rows], lambda row: _gap(*rows[row][1:])


def _by_score(draft: Draft, scores: Tensor, lenience: float) -> Verdict:
    """Accept a token that is the first argmax or, for l > 1, whose score is within log(l) of the best."""
    picks, margin = _near_by(scores) if scores.device.type == "cpu" else _far_off(scores)
    n = len(draft)
    right = [pick == token for pick, token in zip(picks, draft.tokens)]
    if lenience > 1 and n:
        drafted = torch.tensor(draft.tokens, device=scores.device)
        near = scores[:n].gather(-1, drafted[:, None])[:, 0] >= scores[:n].amax(-1) - math.log(lenience)
        right = [one or other for one, other in zip(right, near.tolist())]
    accepted = right.index(False) if False in right else n
    return Verdict(accepted, picks[accepted], margin(accepted))


@dataclass(frozen=True)
class Greedy:
    """Take the reviewer's argmax (first index on ties): the output is autoregressive decoding's, for every tree."""

    lenience: float = 1.0

    def __call__(self, draft: Draft, logits: Tensor, at: int) -> Verdict:
        return _by_score(draft, logits, self.lenience)


@dataclass(frozen=True)
class Coupled:
    """Everyone takes argmax(log p + g) with the same Gumbel noise g: an exact sample, and the same text for every tree.

    Whatever the tree, the text is that of the target sampling alone with this noise, so it is checked like a greedy one.
    """

    filter: Filter
    noise: Noise
    lenience: float = 1.0

    def __call__(self, draft: Draft, logits: Tensor, at: int) -> Verdict:
        return _by_score(draft, self.filter(logits) + self.noise.rows(at, len(draft) + 1), self.lenience)


def emitted(p: Tensor, q: Tensor, lenience: float) -> Tensor:
    """The law of what a lenient reviewer emits for a token drawn from q: E = min(q, l p) + B norm((p - q)+).

    B = 1 - sum min(q, l p) is the chance of a rejection. E is p for l = 1. Rows of [n, V]; reference: the derivation in
    docs/exactness.md.
    """
    kept = torch.minimum(q, lenience * p)
    return kept + (1 - kept.sum(-1, keepdim=True)).clamp(min=0) * residual(p, q)


def residual(p: Tensor, q: Tensor) -> Tensor:
    """norm((p - q)+), the law of a correction; p itself where that is empty."""
    rest = (p - q).clamp(min=0)
    total = rest.sum(-1, keepdim=True)
    return torch.where(total > 0, rest / total.clamp(min=torch.finfo(p.dtype).tiny), p)


@dataclass(frozen=True)
class Rejection:
    """The paper's rule: accept x with probability min(1, l p(x) / q(x)), else draw from norm((p - q)+).

    Exact in law, for any inner lenience, because the draft's q is the law it was really emitted from (`emitted`).
    """

    filter: Filter
    dice: Dice
    lenience: float = 1.0

    def __call__(self, draft: Draft, logits: Tensor, at: int) -> Verdict:
        scores, n = self.filter(logits), len(draft)
        p = scores.softmax(-1)
        q = draft.law(p)
        index = (range(n), draft.tokens)
        px, qx = p[index].tolist(), q[index].tolist()
        accepted = 0
        while accepted < n and self.dice.accept(_chance(px[accepted], qx[accepted], self.lenience)):
            accepted += 1
        own = p[n] if accepted == n else residual(p[accepted], q[accepted])
        law = p[: accepted + 1]
        if self.lenience > 1:
            reviewed = min(accepted + 1, n)
            law = torch.cat([emitted(p[:reviewed], q[:reviewed], self.lenience), p[reviewed : accepted + 1]])
        return Verdict(accepted, self.dice.draw(own), _margin(scores[accepted]), law, tuple(px), tuple(qx))


def _chance(p: float, q: float, lenience: float) -> float:
    return 1.0 if lenience * p >= q else lenience * p / q


def lenient(rule: Accept, lenience: float) -> Accept:
    """The same rule for an inner reviewer."""
    return replace(rule, lenience=lenience)
