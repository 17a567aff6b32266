"""Why a cascade was faster than speculative decoding, or slower: by runs of the target, or by what drafting took."""

from __future__ import annotations

from csd.record import metrics
from csd.record.race import Race
from csd.record.trace import Trace
from csd.roles import COPIER, roles
from csd.sentences import capitalized, counted
from csd.stage.drafting import copied_and_kept, drafting_seconds, tell_guessing
from csd.stage.standing import CASCADES, EVEN, SPECULATIVE, find_faster, find_level, rivals_of
from csd.theme import method_phrase

MANY = 8  # guesses of the copier from which on it says something how many were kept
FEW = 0.3  # share of them below which that is told
FEWER = 0.8  # share of the draft's runs in speculative decoding below which a cascade's are a reason


def _beaten_speculative(race: Race, subject: Trace) -> Trace | None:
    """Speculative decoding, where a cascade was faster."""
    rival = next((one for one in rivals_of(race, subject) if one.header.method == SPECULATIVE), None)
    if rival is None or subject.header.method not in CASCADES:
        return None
    return rival if metrics.speed(subject) > metrics.speed(rival) * (1 + EVEN) else None


def fewer_runs(race: Race, subject: Trace) -> str:
    """How often the target ran in speculative decoding, where that is why a cascade beats it: the end of a sentence."""
    rival = _beaten_speculative(race, subject)
    if rival is None or len(rival.steps) <= len(subject.steps):
        return ""
    own, its = drafting_seconds(subject), drafting_seconds(rival)
    elsewhere = (rival.decode_seconds - its) - (subject.decode_seconds - own)
    return f"; in {method_phrase(rival.header.method)}, {len(rival.steps)} times" if elsewhere >= its - own else ""


def fewer_draft_runs(race: Race, subject: Trace) -> str:
    """How often the draft of speculative decoding ran in both, where that is why a cascade beats it, and it is the
    next best."""
    rival = _beaten_speculative(race, subject)
    others = [one for one in rivals_of(race, subject) if one.header.method not in CASCADES]
    if rival is None or rival is not max(others, key=metrics.speed) or fewer_runs(race, subject):
        return ""
    if find_faster(race, subject) or find_level(race, subject):
        return ""
    own, its = metrics.forward_passes(subject), metrics.forward_passes(rival)
    draft = next((name for name in rival.header.drafts if its.get(name)), "")
    if not 0 < own.get(draft, 0) < FEWER * its.get(draft, 0):
        return ""
    return f"the {roles(rival.header.levels)[draft]} ran {counted(own[draft], 'time')}, not {its[draft]}"


def lost_to_speculative(race: Race, subject: Trace, spent: float) -> str:
    """Why speculative decoding was faster, clearly or not: fewer runs of the target, or less drafting, whichever saved
    more time."""
    winner = find_faster(race, subject) or find_level(race, subject)
    if winner is None or winner.header.method != SPECULATIVE:
        return ""
    its, name = drafting_seconds(winner), method_phrase(winner.header.method)
    elsewhere = (subject.decode_seconds - spent) - (winner.decode_seconds - its)
    if len(winner.steps) < len(subject.steps) and elsewhere >= spent - its:
        return f"{capitalized(name)} needed only {counted(len(winner.steps), 'run')} of the big model."
    if its >= spent:
        return ""
    drafted, kept = copied_and_kept(subject)
    if drafted >= MANY and kept < FEW * drafted:
        return f"Only {kept} of the {COPIER}'s {drafted} guesses were kept, and guessing took longer."
    return f"{capitalized(tell_guessing(spent, its, name))}."
