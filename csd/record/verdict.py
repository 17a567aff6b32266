"""Is a lane's text the reference's? Decided here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from csd.record.trace import Trace

# Distance of the two best scores within which a pass of another width may round to the other token, by number format:
# two units in the last place of a score of about 30.
NEAR_TIE = {"float64": 1e-9, "float32": 1e-4, "float16": 0.05, "bfloat16": 0.5}

Kind = Literal["reference", "identical", "near-tie", "differs", "same distribution", "not lossless", "not compared"]
"""What can be said of a text. "near-tie" is a difference that rounding explains; "same distribution" is promised by the
rejection rule, under which texts differ; "not lossless" is the text of a lane that the target does not review."""


@dataclass(frozen=True)
class Verdict:
    """A lane's text against the reference's.

    `compared` tokens were compared; `whole` is false where one of the two was stopped. `position` is the first token
    that differs and `margin` the reference's top-2 margin there, None where it was not recorded. `reason` says why
    nothing was compared.
    """

    kind: Kind
    compared: int = 0
    whole: bool = True
    position: int | None = None
    margin: float | None = None
    reason: str = ""

    @property
    def is_fault(self) -> bool:
        """The text is another one, and rounding does not explain it."""
        return self.kind == "differs"


def judge(trace: Trace, reference: Trace | None) -> Verdict:
    """What can be said of a lane's text; `reference` is the autoregressive lane of the same race."""
    if trace is reference:
        return Verdict("reference", len(trace.tokens))
    if not trace.tokens:
        return Verdict("not compared", reason="no token was generated")
    if not trace.lossless:
        return _another_model(trace, reference)
    if trace.header.rule == "rejection":
        return Verdict("same distribution")
    if reference is None:
        return Verdict("not compared", reason="no autoregressive lane")
    if not reference.tokens:
        return Verdict("not compared", reason="the autoregressive lane generated nothing")
    whole = "stopped" not in (trace.end, reference.end)
    return compare_tokens(trace.tokens, reference.tokens, margins(reference), trace.header.dtype, whole)


def _another_model(trace: Trace, reference: Trace | None) -> Verdict:
    """How far the text of a lane without the target goes along with the target's; a difference is no fault."""
    if reference is None or trace.header.rule == "rejection":
        return Verdict("not lossless")
    found = compare_tokens(trace.tokens, reference.tokens, (), trace.header.dtype)
    return Verdict("not lossless", found.compared, found.whole, found.position)


def compare_tokens(
    ours: Sequence[int],
    theirs: Sequence[int],
    margins: Sequence[float | None],
    dtype: str,
    whole: bool = True,
) -> Verdict:
    """Token for token, as far as both go if one was stopped; `margins` are the reference's at each of its tokens."""
    compared = min(len(ours), len(theirs))
    position = next((i for i in range(compared) if ours[i] != theirs[i]), None)
    if position is None:
        if whole and len(ours) != len(theirs):
            return Verdict("differs", compared, whole, compared)
        return Verdict("identical", compared, whole)
    margin = margins[position] if position < len(margins) else None
    tie = margin is not None and margin <= NEAR_TIE.get(dtype.removeprefix("torch."), 0.0)
    return Verdict("near-tie" if tie else "differs", compared, whole, position, margin)


def margins(trace: Trace) -> tuple[float | None, ...]:
    """The top-2 margin at each generated token, known where the target wrote the token itself."""
    found: list[float | None] = []
    for step in trace.steps:
        own: list[float | None] = [None] * len(step.tokens)
        if step.review.accepted < len(own):
            own[step.review.accepted] = step.review.margin
        found += own
    return tuple(found)
