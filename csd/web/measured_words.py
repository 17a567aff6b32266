"""What is said of a race that measured a prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from csd.decoding.methods.method import TARGET
from csd.record.race import Race
from csd.roles import roles_of_family
from csd.sentences import capitalized, listed
from csd.stage.headline import times
from csd.theme import method_phrase
from csd.theory.assumed import WIDTH, Number, OtherNumber, Prediction, are_near, wrongly_moved
from csd.theory.what_if import Measured, settings_of_race


def tell_measured(predicted: Prediction, race: Race) -> str:
    """What a race measured beside what was predicted, and why they differ: the numbers that the visitor had moved, what
    theory says with the race's, and else why its steps were others. Empty for a race of other plans."""
    settings = settings_of_race(race)
    lanes = {lane.name: lane for lane in settings.measured if lane.name in predicted.plans}
    if lanes.keys() != predicted.plans.keys() or not predicted.is_of(settings):
        return ""
    measured = {name: lane.speedup for name, lane in lanes.items()}
    before, again = predicted.speedups, predicted.with_numbers_of(settings).speedups
    said = listed([f"{times(before[name])} for {method_phrase(name)}" for name in lanes])
    compared = f"Theory said {said}; measured: {_listed_times(measured)}."
    if are_near(measured, before):
        return compared
    if are_near(again, before):
        return " ".join(filter(None, (compared, _tell_gaps(lanes))))
    moved = wrongly_moved(predicted, settings)
    says = f"with the race's numbers, theory says {_listed_times({name: again[name] for name in lanes})}."
    whole = f"{_tell_moved(moved, roles_of_family(predicted.drafts))}, and {says}" if moved else says
    return f"{compared} {capitalized(whole)}"


def _listed_times(speedups: Mapping[str, float]) -> str:
    return listed([times(speedup) for speedup in speedups.values()])


def _tell_moved(moved: Sequence[OtherNumber], called: Mapping[str, str]) -> str:
    chosen = listed([f"{_phrase(one.number, called)} to {_digits(one.assumed)}" for one in moved])
    were = "it was" if len(moved) == 1 else "they were"
    return f"you had set {chosen}; in this race {were} {listed([_digits(one.found) for one in moved])}"


def _phrase(number: Number, called: Mapping[str, str]) -> str:
    if number == WIDTH:
        return "the cost of a token in a review"
    if isinstance(number, str):
        return f"the {called[number]}'s cost"
    reviewer, drafter = number
    return f"the {called[drafter]}'s acceptance" + ("" if reviewer == TARGET else f" by the {called[reviewer]}")


def _digits(number: float) -> str:
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def _tell_gaps(lanes: Mapping[str, Measured]) -> str:
    """Why the steps of a race were others than theory gives with the race's own numbers; empty where none were."""
    gaps = [
        f"{method_phrase(name)} was {'faster' if lane.speedup > lane.predicted else 'slower'}: {lane.gap}"
        for name, lane in lanes.items()
        if lane.gap and lane.predicted
    ]
    return f"{capitalized('; '.join(gaps))}." if gaps else ""
