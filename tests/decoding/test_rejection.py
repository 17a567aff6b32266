"""The rejection rule: the exact distribution of the text for trees of every shape, by enumerating all random outcomes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import DRAFTS, TableSession, ToyFamily, after, family, steps_of, table, text_of

from csd.decoding import acceptance as accept
from csd.decoding.acceptance import Rejection, emitted_probs, residual_probs
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Draft, Nothing
from csd.decoding.maxgram import MaxGram
from csd.decoding.methods import (
    AdaptiveCascade,
    Autoregressive,
    Cascade,
    HorizontalCascade,
    LaneParts,
    Method,
    PromptLookup,
    Speculative,
    VerticalCascade,
    title,
)
from csd.decoding.sampling import LogitsWarper, Sampler
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence

ALL = LogitsWarper()
NEGLIGIBLE = 1e-15  # probabilities below this are rounding errors


@dataclass
class PathSampler:
    """A sampler that follows a given path of choices, then takes the first option of each new one and notes the others."""

    path: tuple[int, ...]
    others: list[tuple[int, ...]]
    chance: float = 1.0
    taken: list[int] = field(default_factory=list)

    def accepts(self, chances: torch.Tensor) -> torch.Tensor:
        """One choice for each toss up to the first rejection. The rule must not look at those after it."""
        tosses: list[int] = []
        for chance in chances.tolist():
            tosses.append(self._choose((1 - chance, chance)) if all(tosses) else len(self.taken) % 2)
        return torch.tensor(tosses, dtype=torch.bool)

    def draw(self, probs: torch.Tensor) -> torch.Tensor:
        return torch.tensor([self._choose((probs / probs.sum()).tolist())])

    def _choose(self, chances) -> int:
        step = len(self.taken)
        if step < len(self.path):
            choice = self.path[step]
        else:
            options = [option for option, chance in enumerate(chances) if chance > NEGLIGIBLE]
            choice = options[0]
            self.others += [(*self.taken, option) for option in options[1:]]
        self.taken.append(choice)
        self.chance *= chances[choice]
        return choice


def outcomes(run: Callable[[PathSampler], object]) -> Iterator[tuple[float, object]]:
    """Everything that `run` can return, each with its probability."""
    todo: list[tuple[int, ...]] = [()]
    while todo:
        sampler = PathSampler(todo.pop(), todo)
        result = run(sampler)
        yield sampler.chance, result


def text_probs(
    toy: ToyFamily,
    method: Method,
    warper: LogitsWarper,
    prompt: tuple[int, ...],
    count: int,
    max_new: int,
    eos: frozenset[int],
) -> dict[tuple[int, ...], float]:
    """The distribution of the first `count` tokens that the real loop generates."""

    def run(sampler: PathSampler) -> tuple[int, ...]:
        sessions = {name: toy.session(name, len(prompt) + max_new) for name in method.models()}
        root = method.build(LaneParts(sessions, Rejection(warper, sampler), SuffixIndex(), toy.bigram))
        text = TokenSequence(list(prompt), eos=eos)
        while len(text) < len(prompt) + count and not (len(text) > len(prompt) and text.committed[-1] in eos):
            text.commit(root.draft(text, len(prompt) + max_new - len(text)).tokens)
        toy.opened.clear()
        return tuple(text.committed[len(prompt) :][:count])

    probs: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for chance, result in outcomes(run):
        probs[result] += chance
    return probs


def target_probs(
    toy: ToyFamily, warper: LogitsWarper, prompt: tuple[int, ...], count: int, eos: frozenset[int]
) -> dict[tuple[int, ...], float]:
    """The distribution of sampling from the target alone, enumerated."""
    probs = {(): 1.0}
    for _ in range(count):
        grown: dict[tuple[int, ...], float] = {}
        for text, chance in probs.items():
            if text and text[-1] in eos:
                grown[text] = chance
                continue
            row = warper(after(toy.tables["target"], prompt + text)[None])[0].softmax(-1).tolist()
            grown |= {(*text, token): chance * p for token, p in enumerate(row) if p > 0}
        probs = grown
    return probs


def distance(one: dict, other: dict) -> float:
    return max(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in one.keys() | other.keys())


@dataclass(frozen=True)
class Case:
    """A tree and the setting it runs in. `eos`, `contexts` and filters make the edge cases."""

    method: Method
    vocab: int = 3
    count: int = 2
    max_new: int = 12
    warper: LogitsWarper = ALL
    prompt: tuple[int, ...] = (0, 1, 2, 0, 1)  # Max-Gram finds a match in it
    bigram: bool = False
    eos: frozenset[int] = frozenset()
    contexts: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return title(self.method)

    def toy(self, seed: int) -> ToyFamily:
        return family(self.vocab, seed, (1.0, 1.5, 2.0), dict(self.contexts), bigram=self.bigram, sharp=1.0)


TWO, THREE = DRAFTS[:2], DRAFTS
PAIRS = LogitsWarper(top_k=2)  # keeps the number of outcomes of deep trees small
SHAPES = [
    Case(Autoregressive(), vocab=4, count=3),
    Case(Speculative("draft-3", 1), vocab=4, count=3),
    Case(Speculative("draft-3", 3)),
    Case(PromptLookup(4), vocab=4, count=3),
    Case(PromptLookup(3), vocab=4, count=3, prompt=(3,), bigram=True),
    Case(VerticalCascade(("draft-3",), (3, 2)), warper=PAIRS),
    Case(Cascade(("draft-3",), ((1, 4), (0, 2)))),  # and horizontal
    Case(Cascade(("draft-3",), ((2, 4), (0, 0)))),  # the draft writes alone, then Max-Gram
    Case(VerticalCascade(TWO, (2, 1, 1)), warper=PAIRS, count=3),
    Case(HorizontalCascade(TWO, (1, 2, 4)), count=3),
    Case(Cascade(TWO, ((1, 2, 3), (0, 1, 2), (0, 0, 1)))),
    Case(VerticalCascade(THREE, (1, 1, 1, 1)), warper=PAIRS),
    Case(Cascade(THREE, ((1, 2, 2, 3), (0, 1, 1, 2), (0, 0, 1, 2), (0, 0, 0, 1))), warper=PAIRS),
    Case(AdaptiveCascade(()), vocab=4, count=3),
    Case(AdaptiveCascade(("draft-3",)), max_new=5, warper=PAIRS, count=3),
    Case(AdaptiveCascade(TWO), max_new=5, warper=PAIRS),
]
EDGES = [
    Case(Cascade(("draft-3",), ((3, 3), (0, 2))), count=3, max_new=3),  # the room cuts drafts
    Case(Cascade(("draft-3",), ((1, 4), (0, 2))), count=3, eos=frozenset({2})),  # EOS inside drafts
    Case(Cascade(("draft-3",), ((1, 4), (0, 2))), count=3, eos=frozenset({0, 2})),
    Case(Cascade(("draft-3",), ((3, 5), (0, 2))), count=3, contexts=(("draft-3", 6),)),  # a context that fills up
    Case(VerticalCascade(TWO, (2, 1, 1)), contexts=(("draft-2", 5),)),
    Case(Cascade(("draft-3",), ((2, 4), (0, 2))), vocab=4, count=3, warper=LogitsWarper(0.7, top_k=2)),
    Case(Cascade(("draft-3",), ((2, 4), (0, 2))), vocab=4, warper=LogitsWarper(1.3, top_p=0.75)),
]
STRICT_AND_LENIENT = [
    case if lenience == 1 else replace(case, method=replace(case.method, lenience=lenience))
    for case in chain(SHAPES, EDGES)
    for lenience in ((1.0, 3.0) if hasattr(case.method, "lenience") else (1.0,))
]


@pytest.mark.slow
@pytest.mark.parametrize("case", STRICT_AND_LENIENT, ids=str)
def test_the_text_has_exactly_the_distribution_of_the_target(case):
    toy = case.toy(1)
    probs = text_probs(toy, case.method, case.warper, case.prompt, case.count, case.max_new, case.eos)
    assert math.isclose(sum(probs.values()), 1, abs_tol=1e-9)
    assert distance(probs, target_probs(toy, case.warper, case.prompt, case.count, case.eos)) < 1e-9


def test_using_p_as_the_emitted_distribution_is_wrong(monkeypatch):
    """The control: with the reviewer's p instead of E, as Algorithm 1 suggests, lenience 3 changes the distribution."""
    case = Case(Cascade(("draft-3",), ((2, 2), (0, 2)), lenience=3.0))
    monkeypatch.setattr(accept, "emitted_probs", lambda p, q, lenience: p)
    toy = case.toy(1)
    probs = text_probs(toy, case.method, case.warper, case.prompt, case.count, case.max_new, case.eos)
    assert math.isclose(sum(probs.values()), 1, abs_tol=1e-9)
    assert distance(probs, target_probs(toy, case.warper, case.prompt, case.count, case.eos)) > 0.01


