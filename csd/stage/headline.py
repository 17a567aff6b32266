"""A race in one line: is the text the same, how fast was the cascade, and how often did the target run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from csd.record import metrics
from csd.record.race import Race, same_settings
from csd.record.trace import Trace
from csd.record.verdict import Verdict
from csd.sentences import capitalized, counted
from csd.stage.beside_speculative import fewer_draft_runs, fewer_runs, lost_to_speculative
from csd.stage.drafting import dear_draft, drafted_and_lost, drafting_seconds, how_copied, in_one_unit, tell_guessing
from csd.stage.standing import (
    CASCADES,
    EVEN,
    SMALL,
    SPECULATIVE,
    adaptive_beside,
    find_faster,
    find_level,
    find_subject,
    find_tied,
    is_even,
    ratio_of,
    rivals_of,
    times,
)
from csd.theme import method_phrase

ALONE = "the big model alone"
FEWEST = 0.25  # of the tokens that judge a speed: with fewer than these not even a rough one is told
LONG_PREFILL = 1.2  # times by which reading the prompt lowers a factor that is then told both ways
TINY = 50e6  # parameters of a big model below which texts soon repeat themselves


@dataclass(frozen=True)
class Headline:
    """What is written in large type after a race.

    `opens`, `factor` and `lead` are one sentence: "The cascade is", its speed over autoregressive decoding, such as
    "5.6×", or "≈1.5×" where the tokens are few, and as fast as whom, and who was faster. `subject` is the method that
    it is about. The factor and the lead are empty without such a lane, where one of the two was stopped, and where the
    tokens are too few to judge a speed; `lead` also where the texts differ, which is then the first thing to know.
    `why` says what made it faster than speculative decoding. `text` says whether the texts are the same, and `same`
    whether they are. `told` says how: who guessed ahead, and in how many runs of the target it came out, or how many
    guesses were thrown away. `reason` says what drafting took in a race that is not won, or how the adaptive cascade
    fared in one that is lost; where no lane was clearly faster, only if no flag stands on the factor.
    `flags` are what a reader must know before quoting the factor; `few` says that the tokens are too few for one,
    `beaten` that another lane was clearly faster, and `even` that this is no win either: the big model alone was as
    fast, or another lane as fast or slightly faster.
    """

    lead: str
    why: str
    text: str
    same: bool
    subject: str
    opens: str
    factor: str
    told: str
    reason: str
    flags: tuple[str, ...]
    few: bool
    beaten: bool
    even: bool


def headline(race: Race) -> Headline:
    """The line of a finished race."""
    subject = find_subject(race)
    stopped = _was_stopped(race)
    few = _longest(race) < metrics.SHORT_RUN * (1 if stopped else FEWEST)
    ratio = ratio_of(race, subject) if subject and not few else None
    text, same = _sameness(race)
    text = f"Stopped. {text}" if stopped and not text.startswith("Stopped") else text
    flags = (*_flags(race, subject), *_slower_overall(race, subject, ratio))
    speed = _speed(race, subject, ratio) if subject and ratio else ""
    how = _how(race, subject, ratio) if subject and (ratio or (few and not stopped)) else ""
    beaten = bool(subject and ratio and find_faster(race, subject))
    differs = any(one.kind in ("differs", "near-tie") for one in race.verdicts)
    return Headline(
        lead="" if differs else speed,
        why=fewer_draft_runs(race, subject) if subject and ratio and not differs else "",
        text=text,
        same=same,
        subject=subject.header.method if subject else "",
        opens=f"{capitalized(method_phrase(subject.header.method))} is" if subject else "",
        factor=(f"≈{ratio:.1f}×" if _is_rough(race) else times(ratio)) if ratio else "",
        told=f"{times(ratio)} {speed}." if differs and ratio else how,
        reason=_reason(race, subject) if subject and ratio and (beaten or not flags) else "",
        flags=flags,
        few=few,
        beaten=beaten,
        even=bool(subject and ratio and (is_even(ratio) or find_level(race, subject) or find_tied(race, subject))),
    )


def _is_rough(race: Race) -> bool:
    return _longest(race) < metrics.SHORT_RUN


def _speed(race: Race, subject: Trace, ratio: float) -> str:
    """What the factor is over, and who was faster, or how much slower the next best method was."""
    winner = find_faster(race, subject)
    best = ratio_of(race, winner) if winner is not None else None
    if ratio < 1 - EVEN and (winner is adaptive_beside(race, subject) or not best or best <= 1 + EVEN):
        return f"as fast as {ALONE}: its guesses cost more than they saved"
    if winner is not None and best:
        return f"as fast as {ALONE}; {_name(race, winner)} was faster here, at {times(best)}"
    if is_even(ratio):
        return f"as fast as {ALONE}: no difference"
    level = find_level(race, subject)
    if level is not None and (best := ratio_of(race, level)):
        if times(best) == times(ratio):
            return f"as fast as {ALONE}, about the same as {_name(race, level)}"
        return f"as fast as {ALONE}; {_name(race, level)} was slightly faster: {times(best)}"
    others = [one for one in rivals_of(race, subject) if one.header.method not in CASCADES]
    rival = find_tied(race, subject) or max(others, key=metrics.speed, default=None)
    if rival is None:
        return f"as fast as {ALONE}"
    over, name = metrics.speed(subject) / metrics.speed(rival), _name(race, rival)
    if is_even(over):
        return f"as fast as {ALONE}, about the same as {name}"
    return f"as fast as {ALONE}, and {times(over)} as fast as {name}"


def _how(race: Race, subject: Trace, ratio: float | None) -> str:
    """The idea as this race shows it; `ratio` is None where the tokens are too few for one."""
    drafted, lost = drafted_and_lost(subject)
    if race.reference is None or not drafted:
        return ""
    is_slower = ratio is not None and ratio < 1 - EVEN
    if is_slower and lost:
        heat = subject.header.temperature
        when = f"At temperature {heat:g} the" if heat else "The"
        who = f"{when} next word is hard to guess: the big model" if heat >= 1 else f"{when} big model"
        return f"{who} threw away {lost} of {drafted} guesses."
    runs, alone = len(subject.steps), len(race.reference.steps)
    without = f" instead of {_often(alone) if runs == 1 else alone}" if runs != alone else ", as without guesses"
    ran = f"the big model ran {_often(runs)}{without}"
    if is_slower:
        return f"{capitalized(ran)}, and yet the text took longer."
    copied = how_copied(subject)
    saved = fewer_runs(race, subject) if ratio else ""
    told = f"{capitalized(copied)}: {ran}" if copied else capitalized(ran)
    return f"{told}{saved}."


def _saved(race: Race, adaptive: Trace) -> str:
    """How the adaptive cascade fared beside a fixed plan that lost."""
    ratio = ratio_of(race, adaptive)
    return f"The adaptive cascade guesses less where guesses fail: {times(ratio)}." if ratio else ""


def over_races(race: Race, again: Sequence[Race]) -> str:
    """How the speed spread over this race and those of `again` that had the same settings; empty for a single one."""
    subject = find_subject(race)
    if subject is None or not ratio_of(race, subject):
        return ""
    lane = race.traces.index(subject)
    races = (race, *(other for other in again if same_settings(race, other)))
    ratios = [ratio for one in races if (ratio := one.speedup(one.traces[lane]))]
    if len(ratios) < 2:
        return ""
    low, high = times(min(ratios)), times(max(ratios))
    who = capitalized(method_phrase(subject.header.method))
    span = f"{low} to {high}" if low != high else f"{low} each time"
    return f"{who} over your {len(ratios)} races with these settings: {span}."


def with_prefill(race: Race) -> str:
    """The speed with the time to read the prompt, where that makes another one of a gain that stays one."""
    subject = find_subject(race)
    ratio, whole = (ratio_of(race, subject), race.speedup_with_prefill(subject)) if subject else (None, None)
    if subject is None or not ratio or not whole or ratio < LONG_PREFILL * whole or whole <= 1 + EVEN < ratio:
        return ""
    who = capitalized(method_phrase(subject.header.method))
    return f"{who} is {times(whole)} as fast as {ALONE} if the time to read the prompt counts."


def _slower_overall(race: Race, subject: Trace | None, ratio: float | None) -> list[str]:
    """A flag for a gain that the time to read the prompt takes."""
    whole = race.speedup_with_prefill(subject) if subject is not None else None
    if not ratio or not whole or not whole <= 1 + EVEN < ratio:
        return []
    return [f"with the time to read the prompt: {'slower' if whole < 1 - EVEN else 'no gain'}, {times(whole)}"]


def _name(race: Race, trace: Trace) -> str:
    return ALONE if trace is race.reference else method_phrase(trace.header.method)


def _reason(race: Race, subject: Trace) -> str:
    """What drafting took, where another lane was faster or the gain is small; for a loss beside an adaptive cascade,
    how that one fared."""
    spent, ratio = drafting_seconds(subject), ratio_of(race, subject)
    if ratio and ratio < 1 - EVEN and (adaptive := adaptive_beside(race, subject)) is not None:
        return _saved(race, adaptive)
    if not spent or not ratio:
        return ""
    if lost := lost_to_speculative(race, subject, spent):
        return lost
    tied, dear = find_tied(race, subject), dear_draft(subject)
    if tied is not None and tied.header.method == SPECULATIVE and not dear:
        return f"{capitalized(tell_guessing(spent, drafting_seconds(tied), _name(race, tied)))}."
    if ratio >= 1 - EVEN and fewer_runs(race, subject):  # which is told
        return ""
    of, unit = in_one_unit(spent, subject.decode_seconds)
    return f"Guessing took {' of the '.join(of)} {unit}{dear}." if find_faster(race, subject) or ratio < SMALL else ""


def _often(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _sameness(race: Race) -> tuple[str, bool]:
    """Whether every reviewed text is the autoregressive one, or the worst finding."""
    if any(trace.end == "stopped" and not trace.tokens for trace in race.traces):
        return "Stopped before all lanes had begun to write", False
    found = [one for one in race.verdicts if one.kind not in ("reference", "not lossless")]
    for kind in ("differs", "near-tie", "not compared"):
        if bad := next((one for one in found if one.kind == kind), None):
            return _difference(bad), False
    if not found:
        return "One lane, nothing to compare", False
    if any(one.kind == "same distribution" for one in found):
        return "Different samples from the same distribution", False
    if all(one.whole for one in found):
        drawn = ", with the same random numbers" if race.traces[0].header.temperature > 0 else ""
        return f"Same {counted(found[0].compared, 'token')}, word for word{drawn}", True
    return f"Same text as far as all lanes got: {counted(min(one.compared for one in found), 'token')}", True


def _difference(verdict: Verdict) -> str:
    if verdict.kind == "not compared":
        return f"Texts not compared: {verdict.reason}"
    cause = "a near-tie" if verdict.kind == "near-tie" else "a bug"
    return f"Texts differ from position {verdict.position}: {cause}"


def _flags(race: Race, subject: Trace | None) -> list[str]:
    looping = any(metrics.repeats_itself(trace) for trace in race.traces)
    models = [level.parameters for trace in race.traces for level in trace.header.levels]
    why = ", as tiny models do" if 0 < max(models, default=0) < TINY else ""
    drafted, lost = drafted_and_lost(subject) if subject else (0, 0)
    easy = ", so it is easy to guess" if 2 * lost <= drafted else ""
    return [*([f"the text repeats itself{why}{easy}"] if looping else []), *_shortness(race)]


def _shortness(race: Race) -> list[str]:
    """A flag for a race that is short; where it was stopped, no count is that of all lanes."""
    count = _longest(race)
    if not 0 < count < metrics.SHORT_RUN:
        return []
    if _was_stopped(race):
        return ["too few tokens to judge the speed"]
    judged = "too few to judge the speed" if count < FEWEST * metrics.SHORT_RUN else "a rough speed"
    return [f"only {counted(count, 'token')}: {judged}"]


def _was_stopped(race: Race) -> bool:
    return any(trace.end == "stopped" for trace in race.traces)


def _longest(race: Race) -> int:
    return max((len(trace.tokens) for trace in race.traces), default=0)
