"""Chooses how to decode, per family and device: k for speculative decoding, K and lenience for the cascade, and the prior
of the adaptive one.

Measured are the target's texts on a handful of prompts, what every model would say at each place of them (a tape), and what
a run costs at every width. Any tree is then played on the tapes in milliseconds, without a model; the best few are run and
timed, and the fastest of them is kept.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import log
from statistics import median
from typing import TYPE_CHECKING

from csd.decoding.adaptive.prior import AGREED, ANY, GENERAL, MARGINS, Prior
from csd.decoding.draft import Draft
from csd.decoding.generate import generate
from csd.decoding.k_matrix import LONGEST_DRAFT, Matrix, from_budgets, to_budgets
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, LaneParts, Method, PromptLookup, Speculative
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.record.metrics import geometric_mean, speed
from csd.request.prompts import Prompt
from csd.request.tuned import Tuned
from csd.run import LaneFinished, Request, run_race

if TYPE_CHECKING:
    from csd.decoding.acceptance import Acceptance
    from csd.models.family import Family

KEPT = 4  # best scores kept at each place of a tape: a lenient reviewer may take any of them
KS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28)
LOOKUPS = (4, 8, 12, 16, 24, 32)
LENIENCES = (1.5, 2.0, 3.0, 5.0)
STEPS = (1, -1, 2, -2, 4, -4)  # by which an entry of K is changed in the search
TURNS = 120  # trees played at most from one starting point
FINALISTS = 3  # methods of a kind that are run and timed
DEEPEST = 16  # positions of a block for which alpha is reported
RAREST = 0.005  # nothing is expected to be rarer, or its opposite
PSEUDO = 4.0  # tokens that the general prior weighs against what was counted

Row = tuple[tuple[int, ...], tuple[float, ...]]
"""The best ids at a place, best first, and how far the score of each is below the best."""


@dataclass(frozen=True)
class Tape:
    """The target's text after a prompt, and each model's best scores at every place of it, as if it had come so far."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    rows: Mapping[str, tuple[Row, ...]]


@dataclass(frozen=True)
class Candidate:
    """A method, and its speed over autoregressive decoding: as played on the tapes, and as measured (None: not run)."""

    method: Method
    played: float
    measured: float | None = None


def tune(
    family: Family, prompts: Sequence[Prompt], repeats: int = 3, progress: Callable[[str], None] = lambda sentence: None
) -> tuple[Tuned, tuple[Candidate, ...]]:
    """The record for a family, and every method that was run, the autoregressive one first.

    Raises Refusal for prompts that the family cannot run.
    """
    drafts = family.draft_names
    tapes = []
    for number, prompt in enumerate(prompts, 1):
        progress(f"reading prompt {number} of {len(prompts)}")
        tapes.append(taped(family, prompt, drafts))
    prior = counted(tapes, drafts, family.bigram)
    progress("playing trees")
    alone = [seconds(Autoregressive(), tape, family) for tape in tapes]

    def played(method: Method) -> Candidate:
        times = [seconds(method, tape, family) for tape in tapes]
        return Candidate(method, geometric_mean(own / time for own, time in zip(alone, times)))

    guesses = [played(Speculative(draft, k)) for draft in drafts for k in KS]
    lookups = [played(PromptLookup(k)) for k in LOOKUPS]
    cascades = [*_searched(drafts, guesses, played)]
    best = max(cascades, key=lambda found: found.played)
    cascades += [played(replace(best.method, lenience=lenience)) for lenience in LENIENCES if drafts]
    finalists = [
        Candidate(Autoregressive(), 1.0),
        *(found for kind in (guesses, cascades, lookups) for found in _best(kind)),
        played(AdaptiveCascade(drafts, prior)),
    ]
    ran = _run(family, prompts, finalists, repeats, progress)
    fastest = {name: _fastest(ran, name) for name in ("speculative", "prompt lookup", "cascade", "adaptive cascade")}
    guess, cascade = fastest["speculative"], fastest["cascade"]
    record = Tuned(
        family=family.spec.name,
        device=str(family.device).split(":")[0],
        dtype=family.dtype,
        machine="",
        date=date.today().isoformat(),
        prompts=len(prompts),
        draft=guess.method.draft if guess else "",
        k=guess.method.k if guess else 0,
        lookup=fastest["prompt lookup"].method.k,
        K=cascade.method.K,
        lenience=cascade.method.lenience,
        prior=prior,
        alpha={draft: alpha(tapes, draft) for draft in drafts},
        speedups={name: round(found.measured, 3) for name, found in fastest.items() if found},
    )
    return record, tuple(ran)


