"""Choose k for speculative decoding and prompt lookup, K and lenience for the cascade, the adaptive cascade's prior.

The target's texts for a few prompts are recorded, any method is simulated on them in milliseconds, and the best few of
each kind are run and timed. The fastest of those are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from statistics import median
from typing import TYPE_CHECKING, Generic, TypeVar

from csd.decoding.adaptive.prior import Prior
from csd.decoding.k_matrix import Budgets, from_budgets
from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, Method, PromptLookup, Speculative
from csd.models.messages import Progress, ignore
from csd.record.metrics import geometric_mean, speed
from csd.request.prompts import Prompt
from csd.request.tuned import Tuned
from csd.tuning.priors import acceptance_by_position, count_prior
from csd.tuning.search import search_budgets
from csd.tuning.simulation import simulate
from csd.tuning.transcripts import Transcript, record_transcript, run_method

if TYPE_CHECKING:
    from csd.models.family import Family

DRAFT_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28)
LOOKUPS = (4, 8, 12, 16, 24, 32)
LENIENCES = (1.5, 2.0, 3.0, 5.0)
FINALISTS = 3  # methods of a kind that are run and timed

M_co = TypeVar("M_co", bound=Method, covariant=True)
M = TypeVar("M", bound=Method)


@dataclass(frozen=True)
class Candidate(Generic[M_co]):
    """A method and its speed-up over autoregressive decoding: as simulated, and as measured (None: not run)."""

    method: M_co
    simulated: float
    measured: float | None = None


@dataclass(frozen=True)
class Simulator:
    """Simulates methods on the transcripts of a family. `baseline` holds the autoregressive seconds of each."""

    family: Family
    transcripts: tuple[Transcript, ...]
    baseline: tuple[float, ...]

    @classmethod
    def of(cls, family: Family, transcripts: Sequence[Transcript]) -> Simulator:
        baseline = tuple(simulate(Autoregressive(), transcript, family) for transcript in transcripts)
        return cls(family, tuple(transcripts), baseline)

    def __call__(self, method: M) -> Candidate[M]:
        seconds = [simulate(method, transcript, self.family) for transcript in self.transcripts]
        return Candidate(method, geometric_mean(own / time for own, time in zip(self.baseline, seconds)))


def tune(
    family: Family, prompts: Sequence[Prompt], repeats: int = 3, progress: Progress = ignore
) -> tuple[Tuned, tuple[Candidate[Method], ...]]:
    """The record for a family, and every method that was timed, the autoregressive one first.

    Raises Refusal for prompts that the family cannot run.
    """
    transcripts = []
    for number, prompt in enumerate(prompts, 1):
        progress(f"recording prompt {number} of {len(prompts)}")
        transcripts.append(record_transcript(family, prompt))
    prior = count_prior(transcripts, family.draft_names, family.bigram)
    progress("simulating methods")
    candidates = shortlist(family.draft_names, prior, Simulator.of(family, transcripts))
    timed = time_candidates(family, prompts, candidates, repeats, progress)
    return make_record(family, transcripts, prior, timed), tuple(timed)


def shortlist(drafts: tuple[str, ...], prior: Prior, simulated: Simulator) -> list[Candidate[Method]]:
    """What is worth timing: autoregressive decoding, the best few of each kind, and the adaptive cascade."""
    speculative = [simulated(Speculative(draft, k)) for draft in drafts for k in DRAFT_LENGTHS]
    lookups = [simulated(PromptLookup(k)) for k in LOOKUPS]
    cascades = find_cascades(drafts, speculative, simulated)
    return [
        Candidate(Autoregressive(), 1.0),
        *_best(speculative),
        *_best(cascades),
        *_best(lookups),
        simulated(AdaptiveCascade(drafts, prior=prior)),
    ]


def find_cascades(
    drafts: tuple[str, ...], speculative: Sequence[Candidate[Speculative]], simulated: Simulator
) -> list[Candidate[Cascade]]:
    """The cascades at the tops of the search, and the best of them again with lenient inner reviewers."""

    def cascade(budgets: Budgets) -> Candidate[Cascade]:
        return simulated(Cascade(drafts, from_budgets(budgets)))

    lengths = {}
    for draft in drafts:
        own = [candidate for candidate in speculative if candidate.method.draft == draft]
        lengths[draft] = max(own, key=lambda candidate: candidate.simulated).method.k
    found = [cascade(budgets) for budgets in search_budgets(lengths, lambda budgets: cascade(budgets).simulated)]
    best = max(found, key=lambda candidate: candidate.simulated).method
    return found + [simulated(replace(best, lenience=lenience)) for lenience in LENIENCES if drafts]


def time_candidates(
    family: Family,
    prompts: Sequence[Prompt],
    candidates: Sequence[Candidate[Method]],
    repeats: int,
    progress: Progress = ignore,
) -> list[Candidate[Method]]:
    """Run every candidate on every prompt, taking turns; speed-ups are over the first, which is autoregressive.

    They are geometric means over the prompts of ratios of median speeds.
    """
    speeds: dict[tuple[int, int], list[float]] = {}
    for repeat in range(repeats):
        for number, prompt in enumerate(prompts):
            progress(f"timing {len(candidates)} methods: repeat {repeat + 1} of {repeats}, prompt {number + 1}")
            for i, candidate in enumerate(candidates):
                trace = run_method(family, prompt, candidate.method)
                speeds.setdefault((i, number), []).append(speed(trace))
    medians = {key: median(own) for key, own in speeds.items()}

    def speedup(i: int) -> float:
        return geometric_mean(medians[i, number] / medians[0, number] for number in range(len(prompts)))

    return [replace(candidate, measured=speedup(i)) for i, candidate in enumerate(candidates)]


def make_record(
    family: Family, transcripts: Sequence[Transcript], prior: Prior, timed: Sequence[Candidate[Method]]
) -> Tuned:
    """The fastest method of each kind; `machine` is left empty for the caller to fill in."""
    speculative, lookup = fastest(timed, Speculative), fastest(timed, PromptLookup)
    cascade, adaptive = fastest(timed, Cascade), fastest(timed, AdaptiveCascade)
    if lookup is None or cascade is None:
        raise ValueError("Prompt lookup and the cascade must be among the timed methods.")
    winners = [winner for winner in (speculative, lookup, cascade, adaptive) if winner is not None]
    return Tuned(
        family=family.spec.name,
        device=str(family.device).split(":")[0],
        dtype=family.dtype,
        machine="",
        date=date.today().isoformat(),
        prompts=len(transcripts),
        draft=speculative.method.draft if speculative else "",
        k=speculative.method.k if speculative else 0,
        lookup=lookup.method.k,
        K=cascade.method.K,
        lenience=cascade.method.lenience,
        prior=prior,
        alpha={draft: acceptance_by_position(transcripts, draft) for draft in family.draft_names},
        speedups={winner.method.name: round(winner.measured or 0.0, 3) for winner in winners},
    )


def fastest(timed: Iterable[Candidate[Method]], kind: type[M]) -> Candidate[M] | None:
    """The fastest timed method of a kind."""
    own = [Candidate(one.method, one.simulated, one.measured) for one in timed if isinstance(one.method, kind)]
    return max(own, key=lambda candidate: candidate.measured or 0.0, default=None)


def _best(candidates: Iterable[Candidate[M]]) -> list[Candidate[M]]:
    """The few with the best simulated speed-up, each method once."""
    known = {candidate.method: candidate for candidate in candidates}
    return sorted(known.values(), key=lambda candidate: -candidate.simulated)[:FINALISTS]
