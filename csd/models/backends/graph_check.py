"""Whether a graph lane computes what the plain forward does: checked for each width before a race uses it."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import PreTrainedModel

from csd.decoding.acceptance import Coupled, Greedy
from csd.decoding.choice import Chooser, CoupledChooser, GreedyChooser
from csd.decoding.noise import GumbelNoise
from csd.decoding.sampling import LogitsWarper
from csd.models.backends.cuda_graphs import WIDTHS, GraphLane
from csd.models.backends.graph_chains import LENGTHS
from csd.models.backends.interface import ForwardFn

LENGTH = 2 * WIDTHS[-1] + 1  # tokens of a text: more than two of the widest passes
STEPS = (7, 11)  # a text counts in such steps through the vocabulary
TOLERANCE = {2: 0.2, 4: 0.01, 8: 0.01}  # by bytes of a number, relative to a row: above rounding, below a wrong row
SEED, START = 1, 16  # for chains: of the noise, and how many tokens they follow
ROWS = 16  # compared at a time: with a vocabulary of 150,000 even these take 10 MB in float32


class PlainLogits:
    """The logits of transformers' forward for two texts of up to `capacity` tokens, and lanes compared with them."""

    @torch.inference_mode()
    def __init__(self, model: PreTrainedModel, capacity: int):
        vocab = model.config.get_text_config().vocab_size
        self._texts = [[step * i % vocab for i in range(min(capacity, LENGTH))] for step in STEPS]
        fed = (torch.tensor([text], device=model.device) for text in self._texts)
        self._rows = [model(input_ids=ids, use_cache=False).logits[0] for ids in fed]

    @torch.inference_mode()
    def agree_at(self, lane: GraphLane, width: int) -> bool:
        """Whether two passes of this width are right: in one text, after another text, and in the first again."""
        return all(
            is_close(lane.run_at(width, part, start)[: len(part)], self._rows[number][start : start + width])
            for number in (0, 1, 0)
            for start in (0, width)
            if (part := self._texts[number][start : start + width])
        )

    @torch.inference_mode()
    def agree(self, run: ForwardFn) -> bool:
        """Whether both texts are read right in one call, which feeds them in several passes."""
        texts = zip(self._texts, self._rows, strict=True)
        return all(is_close(run(text, 0, len(text)), rows) for text, rows in texts)

    @torch.inference_mode()
    def chains_agree(self, lane: GraphLane) -> bool:
        """Whether chains of each length write the tokens that one pass for each writes, chosen by both rules."""
        noise = GumbelNoise(SEED, self._rows[0].shape[-1], self._rows[0].device)
        rules = (Greedy(), GreedyChooser()), (Coupled(LogitsWarper(), noise), CoupledChooser(SEED, 1.0))
        return all(
            self._chain_agrees(lane, text[:START], length, rule, chooser)
            for rule, chooser in rules
            for text in self._texts
            for length in LENGTHS
        )

    def _chain_agrees(
        self, lane: GraphLane, text: list[int], length: int, rule: Greedy | Coupled, chooser: Chooser
    ) -> bool:
        written = [torch.zeros(1, 3, device=self._rows[0].device)]  # token 0 follows the text
        lane.run(text, 0, 1)
        for position in range(len(text) + 1, len(text) + 1 + length):
            written.append(rule.choose(lane.follow(written[-1][0, 0]), position, None).clone())
        lane.run(text, 0, 1)
        chain = lane.follow_chain(written[0][0, 0], length, chooser)
        return chain is not None and torch.equal(chain[:, 0], torch.cat(written[1:])[:, 0])


def is_close(found: Tensor, expected: Tensor) -> bool:
    """Whether rows are equal except for rounding and for a constant added to a row."""
    tolerance = TOLERANCE[found.element_size()]
    return all(map(lambda a, b: _are_near(a, b, tolerance), found.split(ROWS), expected.split(ROWS)))


def _are_near(found: Tensor, expected: Tensor, tolerance: float) -> bool:
    found, expected = (rows.float() - rows.float().mean(-1, keepdim=True) for rows in (found, expected))
    return bool(((found - expected).norm(dim=-1) <= tolerance * expected.norm(dim=-1)).all())
