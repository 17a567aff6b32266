"""The three rules of acceptance, pure: a draft and the reviewer's logits in, what was accepted out.

Logits are [n + 1, V] for a draft of n tokens: row j verifies token j, the last row gives the bonus token. p is the
reviewer's distribution, q the draft's. Lenience l >= 1 is for inner reviewers; the target is always strict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from csd.decoding.choice import CoupledChooser, GreedyChooser, margin, top_two
from csd.decoding.draft import Draft
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper, Sampler
from csd.decoding.transfer import to_host


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


class Decision(NamedTuple):
    """What a rule launched: `fetch` returns it. With `waits`, a device is still computing, and the host has time."""

    fetch: Callable[[], Acceptance]
    waits: bool = False


class AcceptanceRule(Protocol):
    """Decides in two steps, so that the host can work while a device computes: launch the decision, then fetch it."""

    @property
    def lenience(self) -> float: ...

    def launch(self, draft: Draft, logits: Tensor, start: int, choice: Tensor | None = None) -> Decision:
        """Enqueue the decision on a draft that starts at position `start`, given the reviewer's logits.

        `choice` is `top_two(logits)`, where the pass computed it already. On a CPU everything is computed here.
        """
        ...

    def with_lenience(self, lenience: float) -> AcceptanceRule:
        """The same rule for an inner reviewer."""
        ...


@dataclass(frozen=True)
class Greedy:
    """Take the reviewer's argmax (first index on ties): the output is autoregressive decoding's, for every tree."""

    lenience: float = 1.0

    def launch(self, draft: Draft, logits: Tensor, start: int, choice: Tensor | None = None) -> Decision:
        return _by_score(draft, logits, self.lenience, choice)

    def choose(self, logits: Tensor, start: int, choice: Tensor | None) -> Tensor:
        """`top_two` of the logits."""
        return top_two(logits) if choice is None else choice

    @property
    def chooser(self) -> GreedyChooser:
        return GreedyChooser()

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

    def launch(self, draft: Draft, logits: Tensor, start: int, choice: Tensor | None = None) -> Decision:
        return _by_score(draft, self._scores(logits, start), self.lenience)

    def choose(self, logits: Tensor, start: int, choice: Tensor | None) -> Tensor:
        """`top_two` of log p + g."""
        return top_two(self._scores(logits, start))

    @property
    def chooser(self) -> CoupledChooser | None:
        """None where tokens are filtered out."""
        return None if self.warper.filters else CoupledChooser(self.noise.seed, self.warper.temperature)

    def _scores(self, logits: Tensor, start: int) -> Tensor:
        return self.warper(logits) + self.noise.rows(start, len(logits))

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

    def launch(self, draft: Draft, logits: Tensor, start: int, choice: Tensor | None = None) -> Decision:
        scores, n = self.warper(logits), len(draft)
        p = scores.softmax(-1)
        q, drafted = draft.probs(p), draft.columns(p)
        px, qx = (rows[:n].gather(-1, drafted)[:, 0].double() for rows in (p, q))
        coins = self.sampler.accepts(torch.where(self.lenience * px >= qx, 1.0, self.lenience * px / qx))
        accepted = coins.long().cumprod(0).sum(0, keepdim=True)  # tosses after the first rejection do not count
        own = p.index_select(0, accepted)
        if n:  # a bonus token follows p itself: nothing was drafted there
            reviewed = q.index_select(0, accepted.clamp(max=n - 1))
            own = torch.where(accepted < n, residual_probs(own, reviewed), own)
        token = self.sampler.draw(own[0])
        best = scores.index_select(0, accepted).topk(2).values[0]
        fetch = to_host(torch.cat([accepted.double(), token.double(), best.double(), px, qx]))
        return _launched(lambda: self._acceptance(p, q, fetch()), p.device)

    def _acceptance(self, p: Tensor, q: Tensor, numbers: list[float]) -> Acceptance:
        accepted, token, n = int(numbers[0]), int(numbers[1]), len(q)
        emitted = p[: accepted + 1]
        if self.lenience > 1:
            # Accepted tokens and a correction follow E; a bonus after the whole draft was not reviewed and follows p.
            reviewed = min(accepted + 1, n)
            lenient = emitted_probs(p[:reviewed], q[:reviewed], self.lenience)
            emitted = torch.cat([lenient, p[reviewed : accepted + 1]])
        px, qx = tuple(numbers[4 : 4 + n]), tuple(numbers[4 + n :])
        return Acceptance(accepted, token, margin(*numbers[2:4]), emitted, px, qx)

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


def _launched(fetch: Callable[[], Acceptance], device: torch.device) -> Decision:
    """On a CPU the result is there: nothing is gained by fetching it later."""
    if device.type != "cpu":
        return Decision(fetch, waits=True)
    result = fetch()
    return Decision(lambda: result)


def _by_score(draft: Draft, scores: Tensor, lenience: float, choice: Tensor | None = None) -> Decision:
    """Accept a token that is the first argmax or, for l > 1, whose score is within log(l) of the best.

    `choice` is `top_two(scores)`, where it is known already.
    """
    n, behind = len(draft), None
    if lenience > 1 and n:
        drafted = scores[:n].gather(-1, draft.columns(scores))[:, 0]
        behind = scores[:n].amax(-1) - drafted
    if choice is None and scores.device.type == "cpu":
        firsts, margin_of = _argmax_on_cpu(scores)
        accepted = _count_accepted(draft, firsts, [] if behind is None else behind.tolist(), lenience)
        result = Acceptance(accepted, firsts[accepted], margin_of(accepted))
        return Decision(lambda: result)
    packed = (top_two(scores) if choice is None else choice).flatten()
    fetch = to_host(packed if behind is None else torch.cat([packed, behind]))

    def accept() -> Acceptance:
        numbers = fetch()
        firsts, behind = [int(first) for first in numbers[: 3 * n + 3 : 3]], numbers[3 * n + 3 :]
        accepted = _count_accepted(draft, firsts, behind, lenience)
        return Acceptance(accepted, firsts[accepted], margin(*numbers[3 * accepted + 1 : 3 * accepted + 3]))

    return _launched(accept, scores.device)


def _count_accepted(draft: Draft, firsts: Sequence[int], behind: Sequence[float], lenience: float) -> int:
    """Tokens before the first that is neither the best one nor, for l > 1, at most log(l) behind it."""
    for position, (token, first) in enumerate(zip(draft.tokens, firsts)):
        if token != first and not (behind and behind[position] <= math.log(lenience)):
            return position
    return len(draft)


def _argmax_on_cpu(scores: Tensor) -> tuple[list[int], Callable[[int], float | None]]:
    """The first argmax of each row, and a function that gives a row's margin; numpy is faster at both than torch."""
    if scores.dtype not in (torch.float32, torch.float64):  # numpy has no bfloat16
        return scores.argmax(-1).tolist(), lambda row: margin(*scores[row].topk(2).values.tolist())
    rows = scores.numpy()
    firsts = rows.argmax(-1).tolist()

    def margin_of(row: int) -> float | None:
        first, own = firsts[row], rows[row]
        second = max(own[:first].max(initial=-math.inf), own[first + 1 :].max(initial=-math.inf))
        return margin(float(own[first]), float(second))

    return firsts, margin_of
