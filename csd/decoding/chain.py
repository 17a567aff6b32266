"""A draft model that writes several tokens before the host looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from csd.decoding.combinators import Vertical, skipped_review
from csd.decoding.draft import Draft, Drafter, Nothing
from csd.decoding.session import Session
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review

if TYPE_CHECKING:
    from torch import Tensor

    from csd.decoding.acceptance import AcceptanceRule
    from csd.decoding.choice import Chooser


@runtime_checkable
class FollowingSession(Session, Protocol):
    """A session that can go on from a token which is still on the device."""

    def follow(self, token: Tensor) -> Tensor:
        """Feed one token, a tensor of one number, after those fed last. The row after it, [1, V], valid as in `logits`.

        The session learns only by `followed` which token it was.
        """
        ...

    def follow_chain(self, token: Tensor, most: int, chooser: Chooser) -> Tensor | None:
        """Feed one token like `follow`, and after it tokens that the device chooses: up to `most` in all, at once.

        `top_two` of what was chosen after each of them, [tokens fed, 3], valid until the session's next call. None if
        the session cannot do that; then nothing was fed.
        """
        ...

    def followed(self, tokens: tuple[int, ...]) -> None:
        """The tokens that were fed by `follow` and `follow_chain` since the last call of `logits`."""
        ...


@runtime_checkable
class ChoosingRule(Protocol):
    """A rule that needs nothing from the host to choose a token: greedy and coupled."""

    def choose(self, logits: Tensor, start: int, choice: Tensor | None) -> Tensor:
        """`top_two` of the scores that the rule compares; `logits` start at position `start`, `choice` is theirs."""
        ...

    @property
    def chooser(self) -> Chooser | None:
        """What `choose` does, for `follow_chain`; None where it does more than that."""
        ...


@dataclass(frozen=True)
class Chain(Drafter):
    """`Vertical(session, Nothing(), rule)` as often as there is room, with one wait of the host instead of one a token.

    Each step feeds the token that the one before chose, on the device: several steps in one launch where the session
    can do that, else one by one. What was written after an EOS is dropped. Tokens and records are those of the rounds
    one by one; each review gets an equal share of the time.
    """

    exact_length: ClassVar[bool] = True

    session: FollowingSession
    rule: ChoosingRule

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        start, name = len(sequence), self.session.name
        count = min(room, self.session.context - start + 1)
        if room < 1:
            return Draft()
        if count < 1:
            return Draft(reviews=(skipped_review(self.session, start),))
        started = perf_counter()
        written, margins = self._write(sequence, start, count)
        tokens = tuple(sequence.until_eos(written))
        seconds = (perf_counter() - started) / len(tokens)
        reviews = tuple(
            Review(name, start + i, (), (), 0, token, started + i * seconds, seconds, margin=margin)
            for i, (token, margin) in enumerate(zip(tokens, margins))
        )
        cost = len(tokens) * self.session.costs[0] if self.session.costs else 0.0
        return Draft(tokens, (name,) * len(tokens), reviews=reviews, cost=cost)

    def _write(self, sequence: TokenSequence, start: int, count: int) -> tuple[list[int], list[float | None]]:
        """`count` tokens from position `start` on, and their margins."""
        import torch  # loaded where there are rows

        from csd.decoding.choice import margin
        from csd.decoding.transfer import to_host

        session, logits = self.session, self.session.logits(sequence, since=start)
        chosen, position = [self.rule.choose(logits, start, session.choice).clone()], start + 1
        while position < start + count:
            more = self._follow(chosen[-1][-1, 0], position, start + count - position)
            chosen.append(more.clone())  # the next pass overwrites it
            position += len(more)
        numbers = to_host(torch.cat(chosen).flatten())()
        tokens = [int(token) for token in numbers[::3]]
        session.followed(tuple(tokens[:-1]))
        return tokens, [margin(best, second) for best, second in zip(numbers[1::3], numbers[2::3])]

    def _follow(self, token: Tensor, position: int, most: int) -> Tensor:
        """The choices at `position` and up to `most` - 1 positions after it, [n, 3]; `token` is the one before."""
        chooser = self.rule.chooser
        written = self.session.follow_chain(token, most, chooser) if chooser else None
        return (
            self.rule.choose(self.session.follow(token), position, self.session.choice) if written is None else written
        )


def drafting_alone(session: Session, rule: AcceptanceRule) -> Drafter:
    """A draft model with nothing to review: a chain where model and rule allow it, otherwise round by round."""
    if isinstance(session, FollowingSession) and isinstance(rule, ChoosingRule):
        return Chain(session, rule)
    return Vertical(session, Nothing(), rule)
