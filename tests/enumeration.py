"""All outcomes of random decoding on toy models, each with its probability."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from toy import ToyFamily, after

from csd.decoding.acceptance import Rejection
from csd.decoding.methods import (
    LaneParts,
    Method,
)
from csd.decoding.sampling import LogitsWarper
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence

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


def fits(counts: Counter, probs: dict, total: int) -> bool:
    """Whether the counts fit the distribution: the statistic is within five of its standard deviations."""
    assert set(counts) <= {key for key, chance in probs.items() if chance > 0}
    statistic = sum((counts[key] - total * chance) ** 2 / (total * chance) for key, chance in probs.items())
    degrees = len(probs) - 1
    return statistic < degrees + 5 * math.sqrt(2 * degrees)