def test_using_q_as_the_emitted_distribution_is_wrong(monkeypatch):
    case = Case(Cascade(("draft-3",), ((2, 2), (0, 2)), lenience=3.0))
    monkeypatch.setattr(accept, "emitted_probs", lambda p, q, lenience: q)
    toy = case.toy(1)
    probs = text_probs(toy, case.method, case.warper, case.prompt, case.count, case.max_new, case.eos)
    assert distance(probs, target_probs(toy, case.warper, case.prompt, case.count, case.eos)) > 0.01


def drafters(sampler, lenience: float):
    """The kinds of drafter that trees are made of, over one set of toy models."""
    toy = family(3, 7, (1.0, 1.5), sharp=1.0)
    strong, weak = (TableSession(name, toy.tables[name]) for name in TWO)
    rule = Rejection(LogitsWarper(), sampler, lenience)
    leaf = MaxGram(SuffixIndex(), 3)
    single = Vertical(weak, Nothing(), rule)
    over_copy = Vertical(weak, Horizontal(((leaf, 2),)), rule)
    return {
        "a draft alone": single,
        "a draft over Max-Gram": over_copy,
        "several rounds of that": Horizontal(((over_copy, 3),)),
        "a stage of each kind": Horizontal(((over_copy, 1), (single, 1), (leaf, 2))),
        "a draft over a draft": Vertical(strong, Horizontal(((single, 2),)), rule),
        "a draft over a draft over Max-Gram": Vertical(strong, Horizontal(((over_copy, 2),)), rule),
        "a draft over a mixed draft": Vertical(strong, Horizontal(((single, 1), (leaf, 3))), rule),
    }


