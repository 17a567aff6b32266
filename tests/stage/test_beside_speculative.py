"""The result in one line where speculative decoding is the rival: why it was faster, slower or as fast."""

from dataclasses import replace

from paired import alone, drafted

from csd.record.race import Race
from csd.record.recording import bundled_recordings
from csd.stage import tour
from csd.stage.headline import Headline, headline

TEXT = tuple(range(40))


def line(*traces) -> Headline:
    return headline(Race(traces))


def test_a_cascade_that_loses_to_speculative_decoding_says_what_that_saved():
    lost = {trace.header.method: trace for trace in tour.LOSING.traces}
    steps = tuple(replace(step, seconds=3 * step.seconds) for step in lost["autoregressive"].steps)
    slow = replace(lost["autoregressive"], steps=steps)
    said = line(slow, lost["speculative"], lost["cascade"])
    assert "speculative decoding was faster here" in said.lead
    assert said.reason == "Only 6 of the copier's 509 guesses were kept, and guessing took longer."
    heavy = tuple(
        replace(step, seconds=step.seconds + 0.1, review=replace(step.review, seconds=step.review.seconds + 0.1))
        for step in lost["cascade"].steps
    )
    pairs = tuple(
        replace(before, tokens=before.tokens + last.tokens, authors=before.authors + last.authors)
        for before, last in zip(heavy[::2], heavy[1::2], strict=True)
    )
    header = replace(lost["cascade"].header, method="speculative")
    fewer = replace(lost["cascade"], header=header, steps=pairs)
    slower = replace(slow, steps=tuple(replace(step, seconds=9 * step.seconds) for step in steps))
    said = line(slower, fewer, replace(lost["cascade"], steps=heavy))
    assert said.reason == f"Speculative decoding needed only {len(pairs)} runs of the big model."
    own = sum(step.seconds for step in heavy) / sum(step.seconds for step in pairs)
    near = [replace(step, seconds=0.92 * own * step.seconds) for step in pairs]
    close = line(slower, replace(fewer, steps=tuple(near)), replace(lost["cascade"], steps=heavy))
    assert "slightly faster" in close.lead and close.reason.endswith("guessing took longer."), "also by little"


def test_a_win_over_speculative_decoding_tells_how_often_the_big_model_ran_there():
    won = drafted(TEXT, seconds=0.1)
    often = alone(TEXT, seconds=0.08)
    often = replace(often, header=replace(often.header, method="speculative"))
    assert line(alone(TEXT), often, won).told.endswith("20 times instead of 40; in speculative decoding, 40 times.")
    edit = bundled_recordings()["2-edit-rename-the-fox"]
    lanes = {trace.header.method: len(trace.steps) for trace in edit.traces}
    assert lanes["cascade"] < lanes["speculative"], "one run fewer, but the time of drafting saved more"
    assert "; in " not in headline(Race(edit.traces)).told
    rival = drafted(TEXT, by="small", method="speculative", seconds=0.1)
    assert "; in " not in line(alone(TEXT), rival, drafted(TEXT, seconds=0.12)).told, "no win, nothing to explain"


def guessed(trace, seconds):
    """The same with a draft of every round that took so long."""
    review = lambda step: replace(step.review, inner=(replace(step.review.inner[0], seconds=seconds),))  # noqa: E731
    return replace(trace, steps=tuple(replace(step, review=review(step)) for step in trace.steps))


def test_a_loss_to_speculative_decoding_with_good_guesses_says_what_they_took():
    rival = guessed(drafted(TEXT, by="small", method="speculative", seconds=0.08), 0.02)
    said = line(alone(TEXT), rival, guessed(drafted(TEXT, seconds=0.1), 0.03))
    assert "speculative decoding was faster here" in said.lead
    assert said.reason == "Guessing took 600 ms (400 ms in speculative decoding)."


def test_a_tie_with_speculative_decoding_is_told_by_what_guessing_took_in_both():
    rival = guessed(drafted(TEXT, by="small", method="speculative", seconds=0.1), 0.02)
    said = line(alone(TEXT), rival, guessed(drafted(TEXT, seconds=0.1), 0.015))
    assert said.lead == "as fast as the big model alone, about the same as speculative decoding"
    assert said.reason == "Guessing took 300 ms (400 ms in speculative decoding)."
