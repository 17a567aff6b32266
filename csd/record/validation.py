"""What can be wrong with traces whose fields all have the right types. They may come from anybody.

Each check yields what it finds wrong, as the end of a sentence, and may rely on the checks before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from csd.ranges import LONGEST_TEXT, MAX_NEW, SEED, TEMPERATURE, TOP_K, TOP_P
from csd.record.settings import settings_faults
from csd.record.trace import Header, Pieces, Prefill, Proposal, Review, Step, Trace, walk

MOST_LEVELS = 100
DEEPEST = 16  # reviews within reviews
LONGEST_BLOCK = 4096  # tokens
ROUNDING = 1e-3  # seconds by which times may contradict one another
MOST_RECORDS = 100_000  # of a race: 1000 tokens, each after a draft of 64 that is rejected, have two thirds of that
# Names are shown in figures, where tags have a meaning.
NAME = re.compile(r"[^<>&\x00-\x1f\x7f-\x9f]{1,200}")
LABEL = re.compile(r"[^<>&\x00-\x1f\x7f-\x9f]{0,4000}")


def check_traces(traces: Sequence[Trace]) -> None:
    """Raise ValueError with a sentence where these traces cannot be shown as one race."""
    fault = next(_faults(traces), None)
    if fault is not None:
        raise ValueError(f"This trace is damaged: {fault}.")


def _faults(traces: Sequence[Trace]) -> Iterator[str]:
    first, records = traces[0].header, 0
    for trace in traces:
        header = trace.header
        names = frozenset(level.name for level in header.levels)
        yield from _header_faults(header, names)
        yield from _piece_faults(trace)
        yield from _prefill_faults(trace.prefill, names)
        yield from _step_order_faults(trace)
        records += sum(1 for step in trace.steps for _ in walk(step.review))
        if records > MOST_RECORDS:
            yield f"it has {records:,} reviews and drafts or more; at most {MOST_RECORDS:,} are read"
        for step in trace.steps:
            yield from _step_faults(step, names, trace.pieces)
        if (header.prompt, header.text, header.levels) != (first.prompt, first.text, first.levels):
            yield "its lanes ran on different prompts or models"


def _header_faults(header: Header, names: Set[str]) -> Iterator[str]:
    if not 0 < len(header.levels) <= MOST_LEVELS:
        yield f"it has {len(header.levels):,} levels; a race has 1 to {MOST_LEVELS}"
    if len(names) < len(header.levels):
        yield "two of its levels have the same name"
    if not all(0 <= level.level < MOST_LEVELS for level in header.levels):
        yield "the number of a level is out of range"
    if not all(NAME.fullmatch(name) for name in (header.method, *names)):
        yield "the name of its method or of a level is empty, too long or has characters that names cannot have"
    if not LABEL.fullmatch(header.label):
        yield "its label is too long or has characters that labels cannot have"
    yield from settings_faults(header.settings)
    if header.max_new not in MAX_NEW:
        yield "its number of new tokens is out of range"
    numbers = (
        (TEMPERATURE, header.temperature),
        (TOP_P, header.top_p),
        (TOP_K, header.top_k),
        (SEED, header.seed),
    )
    yield from filter(None, (allowed.fault(value) for allowed, value in numbers))


def _piece_faults(trace: Trace) -> Iterator[str]:
    for piece in trace.pieces.values():
        if isinstance(piece, tuple) and not all(0 <= byte < 256 for byte in piece):
            yield "a piece of text has bytes that are out of range"
    if not trace.pieces.keys() >= set(trace.header.prompt):
        yield "a token of the prompt has no text"


def _prefill_faults(parts: Sequence[Prefill], names: Set[str]) -> Iterator[str]:
    for part in parts:
        if part.by not in names:
            yield "its prefill has an unknown level"


def _step_order_faults(trace: Trace) -> Iterator[str]:
    """Steps follow one another in the text and in time, and together are not longer than they could be."""
    position, clock = len(trace.header.prompt), 0.0
    for step in trace.steps:
        if step.review.at != position or step.start < clock - ROUNDING:
            yield "its steps do not follow one another"
        position, clock = position + len(step.tokens), step.start + step.seconds
    if position > len(trace.header.prompt) + trace.header.max_new:
        yield "its text is longer than its number of new tokens"
    if position > LONGEST_TEXT:
        yield f"its text has {position:,} tokens; at most {LONGEST_TEXT:,} are read"


def _step_faults(step: Step, names: Set[str], pieces: Pieces) -> Iterator[str]:
    review = step.review
    own = () if review.token is None else (review.token,)
    emitted = (*review.tokens[: review.accepted], *own)
    if not step.tokens or step.tokens != emitted[: len(step.tokens)]:
        yield "a step's text is not what its review accepted and added"
    if len(step.authors) != len(step.tokens) or not names >= set(step.authors):
        yield "a token has no author or an unknown one"
    if _depth(review) > DEEPEST:
        yield "its reviews are nested too deeply"
    for record in walk(review):
        yield from _record_faults(record, review.at, names, pieces)
    if sum(record.seconds for record in walk(review)) > step.seconds + ROUNDING:
        yield "the parts of a step take longer than the step"


def _record_faults(record: Review | Proposal, root: int, names: Set[str], pieces: Pieces) -> Iterator[str]:
    if record.by not in names or not names >= set(record.authors) or len(record.authors) != len(record.tokens):
        yield "a token has no author or an unknown one"
    if len(record.tokens) > LONGEST_BLOCK:
        yield f"a block is longer than {LONGEST_BLOCK:,} tokens"
    if not root <= record.at <= root + LONGEST_BLOCK:
        yield "a review is at an impossible position"
    if not pieces.keys() >= set(record.tokens):
        yield "a token has no text"
    if isinstance(record, Review):
        yield from _review_faults(record, pieces)


def _review_faults(review: Review, pieces: Pieces) -> Iterator[str]:
    if review.token is not None and review.token not in pieces:
        yield "a token has no text"
    if not 0 <= review.accepted <= len(review.tokens):
        yield "a review accepted more than it was shown"
    if max(len(review.p), len(review.q)) > len(review.tokens):
        yield "a review has more probabilities than tokens"


def _depth(record: Review | Proposal) -> int:
    """How many reviews are inside one another below this one."""
    if isinstance(record, Proposal):
        return 0
    return max((1 + _depth(inner) for inner in record.inner), default=0)