# --- tapes -------------------------------------------------------------------------------------------------------------


def taped(family: Family, prompt: Prompt, drafts: Sequence[str]) -> Tape:
    """Let the target write, then ask every model for its scores along the text."""
    from csd.decoding.sampling import GumbelNoise, LogitsWarper

    method = Speculative(drafts[0], 8) if drafts else Autoregressive()
    trace = _trace(family, prompt, method)
    start, ids, rows = len(trace.header.prompt), trace.header.prompt + trace.tokens, {}
    chosen, noise = LogitsWarper(prompt.temperature or 1.0), GumbelNoise(prompt.seed, family.vocab, family.device)
    for level in family.levels:
        if len(ids) > family.contexts[level.name]:
            continue
        session = family.session(level.name, len(ids))
        text = TokenSequence(list(trace.header.prompt))
        session.prefill(text)
        scores = session.logits(text + trace.tokens, start)
        if prompt.temperature:
            scores = chosen(scores) + noise.rows(start, len(scores))
        best = scores.topk(min(KEPT, scores.shape[-1]), dim=-1)
        gaps = (best.values[:, :1] - best.values).tolist()
        rows[level.name] = tuple(zip(map(tuple, best.indices.tolist()), map(tuple, gaps)))
        session.close()
    return Tape(trace.header.prompt, trace.tokens, rows)


@dataclass(frozen=True)
class _Rows:
    """Rows of a tape where a session expects logits."""

    rows: tuple[Row, ...]

    def __getitem__(self, cut) -> _Rows:
        return self


@dataclass(frozen=True)
class _Recall:
    """A rule of acceptance over rows of a tape: what the greedy and the coupled rule do with the logits behind them."""

    lenience: float = 1.0

    def __call__(self, draft: Draft, logits: _Rows, start: int) -> Acceptance:
        from csd.decoding.acceptance import Acceptance

        allowed = log(self.lenience)
        accepted = 0
        for token, (ids, gaps) in zip(draft.tokens, logits.rows):
            if token not in ids or gaps[ids.index(token)] > allowed:
                break
            accepted += 1
        ids, gaps = logits.rows[accepted]
        return Acceptance(accepted, ids[0], gaps[1] if len(gaps) > 1 else None)

    def with_lenience(self, lenience: float) -> _Recall:
        return replace(self, lenience=lenience)


def seconds(method: Method, tape: Tape, family: Family) -> float:
    """What a method would take on a tape, by the family's costs.

    Where a draft has left the target's text, its next choices are taken from the tape at the same places: the tokens there
    are lost in any case, only their number counts.
    """
    from csd.models.session import Session

    spent = 0.0
    start, end = len(tape.prompt), len(tape.prompt) + len(tape.tokens)

    def replayed(name: str) -> Session:
        cost = family.costs[name]

        def run(ids: list[int], keep: int, rows: int) -> _Rows:
            nonlocal spent
            spent += cost[min(len(ids), len(cost)) - 1]
            first = keep + len(ids) - rows + 1 - start
            own = tape.rows[name]
            return _Rows(tuple(own[min(place, len(own) - 1)] for place in range(first, first + rows)))

        return _Unread(name, run, family.vocab, family.contexts[name], cost)

    class _Unread(Session):
        def prefill(self, sequence: TokenSequence) -> None:
            self._fixed, self._tail = len(sequence.committed), ()

    names = [name for name in method.models() if name in tape.rows]
    sessions = {name: replayed(name) for name in names}
    index = SuffixIndex()
    bigram = family.bigram if MAX_GRAM in method.leaves else None
    root = method.build(LaneParts(sessions, _Recall(), index, bigram))
    eos = frozenset(family.eos if tape.tokens[-1] in family.eos else ())
    for _ in generate(root, [index, *sessions.values()], tape.prompt, end - start, eos):
        pass
    return spent


