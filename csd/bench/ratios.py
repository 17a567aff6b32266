"""Speed-ups: an entry's speed over another's, over groups of prompts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from csd.decoding.methods import Speculative
from csd.record.metrics import REPEATED_LIMIT, geometric_mean
from csd.record.race import REFERENCE

# What ratios are over: the autoregressive method, the fastest entry that decodes token by token, speculative decoding.
AUTOREGRESSIVE, BEST, SPECULATIVE = REFERENCE, f"best {REFERENCE}", Speculative.name
# Groups of prompts, besides those of each kind.
ALL, NON_REPEATING = "all", f"at most {REPEATED_LIMIT:.0%} repeated"

Speeds = Mapping[int, float]
"""Tokens per second by prompt."""


@dataclass(frozen=True)
class Ratio:
    """Geometric mean and minimum of an entry's speed over that of `against`, over the `count` prompts of a group."""

    entry: str
    against: str
    group: str
    count: int
    mean: float
    lowest: float


def group_prompts(kinds: Sequence[str], repeating: Collection[int]) -> dict[str, list[int]]:
    """The groups of prompts: all, those on which no text repeats itself, and each kind where there are several."""
    everything = range(len(kinds))
    groups = {ALL: list(everything)}
    if repeating:
        groups[NON_REPEATING] = [prompt for prompt in everything if prompt not in repeating]
    names = dict.fromkeys(kinds)
    if len(names) > 1:
        groups |= {name: [prompt for prompt in everything if kinds[prompt] == name] for name in names}
    return groups


def list_ratios(
    speeds: Mapping[str, Speeds], references: Mapping[str, str], groups: Mapping[str, Sequence[int]]
) -> Iterator[Ratio]:
    """Every entry against every reference, `references` being entries by what they stand for, over every group.

    An entry is not compared with itself, nor where the two have no prompt of the group in common.
    """
    for entry, own in speeds.items():
        for against, reference in references.items():
            for group, prompts in groups.items():
                ratios = _ratios(own, speeds.get(reference, {}), prompts)
                if entry != reference and ratios:
                    yield Ratio(entry, against, group, len(ratios), geometric_mean(ratios), min(ratios))


def _ratios(own: Speeds, reference: Speeds, prompts: Sequence[int]) -> list[float]:
    return [own[prompt] / reference[prompt] for prompt in prompts if prompt in own and prompt in reference]
