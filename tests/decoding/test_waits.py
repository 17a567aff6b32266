"""On a GPU the host waits once for each review, under every rule, and decides what it decides on a CPU.

A fake GPU counts: tensors that compute on the CPU and say that they are elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import torch
from fake_gpu import Counted, FakeGpuTensor, fake_gpu  # noqa: F401  a fixture
from toy import DRAFTS, family, steps_of

from csd.decoding.acceptance import AcceptanceRule, Coupled, Decision, Greedy, Rejection
from csd.decoding.choice import top_two
from csd.decoding.draft import Draft
from csd.decoding.generate import generate
from csd.decoding.methods import AdaptiveCascade, Cascade, LaneParts, PromptLookup, Speculative, title
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper, Sampler
from csd.decoding.suffix_index import SuffixIndex
from csd.record.trace import Step

VOCAB = 50
FILTERS = [LogitsWarper(0.8), LogitsWarper(0.8, top_k=9), LogitsWarper(1.2, top_p=0.8)]


def rules(on_gpu: bool) -> dict[str, AcceptanceRule]:
    """Every rule; those for the fake GPU keep their numbers there."""
    device = torch.device("cuda:0" if on_gpu else "cpu")
    made: dict[str, AcceptanceRule] = {"greedy": Greedy()}
    for warper in FILTERS:
        noise = GumbelNoise(4, VOCAB)
        if on_gpu:
            noise._strides = FakeGpuTensor(noise._strides)
        made[f"coupled, {warper}"] = Coupled(warper, noise)
        made[f"rejection, {warper}"] = Rejection(warper, Sampler(5, device))
    return made | {f"{name}, lenient": rule.with_lenience(3.0) for name, rule in made.items()}


NAMES = list(rules(on_gpu=False))


def review(n: int, seed: int, point_mass: bool) -> tuple[Draft, torch.Tensor]:
    """A draft of n tokens, most of them likely, and the reviewer's logits."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(n + 1, VOCAB, generator=generator)
    q = (logits[:n] + 0.7 * torch.randn(n, VOCAB, generator=generator)).softmax(-1)
    tokens = tuple(q.argmax(-1).tolist())
    return Draft(tokens, ("d",) * n, None if point_mass else q), logits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, 1, 8])
@pytest.mark.parametrize("point_mass", [True, False])
def test_one_wait_per_review(fake_gpu: Counted, name: str, n: int, point_mass: bool):  # noqa: F811
    on_gpu = rules(on_gpu=True)[name]
    draft, logits = review(n, 1, point_mass)
    moved = Draft(draft.tokens, draft.authors, None if draft.q is None else FakeGpuTensor(draft.q))
    logits = FakeGpuTensor(logits)
    fake_gpu.reset()
    decision = on_gpu.launch(moved, logits, 7)
    assert decision.waits and fake_gpu.waits == 0, "launching waits for nothing"
    # Drafted tokens, and positions of new noise or a point mass and now and then a block of uniform numbers.
    assert fake_gpu.uploads <= 3
    result = decision.fetch()
    assert fake_gpu.waits == 1
    assert fake_gpu.kernels <= {"greedy": 9, "coupled": 50, "rejection": 70}[name.split(",")[0]]  # none for each token
    assert len(result.p_drafted) in (0, n) and 0 <= result.accepted <= n


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("point_mass", [True, False])
def test_a_gpu_decides_as_a_cpu_does(fake_gpu: Counted, monkeypatch, name: str, point_mass: bool):  # noqa: F811
    on_gpu = rules(on_gpu=True)[name]
    drafts = [review(n, seed, point_mass) for n in (0, 1, 5, 8) for seed in range(6)]
    found = [
        on_gpu.launch(
            Draft(draft.tokens, draft.authors, None if draft.q is None else FakeGpuTensor(draft.q)),
            FakeGpuTensor(logits), at,
        ).fetch()
        for at, (draft, logits) in enumerate(drafts)
    ]  # fmt: skip
    monkeypatch.undo()  # the CPU's own copies
    on_cpu = rules(on_gpu=False)[name]
    for at, (draft, logits) in enumerate(drafts):
        want, got = on_cpu.launch(draft, logits, at).fetch(), found[at]
        assert (got.accepted, got.token) == (want.accepted, want.token)
        assert got.margin == pytest.approx(want.margin, abs=1e-9)
        assert got.p_drafted == want.p_drafted and got.q_drafted == want.q_drafted
        assert (got.q is None) == (want.q is None)
        if want.q is not None:
            assert torch.equal(got.q.held, want.q)
    assert {result.accepted for result in found} > {0, 1}  # rejections at several places


def test_a_choice_made_in_the_pass_leaves_only_its_transfer(fake_gpu: Counted):  # noqa: F811
    draft, logits = review(8, 2, point_mass=True)
    choice = top_two(logits)
    fake_gpu.reset()
    result = Greedy().launch(draft, FakeGpuTensor(logits), 3, FakeGpuTensor(choice)).fetch()
    assert (fake_gpu.waits, fake_gpu.uploads) == (1, 0) and fake_gpu.kernels <= 2
    alone = Greedy().launch(draft, logits, 3).fetch()
    assert (result.accepted, result.token, result.margin) == (alone.accepted, alone.token, alone.margin)


@dataclass
class Slow:
    """The greedy rule on a device that takes its time. `seen` holds what the index knew whenever the host waited."""

    index: SuffixIndex
    seen: list[tuple[list[int], list[int]]]
    lenience: float = 1.0

    def launch(self, draft, logits, start, choice=None) -> Decision:
        decision = Greedy(self.lenience).launch(draft, logits, start, choice)

        def fetch():
            self.seen.append((self.index.tokens[start : start + len(draft)], list(draft.tokens)))
            return decision.fetch()

        return Decision(fetch, waits=True)

    def with_lenience(self, lenience: float) -> Slow:
        return replace(self, lenience=lenience)


METHODS = [
    PromptLookup(4),
    Speculative(DRAFTS[0], 3),
    Cascade(DRAFTS[:2], ((2, 4, 9), (0, 2, 5), (0, 0, 4)), lenience=3.0),
    AdaptiveCascade(DRAFTS, lenience=3.0),
]


@pytest.mark.parametrize("method", METHODS, ids=title)
def test_the_guess_is_indexed_while_the_device_computes(method):
    """Where the method uses Max-Gram, the index holds each draft before its review is known; the text stays the same."""
    toy = family(6, seed=3, noises=(0.3, 0.6, 1.0))
    prompt = (1, 2, 3, 1, 2)
    sessions = {name: toy.session(name, 100) for name in method.models()}
    index = SuffixIndex()
    rule = Slow(index, [])
    root = method.build(LaneParts(sessions, rule, index))
    slow = [one for one in generate(root, [index, *sessions.values()], prompt, 60) if isinstance(one, Step)]
    quick = steps_of(toy, method, prompt, 60)
    assert [(step.tokens, step.authors, step.review.accepted) for step in slow] == [
        (step.tokens, step.authors, step.review.accepted) for step in quick
    ]
    drafts = [(indexed, drafted) for indexed, drafted in rule.seen if drafted]
    if method.leaves:
        assert len(drafts) > 10 and all(indexed == drafted for indexed, drafted in drafts)