# --- what the tapes tell -----------------------------------------------------------------------------------------------


def counted(tapes: Sequence[Tape], drafts: Sequence[str], bigram: Sequence[int] | None) -> Prior:
    """How often copies and drafts were right on the tapes, smoothed by the general prior, never falling with the evidence."""
    copies = _Count(GENERAL.copies)
    own = {draft: _Count(GENERAL.unknown) for draft in drafts}
    for tape in tapes:
        index, text = SuffixIndex(len(GENERAL.copies) - 1), TokenSequence(list(tape.prompt))
        for place, token in enumerate(tape.tokens):
            index.sync(text)
            length, follows = index.match()
            last = text.committed[-1]
            copy = index.copy(follows, 1)[0] if length else None
            if length:
                copies.saw(length, copy == token)
            elif bigram is not None and last < len(bigram):
                copies.saw(0, bigram[last] == token)
            for draft in drafts:
                if draft in tape.rows:
                    ids, gaps = tape.rows[draft][place]
                    own[draft].saw(ANY, ids[0] == token)
                    own[draft].saw(bisect(MARGINS, gaps[1]) if len(gaps) > 1 else AGREED, ids[0] == token)
                    if ids[0] == copy:
                        own[draft].saw(AGREED, copy == token)
            text.commit([token])
    return Prior(
        tuple(copies.rates(0, len(GENERAL.copies))),
        {draft: _by_margin(count) for draft, count in own.items()},
        GENERAL.unknown,
    )


class _Count:
    """Tokens seen and kept of each kind, over a prior."""

    def __init__(self, prior: Sequence[float]):
        self._kept, self._seen = [PSEUDO * rate for rate in prior], [PSEUDO] * len(prior)

    def saw(self, kind: int, kept: bool) -> None:
        self._kept[kind] += kept
        self._seen[kind] += 1

    def rates(self, first: int, end: int) -> list[float]:
        """The chances of the kinds first .. end - 1, never falling: neighbours that would are counted together."""
        blocks: list[list[float]] = []  # kept, seen, number of kinds
        for kept, seen in zip(self._kept[first:end], self._seen[first:end]):
            blocks.append([kept, seen, 1])
            while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
                last = blocks.pop()
                blocks[-1] = [one + other for one, other in zip(blocks[-1], last)]
        return [
            round(min(max(kept / seen, RAREST), 1 - RAREST), 4)
            for kept, seen, kinds in blocks
            for _ in range(int(kinds))
        ]


def _by_margin(count: _Count) -> tuple[float, ...]:
    return (*count.rates(0, AGREED), *count.rates(AGREED, ANY), *count.rates(ANY, ANY + 1))


def alpha(tapes: Iterable[Tape], draft: str) -> tuple[float, ...]:
    """The chance that the target accepts a draft's token at position 1, 2, ... of a block, given those before it."""
    reached, kept = [0] * DEEPEST, [0] * DEEPEST
    for tape in tapes:
        right = [row[0][0] == token for row, token in zip(tape.rows.get(draft, ()), tape.tokens)]
        for start in range(len(right)):
            for depth, one in enumerate(right[start : start + DEEPEST]):
                reached[depth] += 1
                kept[depth] += one
                if not one:
                    break
    return tuple(round(a / n, 4) for a, n in zip(kept, reached) if n)


# --- the search --------------------------------------------------------------------------------------------------------


