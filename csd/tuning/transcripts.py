"""What every model of a family would say at each position of a text that the target wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from csd.decoding.methods import Autoregressive, Method, Speculative
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Trace
from csd.request.prompts import Prompt
from csd.run import finished_traces, run_race

if TYPE_CHECKING:
    from torch import Tensor

    from csd.models.family import Family

KEPT = 4  # tokens kept per position: a lenient reviewer may accept any of them
RECORDING_K = 8  # tokens per draft while the target's text is generated


@dataclass(frozen=True, slots=True)
class TopTokens:
    """A model's best tokens at one position, best first, and how far the score of each is below the best one's."""

    ids: tuple[int, ...]
    gaps: tuple[float, ...]

    @property
    def best(self) -> int:
        return self.ids[0]

    @property
    def margin(self) -> float | None:
        """The distance of the two best scores; None where there is only one token."""
        return self.gaps[1] if len(self.gaps) > 1 else None

    def accepts(self, token: int, lenience: float) -> bool:
        """Whether a reviewer with this lenience would accept the token."""
        return token in self.ids and self.gaps[self.ids.index(token)] <= math.log(lenience)


@dataclass(frozen=True)
class Transcript:
    """A prompt, the target's text after it, and what each model predicts along that text.

    `predictions[name][i]` is what the model predicts after the prompt and the first i tokens, so there is one
    prediction more than there are tokens, and fewer for a model whose context ends earlier.
    """

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    predictions: Mapping[str, tuple[TopTokens, ...]]


def record_transcript(family: Family, prompt: Prompt) -> Transcript:
    """Generate the target's text, then let every model of the family read it."""
    drafts = family.draft_names
    trace = run_method(family, prompt, Speculative(drafts[0], RECORDING_K) if drafts else Autoregressive())
    start, tokens = trace.header.prompt, trace.tokens
    predictions = {level.name: _predict(family, level.name, prompt, start, tokens) for level in family.levels}
    return Transcript(start, tokens, predictions)


def run_method(family: Family, prompt: Prompt, method: Method) -> Trace:
    """Run one method on a prompt. Raises Refusal for a prompt that the family cannot run."""
    (trace,) = finished_traces(run_race(family, prompt.to_request((method,))))
    return trace


def _predict(
    family: Family, name: str, prompt: Prompt, start: tuple[int, ...], tokens: tuple[int, ...]
) -> tuple[TopTokens, ...]:
    """One model's best tokens along the text, as far as its context reaches."""
    readable = family.contexts[name] - len(start)
    if readable < 0:
        return ()
    session = family.session(name, len(start) + len(tokens))
    text = TokenSequence(list(start))
    session.prefill(text)
    logits = session.logits(text + tokens[:readable], len(start))
    best = _top_tokens(_scores(family, prompt, logits, len(start)))
    session.close()
    return best


def _scores(family: Family, prompt: Prompt, logits: Tensor, position: int) -> Tensor:
    """What the levels compare when they choose a token: logits, or log probabilities with the shared Gumbel noise."""
    from csd.decoding.noise import GumbelNoise
    from csd.decoding.sampling import LogitsWarper

    if not prompt.temperature:
        return logits
    noise = GumbelNoise(prompt.seed, family.vocab, family.device)
    return LogitsWarper(prompt.temperature)(logits) + noise.rows(position, len(logits))


def _top_tokens(scores: Tensor) -> tuple[TopTokens, ...]:
    best = scores.topk(min(KEPT, scores.shape[-1]), dim=-1)
    gaps = best.values[:, :1] - best.values
    return tuple(TopTokens(tuple(ids), tuple(row)) for ids, row in zip(best.indices.tolist(), gaps.tolist()))
