"""The work of the host per review does not grow with the text: calls and committed tokens read, at 100 and at 2,000."""

from __future__ import annotations

import sys

import pytest
import torch
from toy import Watched

from csd.decoding.acceptance import Greedy
from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, LaneParts, PromptLookup, Speculative
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.models.session import Session

DRAFTS = ("draft-2", "draft-1")
VOCAB, ROUNDS = 23, 30
METHODS = [
    Autoregressive(),
    Speculative("draft-2", 5),
    PromptLookup(8),
    Cascade(DRAFTS, ((3, 6, 9), (0, 2, 4), (0, 0, 3))),
    AdaptiveCascade(DRAFTS),
]


def model(name: str, errs: int, cost: float):
    """A session over a fake model: the next token is the successor modulo V, and wrong at every `errs`-th position."""

    def run(ids: list[int], keep: int, rows: int) -> torch.Tensor:
        logits = torch.zeros(rows, VOCAB)
        for row, position in enumerate(range(keep + len(ids) - rows, keep + len(ids))):
            token = ids[position - keep]
            logits[row, (token + (3 if errs and position % errs == 0 else 1)) % VOCAB] = 5.0
        return logits

    return Session(name, run, VOCAB, 10**6, tuple(cost * (1 + width / 16) for width in range(65)))


def work(method, length: int) -> tuple[int, int]:
    """Python calls, and committed tokens read, in some rounds after a text of this length."""
    committed = Watched((i + (i // 40)) % VOCAB for i in range(length))
    sessions = {
        "target": model("target", 0, 1.0),
        "draft-2": model("draft-2", 7, 0.2),
        "draft-1": model("draft-1", 3, 0.1),
    }
    index, text = SuffixIndex(), TokenSequence(committed)
    root = method.build(LaneParts(sessions, Greedy(), index))
    index.sync(text)
    for session in sessions.values():
        session.prefill(text)
    for _ in range(10):  # until the estimates and the matches have settled
        committed.extend(root.draft(text, 40).tokens)
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    committed.read = 0
    sys.setprofile(count)
    try:
        for _ in range(ROUNDS):
            committed.extend(root.draft(text, 40).tokens)
    finally:
        sys.setprofile(None)
    return calls, committed.read


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_work_per_review_does_not_grow(method):
    (few_calls, few_read), (many_calls, many_read) = work(method, 100), work(method, 2000)
    assert many_calls < 1.25 * few_calls
    assert many_read < 1.25 * few_read + 20 and many_read < ROUNDS * 300
