"""Chains: tokens, records and passes are those of one round per token, with one wait for each chain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import TableSession, ToyFamily, after, family, records_of, text_of
from toy_lanes import NAMED, VOCAB, check_steps, methods, settings_of_a_lane

from csd.decoding import transfer
from csd.decoding.acceptance import AcceptanceRule, Coupled, Greedy, Rejection
from csd.decoding.chain import Chain, drafting_alone
from csd.decoding.choice import Chooser, CoupledChooser, top_two
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Nothing
from csd.decoding.generate import generate
from csd.decoding.methods import LaneParts, Method, Speculative, title
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper, Sampler
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Review, Step


@dataclass(eq=False)
class FollowingTable(TableSession):
    """A table that goes on from a token of the device; `chosen` says whether its passes choose, as captured ones do.

    Its chains make up to `longest` steps.
    """

    chosen: bool = True
    longest: int = 0
    fetched: int = 0  # tokens of its text that the host does not know yet

    def logits(self, sequence: TokenSequence, since: int) -> torch.Tensor:
        assert not self.fetched, "the session was not told what it was given"
        self._text = sequence.since(0)
        return self._choose(super().logits(sequence, since))

    def follow(self, token: torch.Tensor) -> torch.Tensor:
        assert token.numel() == 1
        self._text.append(int(token))
        assert len(self._text) <= self.context
        self.fetched += 1
        self.fed.append(1)
        self._given.fill_(float("nan"))
        self.choice.fill_(float("nan")) if self.choice is not None else None
        self._given = after(self.table, self._text)[None].clone()
        return self._choose(self._given)

    def follow_chain(self, token: torch.Tensor, most: int, chooser: Chooser) -> torch.Tensor | None:
        if not self.longest:
            return None
        rule = Greedy()
        if isinstance(chooser, CoupledChooser):
            rule = Coupled(LogitsWarper(chooser.temperature), GumbelNoise(chooser.seed, VOCAB))
        written = []
        for _ in range(min(most, self.longest)):
            rows = self.follow(token)
            written.append(rule.choose(rows, len(self._text), None))
            token = written[-1][0, 0]
        self.choice = None
        return torch.cat(written)

    def followed(self, tokens: tuple[int, ...]) -> None:
        count, self.fetched = self.fetched, 0
        assert count == len(tokens) and tuple(self._text[len(self._text) - count :]) == tokens

    def _choose(self, rows: torch.Tensor) -> torch.Tensor:
        self.choice = top_two(rows) if self.chosen else None
        return rows


def run(
    toy: ToyFamily,
    method: Method,
    prompt,
    max_new: int,
    rule: AcceptanceRule,
    eos,
    following: bool,
    chosen: bool = True,
    longest: int = 0,
) -> list[Step]:
    room = len(prompt) + max_new
    sessions: dict = {name: toy.session(name, room) for name in method.models()}
    if following:
        sessions = {
            name: FollowingTable(name, one.table, one.context, one.costs, chosen=chosen, longest=longest)
            for name, one in sessions.items()
        }
    index = SuffixIndex()
    root = method.build(LaneParts(sessions, rule, index, toy.bigram))
    return [one for one in generate(root, [index, *sessions.values()], prompt, max_new, eos) if isinstance(one, Step)]


def untimed(step: Step) -> tuple:
    """A step without its clock."""

    def bare(record):
        inner = tuple(bare(one) for one in getattr(record, "inner", ()))
        return replace(record, start=0.0, seconds=0.0, **({"inner": inner} if inner else {}))

    return step.tokens, step.authors, bare(step.review)


def rules(seed: int, warper: LogitsWarper):
    return {
        "greedy": lambda: Greedy(),
        "coupled": lambda: Coupled(warper, GumbelNoise(seed, VOCAB)),
        "rejection": lambda: Rejection(warper, Sampler(seed)),
    }


@settings(max_examples=150, deadline=None)
@given(
    settings_of_a_lane(),
    methods(),
    st.sampled_from(("greedy", "coupled", "rejection")),
    st.integers(0, 10**6),
    st.sampled_from((LogitsWarper(0.8), LogitsWarper(1.2, top_k=3), LogitsWarper(1.0, top_p=0.8))),
    st.booleans(),
    st.integers(0, 7),
)
def test_a_chain_is_the_loop_review_for_review(lane, method, name, seed, warper, chosen, longest):
    """Any tree, full contexts, EOS inside a chain, room that cuts it, any graphs: the same trace, but for the clock."""
    toy, prompt, max_new, eos = lane
    make = rules(seed, warper)[name]
    loop = run(toy, method, prompt, max_new, make(), eos, following=False)
    chain = run(toy, method, prompt, max_new, make(), eos, following=True, chosen=chosen, longest=longest)
    assert [untimed(step) for step in chain] == [untimed(step) for step in loop]
    check_steps(chain, prompt, max_new)


@pytest.mark.parametrize("method", NAMED, ids=title)
def test_every_named_method(method):
    toy = family(VOCAB, seed=3, noises=(0.3, 0.6, 1.0), bigram=True)
    loop, chain = (run(toy, method, (1, 2, 3), 60, Greedy(), frozenset(), following) for following in (False, True))
    assert [untimed(step) for step in chain] == [untimed(step) for step in loop]


def test_the_time_of_a_chain_is_shared_by_its_reviews():
    toy = family(VOCAB, seed=5, noises=(0.0, 0.0, 0.0))
    steps = run(toy, Speculative("draft-2", 8), (1, 2), 40, Greedy(), frozenset(), following=True)
    inner = [one for one in records_of(steps[0].review) if isinstance(one, Review) and one.by == "draft-2"]
    assert len(inner) == 8 and len({round(one.seconds, 12) for one in inner}) == 1
    for before, later in pairwise(inner):
        assert later.start == pytest.approx(before.start + before.seconds)
    assert text_of(steps) == text_of(run(toy, Speculative("draft-2", 8), (1, 2), 40, Greedy(), frozenset(), False))


def test_a_chain_feeds_one_token_a_step_and_never_more_than_it_writes():
    toy = family(VOCAB, seed=5)
    draft = FollowingTable("draft-2", toy.tables["draft-2"])
    drafter = drafting_alone(draft, Greedy())
    assert isinstance(drafter, Chain)
    draft.prefill(TokenSequence([1, 2, 3]))
    whole = Horizontal(((drafter, 6),)).draft(TokenSequence([1, 2, 3]), 20)
    assert len(whole) == 6 and draft.fed == [1] * 6
    assert len(Horizontal(((drafter, 6),)).draft(TokenSequence([1, 2, 3]), 2)) == 2
    assert drafter.draft(TokenSequence([1]), 0).tokens == ()


def test_the_host_waits_once_for_a_chain(monkeypatch):
    toy, fetched = family(VOCAB, seed=5), []

    def counted(values: torch.Tensor):
        fetched.append(len(values))
        return values.tolist

    monkeypatch.setattr(transfer, "to_host", counted)
    draft = FollowingTable("draft-2", toy.tables["draft-2"])
    Horizontal(((drafting_alone(draft, Greedy()), 8),)).draft(TokenSequence([1, 2, 3]), 20)
    assert fetched == [3 * 8]  # a token, its score and the second best score for each step


def test_chains_are_for_devices_and_for_rules_that_need_no_host():
    toy = family(VOCAB)
    ahead, plain = FollowingTable("draft-1", toy.tables["draft-1"]), TableSession("draft-1", toy.tables["draft-1"])
    coupled, rejection = Coupled(LogitsWarper(), GumbelNoise(1, VOCAB)), Rejection(LogitsWarper(), Sampler(1))
    assert isinstance(drafting_alone(ahead, coupled), Chain)
    for session, rule in ((plain, Greedy()), (plain, coupled), (ahead, rejection)):
        assert drafting_alone(session, rule) == Vertical(session, Nothing(), rule)