def _searched(
    drafts: tuple[str, ...], guesses: Sequence[Candidate], played: Callable[[Method], Candidate]
) -> Iterator[Candidate]:
    """Cascades worth running: uphill from several starting points, by changing one entry at a time."""
    starts: list[Matrix] = [_padded([[8 if c == len(drafts) else 0 for c in range(len(drafts) + 1)]], len(drafts))]
    for place, draft in enumerate(drafts):
        own = [found for found in guesses if found.method.draft == draft]
        k = max(own, key=lambda found: found.played).method.k
        top = [0] * (len(drafts) + 1)
        top[place], top[-1] = k, 2
        inner = [[0] * (len(drafts) + 1) for _ in drafts]
        inner[place][-1] = 3
        starts.append(_padded([top, *inner], len(drafts)))
        if place + 1 < len(drafts):
            deep = [row[:] for row in inner]
            deep[place][place + 1], deep[place + 1][-1] = 4, 2
            starts.append(_padded([top, *deep], len(drafts)))
    known: dict[Matrix, Candidate] = {}
    for start in starts:
        yield from _uphill(drafts, start, played, known)


def _uphill(
    drafts: tuple[str, ...], K: Matrix, played: Callable[[Method], Candidate], known: dict[Matrix, Candidate]
) -> Iterator[Candidate]:
    """Play K and its neighbours, move to the first better one, until none is; yield all that were played."""
    turns = 0

    def at(K: Matrix) -> Candidate:
        nonlocal turns
        if K not in known:
            turns += 1
            known[K] = played(Cascade(drafts, K))
        return known[K]

    best = at(K)
    moved = True
    while moved and turns < TURNS:
        moved = False
        for near in _neighbours(best.method.K):
            if turns >= TURNS:
                break
            found = at(near)
            if found.played > best.played * 1.001:
                best, moved = found, True
                break
    yield best


def _neighbours(K: Matrix) -> Iterator[Matrix]:
    """K with one budget changed, the big entries first; and K without one of its budgets."""
    own = to_budgets(K)
    for r in range(len(K)):
        for c in range(r, len(K)):
            for step in (*STEPS, -own[r][c]):
                changed = [list(row) for row in own]
                changed[r][c] = max(0, changed[r][c] + step)
                near = from_budgets(changed)
                if near != K and 0 < near[0][-1] and max(map(max, near)) <= LONGEST_DRAFT:
                    yield near


def _padded(budgets: Sequence[Sequence[int]], drafts: int) -> Matrix:
    """The paper's K from budgets per stage; missing rows are zeros."""
    return from_budgets([*budgets, *[[0] * (drafts + 1)] * (drafts + 1 - len(budgets))])


# --- what the clock says -----------------------------------------------------------------------------------------------


def _run(
    family: Family,
    prompts: Sequence[Prompt],
    candidates: Sequence[Candidate],
    repeats: int,
    progress: Callable[[str], None],
) -> list[Candidate]:
    """Run every candidate on every prompt, in turn; the first one is the autoregressive one that all are held against."""
    speeds: dict[tuple[int, int], list[float]] = {}
    for repeat in range(repeats):
        for number, prompt in enumerate(prompts):
            progress(f"timing {len(candidates)} methods: repeat {repeat + 1} of {repeats}, prompt {number + 1}")
            for place, candidate in enumerate(candidates):
                trace = _trace(family, prompt, candidate.method)
                speeds.setdefault((place, number), []).append(speed(trace))
    middle = {key: median(own) for key, own in speeds.items()}
    return [
        replace(
            candidate,
            measured=geometric_mean(middle[place, number] / middle[0, number] for number in range(len(prompts))),
        )
        for place, candidate in enumerate(candidates)
    ]


def _best(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The few that played best, each method once."""
    known = {found.method: found for found in candidates}
    return sorted(known.values(), key=lambda found: -found.played)[:FINALISTS]


def _fastest(candidates: Iterable[Candidate], name: str) -> Candidate | None:
    own = [found for found in candidates if found.method.name == name]
    return max(own, key=lambda found: found.measured or 0.0) if own else None


def _trace(family: Family, prompt: Prompt, method: Method):
    request = Request(prompt.prompt, (method,), prompt.max_new, temperature=prompt.temperature, seed=prompt.seed)
    return next(event.trace for event in run_race(family, request) if isinstance(event, LaneFinished))