@pytest.mark.parametrize("lenience", [1.0, 3.0])
@pytest.mark.parametrize("kind", list(drafters(None, 1.0)))
def test_q_is_the_distribution_that_each_token_was_drawn_from(kind, lenience):
    """Position by position: among all outcomes with the same prefix, a token is distributed as its row of q says.

    The row may depend on earlier events (which round wrote the token), so outcomes are grouped by their row as well.
    """
    prompt = (0, 1, 2, 0, 1)

    def run(sampler: PathSampler) -> Draft:
        return drafters(sampler, lenience)[kind].draft(TokenSequence(list(prompt)), 12)

    seen: defaultdict[tuple, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    total = 0.0
    for chance, draft in outcomes(run):
        total += chance
        rows = draft.probs(torch.zeros(1, 3, dtype=torch.float64)).tolist()
        assert len(rows) == len(draft.tokens) >= 1
        for position, (token, row) in enumerate(zip(draft.tokens, rows)):
            assert math.isclose(sum(row), 1, abs_tol=1e-12)
            key = (draft.tokens[:position], tuple(round(x, 9) for x in row))
            seen[key][token] += chance
    assert math.isclose(total, 1, abs_tol=1e-9)
    for (_, row), counts in seen.items():
        mass = sum(counts.values())
        assert all(abs(counts[token] / mass - x) < 1e-6 for token, x in enumerate(row))


@st.composite
def distributions(draw, vocab: int = 5):
    """p and q, with zeros in either, sometimes equal."""
    rows = []
    for _ in range(2):
        weights = draw(st.lists(st.sampled_from((0.0, 0.01, 0.3, 1.0, 7.0)), min_size=vocab, max_size=vocab))
        weights[draw(st.integers(0, vocab - 1))] += 1
        rows.append(torch.tensor([weights], dtype=torch.float64) / sum(weights))
    return rows if draw(st.booleans()) else [rows[0], rows[0].clone()]


@settings(max_examples=200, deadline=None)
@given(distributions(), st.sampled_from((1.0, 1.5, 3.0, 100.0)))
def test_emitted_probs_are_those_of_a_review_of_one_token(pair, lenience):
    """E against an enumeration of the rule itself, and in its limits: p at l = 1, q at l = infinity."""
    p, q = pair
    probs = defaultdict(float)
    for x, chance in enumerate(q[0].tolist()):
        if chance:
            draft = Draft((x,), ("d",), q)
            logits = torch.cat([p, p]).log()

            def review(sampler, draft=draft, logits=logits):
                return Rejection(LogitsWarper(), sampler, lenience).launch(draft, logits, 0).fetch()

            for part, result in outcomes(review):
                probs[x if result.accepted else result.token] += chance * part
                assert len(result.q) == result.accepted + 1
    E = emitted_probs(p, q, lenience)[0]
    assert max(abs(probs[x] - E[x]) for x in range(5)) < 1e-9
    assert (emitted_probs(p, q, 1.0) - p).abs().max() < 1e-12
    if not ((p == 0) & (q > 0)).any():  # a token that the reviewer never emits is rejected at any lenience
        assert (emitted_probs(p, q, 1e300) - q).abs().max() < 1e-9
    assert math.isclose(residual_probs(p, q).sum(), 1, abs_tol=1e-12)


def test_the_result_records_p_and_q_of_each_proposed_token():
    p = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]], dtype=torch.float64)
    q = torch.tensor([[0.2, 0.6, 0.2], [0.3, 0.4, 0.3]], dtype=torch.float64)

    class ScriptedSampler:
        def __init__(self, *tosses):
            self.tosses, self.asked, self.drawn_from = torch.tensor(tosses), [], []

        def accepts(self, chances):
            self.asked += chances.tolist()
            return self.tosses

        def draw(self, probs):
            self.drawn_from.append(probs.tolist())
            return probs.argmax(-1, keepdim=True)

    sampler = ScriptedSampler(True, False)
    result = Rejection(LogitsWarper(), sampler).launch(Draft((1, 2), ("d", "d"), q), p.log(), 9).fetch()
    assert sampler.asked == pytest.approx([0.5, 1 / 3])
    assert sampler.drawn_from[0] == pytest.approx([0, 1, 0])
    assert (result.accepted, result.token) == (1, 1)
    assert result.p_drafted == pytest.approx((0.3, 0.1)) and result.q_drafted == pytest.approx((0.6, 0.3))
    assert result.margin == pytest.approx(math.log(0.8 / 0.1))  # of the scores, as under the other rules
    # Fully accepted: the bonus comes from the last row of p.
    sampler = ScriptedSampler(True, True)
    result = Rejection(LogitsWarper(), sampler).launch(Draft((1, 2), ("d", "d"), q), p.log(), 9).fetch()
    assert sampler.drawn_from == [pytest.approx([0.2, 0.2, 0.6])] and result.accepted == 2 and len(result.q) == 3


