"""Play a method on a transcript: what it would cost, in milliseconds and without running a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from csd.decoding.draft import Draft
from csd.decoding.generate import generate
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import LaneParts, Method
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.tuning.transcripts import TopTokens, Transcript

if TYPE_CHECKING:
    from csd.decoding.acceptance import Decision
    from csd.models.family import Family


def simulate(method: Method, transcript: Transcript, family: Family) -> float:
    """Seconds that a method would spend in forward passes on a transcript, by the family's measured costs.

    Where a draft has left the target's text, what follows it is read from the transcript at the same positions: those
    tokens are lost in any case, only their number matters.
    """
    start = len(transcript.prompt)
    sessions = {
        name: ReplaySession(name, transcript.predictions[name], start, family.contexts[name], family.costs[name])
        for name in method.models()
    }
    index = SuffixIndex()
    bigram = family.bigram if MAX_GRAM in method.leaves else None
    root = method.build(LaneParts(sessions, ReplayRule(), index, bigram))
    eos = family.eos if transcript.tokens[-1] in family.eos else frozenset()
    for _ in generate(root, [index, *sessions.values()], transcript.prompt, len(transcript.tokens), eos):
        pass
    return sum(session.seconds for session in sessions.values())


class ReplaySession:
    """A model that answers from a transcript. `seconds` sums up what its forward passes after prefill would cost.

    Like a real session (`csd.models.session`) it feeds what differs from the last text that it was given. `start` is
    the position of the first prediction.
    """

    choice = None

    def __init__(
        self, name: str, predictions: Sequence[TopTokens], start: int, context: int, costs: Sequence[float]
    ) -> None:
        self.name, self.context, self.costs = name, context, costs
        self.seconds = 0.0
        self._predictions, self._start = predictions, start
        self._committed = 0  # committed tokens that are cached
        self._tail: tuple[int, ...] = ()  # speculative tokens cached after them

    def logits(self, sequence: TokenSequence, since: int) -> Any:
        """The predictions for positions since .. len(sequence), in place of logits; `ReplayRule` understands them."""
        keep = min(self._cached(sequence), since - 1)
        width = len(sequence) - keep
        self.seconds += self.costs[min(width, len(self.costs)) - 1]
        self._committed, self._tail = len(sequence.committed), sequence.tail
        last = len(self._predictions) - 1
        positions = range(since - self._start, len(sequence) - self._start + 1)
        return [self._predictions[min(position, last)] for position in positions]

    def prefill(self, sequence: TokenSequence) -> None:
        self._committed, self._tail = len(sequence.committed), ()

    def _cached(self, sequence: TokenSequence) -> int:
        """How many tokens of the sequence are cached."""
        count = self._committed
        for ours, theirs in zip(self._tail, sequence.since(self._committed)):
            if ours != theirs:
                break
            count += 1
        return count


@dataclass(frozen=True)
class ReplayRule:
    """An acceptance rule over predictions: what the greedy and the coupled rule do with the logits behind them."""

    lenience: float = 1.0

    def launch(self, draft: Draft, logits: Any, start: int, choice: Any = None) -> Decision:
        from csd.decoding.acceptance import Acceptance, Decision

        predictions: Sequence[TopTokens] = logits
        accepted = 0
        while accepted < len(draft) and predictions[accepted].accepts(draft.tokens[accepted], self.lenience):
            accepted += 1
        result = Acceptance(accepted, predictions[accepted].best, predictions[accepted].margin)
        return Decision(lambda: result)

    def with_lenience(self, lenience: float) -> ReplayRule:
        return replace(self, lenience=lenience)
