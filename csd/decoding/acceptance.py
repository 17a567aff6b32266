"""The three rules of acceptance, pure: a draft and the reviewer's logits in, what was accepted out.

Logits are [n + 1, V] for a draft of n tokens: row j verifies token j, the last row gives the bonus token. p is the
reviewer's distribution, q the draft's. Lenience l >= 1 is for inner reviewers; the target is always strict.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from csd.decoding.draft import Draft
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper, Sampler


@dataclass(frozen=True, slots=True, eq=False)
class Acceptance:
    """How many tokens of a draft were accepted, and the reviewer's own token after them.

    `margin` is the distance of the two best scores at that token; None where the filter leaves one token only. `q` is
    the distribution that each emitted token was drawn from, [accepted + 1, V]; None for point masses. `p_drafted` and
    `q_drafted` are the probabilities of the drafted tokens under both models, known under the rejection rule only.
    """

    accepted: int
    token: int
    margin: float | None
    q: Tensor | None = None
    p_drafted: tuple[float, ...] = ()
    q_drafted: tuple[float, ...] = ()


class AcceptanceRule(Protocol):
    """Called with a draft, the reviewer's logits and the position at which the draft starts."""

    @property
    def lenience(self) -> float: ...

    def __call__(self, draft: Draft, logits: Tensor, start: int) -> Acceptance: ...

    def with_lenience(self, lenience: float) -> AcceptanceRule:
        """The same rule for an inner reviewer."""
        ...


@dataclass(frozen=True)
class Greedy:
    """Take the reviewer's argmax (first index on ties): the output is autoregressive decoding's, for every tree."""

    lenience: float = 1.0

    def __call__(self, draft: Draft, logits: Tensor, start: int) -> Acceptance:
        return _accept_by_score(draft, logits, self.lenience)

    def with_lenience(self, lenience: float) -> Greedy:
        return replace(self, lenience=lenience)


@dataclass(frozen=True)
class Coupled:
    """Every level takes argmax(log p + g) with the same Gumbel noise g: an exact sample, and one text for every tree.

    Whatever the tree, the text is what the target alone samples with this noise, so it is checked like a greedy one.
    """

    warper: LogitsWarper
    noise: GumbelNoise
    lenience: float = 1.0

    def __call__(self, draft: Draft, logits: Tensor, start: int) -> Acceptance:
        return _accept_by_score(draft, self.warper(logits) + self.noise.rows(start, len(draft) + 1), self.lenience)

    def with_lenience(self, lenience: float) -> Coupled:
        return replace(self, lenience=lenience)


@dataclass(frozen=True)
class Rejection:
    """The paper's rule: accept x with probability min(1, l p(x) / q(x)), otherwise draw from norm((p - q)+).

    Exact in distribution for any inner lenience, because the draft's q is the distribution it was really emitted from
    (`emitted_probs`).
    """

    warper: LogitsWarper
    sampler: Sampler
    lenience: float = 1.0

    def __call__(self, draft: Draft, logits: Tensor, start: int) -> Acceptance:
        scores, n = self.warper(logits), len(draft)
        p = scores.softmax(-1)
        q = draft.probs(p)
        drafted = (range(n), draft.tokens)
        px, qx = p[drafted].tolist(), q[drafted].tolist()
        accepted = 0
        while accepted < n and self.sampler.accept(_p_accept(px[accepted], qx[accepted], self.lenience)):
            accepted += 1
        own = p[n] if accepted == n else residual_probs(p[accepted], q[accepted])
        emitted = p[: accepted + 1]
        if self.lenience > 1:
            # Accepted tokens and a correction follow E; a bonus after the whole draft was not reviewed and follows p.
            reviewed = min(accepted + 1, n)
            lenient = emitted_probs(p[:reviewed], q[:reviewed], self.lenience)
            emitted = torch.cat([lenient, p[reviewed : accepted + 1]])
        margin = _margin(scores[accepted])
        return Acceptance(accepted, self.sampler.draw(own), margin, emitted, tuple(px), tuple(qx))

    def with_lenience(self, lenience: float) -> Rejection:
        return replace(self, lenience=lenience)


def emitted_probs(p: Tensor, q: Tensor, lenience: float) -> Tensor:
    """What a lenient reviewer emits for a token drawn from q: E = min(q, l p) + B norm((p - q)+), rows of [n, V].

    B = 1 - sum min(q, l p) is the probability of a rejection. E is p for l = 1. Derived in docs/exactness.md.
    """
    kept = torch.minimum(q, lenience * p)
    return kept + (1 - kept.sum(-1, keepdim=True)).clamp(min=0) * residual_probs(p, q)


def residual_probs(p: Tensor, q: Tensor) -> Tensor:
    """norm((p - q)+), the distribution of a correction; p itself where that is empty."""
    rest = (p - q).clamp(min=0)
    total = rest.sum(-1, keepdim=True)
    return torch.where(total > 0, rest / total.clamp(min=torch.finfo(p.dtype).tiny), p)


def _p_accept(p: float, q: float, lenience: float) -> float:
    return 1.0 if lenience * p >= q else lenience * p / q


def _accept_by_score(draft: Draft, scores: Tensor, lenience: float) -> Acceptance:
    """Accept a token that is the first argmax or, for l > 1, whose score is within log(l) of the best."""
    best, margin = _argmax_on_cpu(scores) if scores.device.type == "cpu" else _argmax_on_gpu(scores)
    n = len(draft)
    agreed = [ours == token for ours, token in zip(best, draft.tokens)]
    if lenience > 1 and n:
        drafted = torch.tensor(draft.tokens, device=scores.device)
        near = scores[:n].gather(-1, drafted[:, None])[:, 0] >= scores[:n].amax(-1) - math.log(lenience)
        agreed = [one or other for one, other in zip(agreed, near.tolist())]
    accepted = agreed.index(False) if False in agreed else n
    return Acceptance(accepted, best[accepted], margin(accepted))


def _argmax_on_cpu(scores: Tensor) -> tuple[list[int], Callable[[int], float | None]]:
    """The first argmax of each row, and a function that gives a row's margin; numpy is faster at both than torch."""
    if scores.dtype not in (torch.float32, torch.float64):  # numpy has no bfloat16
        return scores.argmax(-1).tolist(), lambda row: _margin(scores[row])
    rows = scores.numpy()
    firsts = rows.argmax(-1).tolist()

    def margin(row: int) -> float | None:
        first, own = firsts[row], rows[row]
        second = max(own[:first].max(initial=-math.inf), own[first + 1 :].max(initial=-math.inf))
        return _gap(float(own[first]), float(second))

    return firsts, margin


def _argmax_on_gpu(scores: Tensor) -> tuple[list[int], Callable[[int], float | None]]:
    """The same on a GPU, fetched in one transfer: the host waits a single time."""
    rows = torch.cat([scores.argmax(-1, keepdim=True).double(), scores.topk(2).values.double()], -1).tolist()
    return [int(first) for first, _, _ in rows], lambda row: _gap(*rows[row][1:])


def _margin(row: Tensor) -> float | None:
    """The distance of the two best scores; None where only one token is left."""
    return _gap(*row.topk(2).values.tolist())


def _gap(best: float, second: float) -> float | None:
    return best - second if second > -math.inf else None