def test_the_sampler_draws_by_weight_and_never_an_impossible_token():
    sampler = Sampler(3)
    probs = torch.tensor([0.0, 2.0, 0.0, 1.0, 1.0, 0.0])  # not normalized
    counts = Counter(int(sampler.draw(probs)) for _ in range(4000))
    assert set(counts) == {1, 3, 4}
    assert fits(counts, {1: 0.5, 3: 0.25, 4: 0.25}, 4000)
    assert {int(Sampler(seed).draw(torch.tensor([0.0, 0.0, 5.0]))) for seed in range(20)} == {2}
    assert 0.45 < sampler.accepts(torch.full((4000,), 0.5)).double().mean() < 0.55
    assert sampler.accepts(torch.ones(1000)).all() and not sampler.accepts(torch.zeros(1000)).any()
    assert [Sampler(1).draw(torch.ones(50)) for _ in range(3)] == [Sampler(1).draw(torch.ones(50))] * 3


def fits(counts: Counter, probs: dict, total: int) -> bool:
    """Whether the counts fit the distribution: the statistic is within five of its standard deviations."""
    assert set(counts) <= {key for key, chance in probs.items() if chance > 0}
    statistic = sum((counts[key] - total * chance) ** 2 / (total * chance) for key, chance in probs.items())
    degrees = len(probs) - 1
    return statistic < degrees + 5 * math.sqrt(2 * degrees)


@pytest.mark.slow
def test_the_real_sampler_gives_the_distribution_too():
    """A second check, with the sampler that races use: pairs of tokens through the real loop."""
    case = Case(Cascade(TWO, ((1, 2, 3), (0, 1, 2), (0, 0, 1)), lenience=3.0))
    toy, total, sampler = case.toy(3), 3000, Sampler(2024)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(total):
        steps = steps_of(toy, case.method, case.prompt, 3, Rejection(LogitsWarper(), sampler))
        counts[text_of(steps)[:2]] += 1
        toy.opened.clear()
    probs = target_probs(toy, LogitsWarper(), case.prompt, 2, frozenset())
    assert fits(counts, probs, total)
    wrong = target_probs(family(3, 4, sharp=1.0), LogitsWarper(), case.prompt, 2, frozenset())
    assert not fits(counts, wrong, total)  # the test can fail


def test_the_toy_table_has_no_accidental_symmetry():
    """The toy distributions differ between contexts, so a row taken at the wrong position is noticed."""
    rows = table(3, 1, 1.0).softmax(-1).reshape(-1, 3)
    assert (rows[None] - rows[:, None]).abs().sum(-1).add(torch.eye(9)).min() > 1e-3
