"""What a pass, a review and a draft cost in operations, launches, waits and bytes, at the shapes of `csd bench --scale`.

Counted, not timed, and without a GPU: see `gpu.counting`. Passes are counted as they are captured, not compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from csd.bench.enlarge import SHAPES, Shape
from csd.decoding.acceptance import AcceptanceRule, Coupled, Greedy, Rejection
from csd.decoding.chain import drafting_alone
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Draft, Drafter, Nothing
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper, Sampler
from csd.decoding.tokens import TokenSequence
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane, forward
from csd.models.session import FollowingSession
from csd.paths import ROOT
from gpu.counting import Counting, Counts, counted
from gpu.figures import Figure, Figures

SLOTS, CACHED = 1024, 200  # of a lane that is kept ready; the text in it
CONTEXT = SLOTS - WIDTHS[-1]
MODELS = SHAPES["7B"]
DEVICE = torch.device("meta")
RULES: dict[str, Callable[[int], AcceptanceRule]] = {
    "greedy": lambda vocab: Greedy(),
    "coupled": lambda vocab: Coupled(LogitsWarper(0.8), GumbelNoise(1, vocab, DEVICE)),
    "coupled, top-p": lambda vocab: Coupled(LogitsWarper(0.8, top_p=0.9), GumbelNoise(1, vocab, DEVICE)),
    "rejection": lambda vocab: Rejection(LogitsWarper(0.8), Sampler(1, DEVICE)),
}
CHAINS, PASSES, ROUNDS = "chains", "a launch for each", "a wait for each"
WAYS = {
    "greedy": (CHAINS, PASSES, ROUNDS),
    "coupled": (CHAINS, PASSES, ROUNDS),
    "coupled, top-p": (PASSES, ROUNDS),
    "rejection": (ROUNDS,),
}
"""How a draft model writes several tokens: with chains, with a launch for each token, with a review for each."""


def main(device: str, path: Path) -> None:
    figures = Figures(path)
    for name, shape in MODELS.items():
        what = f"pass of the {shape.name} model"
        figures.measure(what, partial(_pass_figure, what, name, shape))
    for rule, ways in WAYS.items():
        for n in (0, 8):
            what = f"review of {n} tokens, {rule}"
            figures.measure(what, partial(_review_figure, what, rule, n))
        for way in ways:
            what = f"draft of 8 tokens by the 68M model, {rule}, {way}"
            figures.measure(what, partial(_draft_figure, what, rule, way))


def count_pass(name: str, shape: Shape, width: int) -> Counts:
    """One pass, with the greedy choice of its tokens."""
    with counted() as counting:
        run = open_lane(load(name, shape), counting, (width,)).passes[width]
        counting.counts = Counts()
        run()
        return counting.counts


def count_review(rule: str, n: int) -> Counts:
    """A pass over `n` drafted tokens and the token before them, and the decision; of a model of one layer."""
    with counted() as counting:
        model = load("target", replace(MODELS["target"], layers=1))
        session = open_session(open_lane(model, counting))
        reviewer, text = Vertical(session, Drafted(n), RULES[rule](model.config.vocab_size)), text_read()
        for _ in range(2):  # the second one is counted: a text begins, and random numbers are fetched in blocks
            session.logits(text, len(text))
            text.commit([1])
            counting.counts = Counts()
            reviewer.draft(text, 100)
        return counting.counts


def count_draft(rule: str, length: int, way: str) -> Counts:
    """A draft of the 68M model after one token that it has not read, as a review leaves it."""
    with counted() as counting:
        model = load("tiny", MODELS["tiny"])
        lane, chosen = open_lane(model, counting), RULES[rule](model.config.vocab_size)
        if way == CHAINS:
            lane.record_chains(forward)
        session, text = open_session(lane), text_read()
        drafter: Drafter = Vertical(session, Nothing(), chosen) if way == ROUNDS else drafting_alone(session, chosen)
        for _ in range(2):
            session.logits(text, len(text))
            text.commit([1])
            counting.counts = Counts()
            Horizontal(((drafter, length),)).draft(text, length)
            text.commit([1] * length)
        return counting.counts


def bytes_of_pass(name: str, shape: Shape) -> tuple[int, int]:
    """The weights that a pass reads, of the embedding table a row only, and the keys and values, padding included."""
    with counted() as counting:
        model = load(name, shape)
        lane = open_lane(model, counting, ())
        weights = sum(one.nbytes for one in model.parameters())
        table = 0 if model.config.tie_word_embeddings else model.get_input_embeddings().weight.nbytes
        return weights - table, sum(one.nbytes for one in (*lane._keys, *lane._values))


def load(name: str, shape: Shape) -> PreTrainedModel:
    """A model of the embedded family at another shape, on the meta device."""
    config = AutoConfig.from_pretrained(ROOT / "assets" / "family" / name)
    config.update(
        {
            "hidden_size": shape.hidden,
            "intermediate_size": shape.intermediate,
            "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads,
            "num_key_value_heads": shape.kv_heads,
        }
    )
    with DEVICE:
        made = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="sdpa")
    return made.eval().requires_grad_(False)


def open_lane(model: PreTrainedModel, counting: Counting, widths: tuple[int, ...] = WIDTHS) -> GraphLane:
    lane = GraphLane(model, SLOTS, CONTEXT - 1, counting)
    for width in widths:
        lane.record(width, forward)
    return lane


def open_session(lane: GraphLane) -> FollowingSession:
    lane.release = lambda: None
    return FollowingSession("it", lane, lane._model.config.vocab_size, CONTEXT)


def text_read() -> TokenSequence:
    return TokenSequence([0] * CACHED)


@dataclass(frozen=True)
class Drafted(Drafter):
    """A draft of `n` tokens that costs nothing."""

    n: int

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        return Draft((0,) * self.n, ("it",) * self.n)


def _pass_figure(what: str, name: str, shape: Shape) -> Figure:
    """All layers are alike, so two counts give that of any number."""
    one, two = (count_pass(name, replace(shape, layers=layers), 1).captured for layers in (1, 2))
    weights, cache = (size / 1e9 for size in bytes_of_pass(name, shape))
    told = f"{two - one} a layer; reads {weights:.3g} GB of weights and {cache:.2g} GB of keys and values"
    return Figure(what, one + (shape.layers - 1) * (two - one), "operations", told)


def _review_figure(what: str, rule: str, n: int) -> Figure:
    found = count_review(rule, n)
    told = f"one is the pass; {found.uploads} copies to the device, {found.waits} wait"
    return Figure(what, found.graphs + found.launches, "launches", told)


def _draft_figure(what: str, rule: str, way: str) -> Figure:
    found = count_draft(rule, 8, way)
    graphs = f"{found.graphs} are graphs, with {found.captured} operations"
    told = f"{graphs}; {found.uploads} copies to the device, {found.waits} waits"
    return Figure(what, found.graphs + found.launches, "launches", told)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
