"""A drafter of your own as a lane: it finishes a phrase from a fixed list as soon as the text has begun one."""

from dataclasses import dataclass
from time import perf_counter

import csd


@dataclass(frozen=True)
class PhraseList(csd.Drafter):
    phrases: tuple[tuple[int, ...], ...]

    def draft(self, sequence, room):
        started = perf_counter()
        rest = next((p[2:] for p in self.phrases if p[:2] == tuple(sequence.since(len(sequence) - 2))), ())
        return csd.statistical_draft("PhraseList", sequence, list(rest[:room]), started)


@dataclass(frozen=True)
class PhraseLookup(csd.Method):
    name = "phrase lookup"
    leaves = ("PhraseList",)
    phrases: tuple[str, ...] = ("Once upon a time, there was a", " lived in a busy little town")

    def build(self, lane):
        phrases = tuple(tuple(lane.encode(phrase)) for phrase in self.phrases)
        return csd.Vertical(lane.target, PhraseList(phrases), lane.rule)


print(csd.race(csd.load(), "Once upon", [csd.Autoregressive(), PhraseLookup()], max_new=64).summary)
