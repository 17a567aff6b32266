"""The result in one line: true for a win, a loss, another text, another sample, and a text that repeats itself."""

import re
from dataclasses import replace

import pytest
from paired import alone, drafted

from csd.record.race import Race
from csd.record.recording import bundled_recordings
from csd.stage import tour
from csd.stage.conclusion import conclude
from csd.stage.headline import Headline, headline, over_races
from csd.stage.standing import times

TEXT = tuple(range(40))


def line(*traces) -> Headline:
    return headline(Race(traces))


def test_a_win_names_the_same_text_the_factor_the_rivals_and_the_runs():
    slow = drafted(TEXT, by="small", method="speculative", seconds=0.1)
    fast = drafted(TEXT, method="adaptive cascade", seconds=0.05)
    said = line(alone(TEXT), slow, fast)
    assert (said.text, said.same) == ("Same 40 tokens, word for word", True)
    assert (said.subject, said.factor) == ("adaptive cascade", "4.0×")
    assert said.lead == "as fast as the big model alone, and 2.0× as fast as speculative decoding"
    assert said.told == "The big model ran 20 times instead of 40."
    assert said.flags == ()


def test_a_loss_is_told_as_calmly_as_a_win():
    said = line(alone(TEXT), drafted(TEXT, seconds=0.4))
    assert (said.factor, said.lead) == (
        "0.5×",
        "as fast as the big model alone: its guesses cost more than they saved",
    )
    assert said.told == "The big model ran 20 times instead of 40, and yet the text took longer."
    even = line(alone(TEXT), drafted(TEXT, seconds=0.2))
    assert (even.factor, even.lead, even.even) == ("1.0×", "as fast as the big model alone: no difference", True)
    slow = line(alone(TEXT), drafted(TEXT, by="small", method="speculative", seconds=0.3), drafted(TEXT, seconds=0.2))
    assert slow.lead == even.lead, "that speculative decoding is slower makes no win of a draw"


def test_a_faster_rival_is_named():
    copying = drafted(TEXT, method="prompt lookup", seconds=0.05)
    said = line(alone(TEXT), drafted(TEXT, by="small", method="speculative", seconds=0.1), copying, drafted(TEXT))
    assert said.subject == "cascade"
    assert said.beaten
    assert said.lead == "as fast as the big model alone; prompt lookup was faster here, at 4.0×"
    assert not line(alone(TEXT), drafted(TEXT)).beaten


def test_where_another_lane_gained_guessing_as_such_did_not_lose():
    copying, slow = drafted(TEXT, method="prompt lookup", seconds=0.05), drafted(TEXT, seconds=1.0)
    assert line(alone(TEXT), slow).lead == "as fast as the big model alone: its guesses cost more than they saved"
    said = line(alone(TEXT), copying, slow)
    assert said.subject == "cascade" and said.beaten
    assert said.lead == "as fast as the big model alone; prompt lookup was faster here, at 4.0×"


def test_a_race_as_close_as_chance_has_no_winner():
    copying = drafted(TEXT, method="prompt lookup", seconds=0.09)
    said = line(alone(TEXT), copying, drafted(TEXT, seconds=0.1))
    assert said.lead == "as fast as the big model alone; prompt lookup was slightly faster: 2.2×"
    assert (said.beaten, said.reason) == (False, "")
    near = drafted(TEXT, method="prompt lookup", seconds=0.1216)
    alike = line(alone(TEXT), near, drafted(TEXT, seconds=0.1288))
    assert alike.factor == "1.6×" and alike.even
    assert alike.lead == "as fast as the big model alone, about the same as prompt lookup", "1.6× both, when rounded"
    slow = drafted(TEXT, by="small", method="speculative", seconds=0.11)
    ahead = line(alone(TEXT), slow, drafted(TEXT, seconds=0.1))
    assert ahead.lead == "as fast as the big model alone, and 1.1× as fast as speculative decoding"


def test_a_loss_is_explained_by_what_was_drafted_in_vain():
    trace = drafted(TEXT, by="small", seconds=0.4)
    steps = tuple(
        replace(step, seconds=0.5, review=replace(step.review, tokens=(*step.review.tokens, 1, 2, 3)))
        for step in trace.steps
    )
    said = line(alone(TEXT), replace(trace, steps=steps))
    assert said.beaten
    assert said.told == "The big model threw away 60 of 80 guesses."
    assert said.reason == "", "its drafts cost nothing"
    hot = [
        replace(one, header=replace(one.header, temperature=1.5)) for one in (alone(TEXT), replace(trace, steps=steps))
    ]
    hard = "At temperature 1.5 the next word is hard to guess: the big model threw away 60 of 80 guesses."
    assert line(*hot).told == hard
    lost = headline(Race(tour.LOSING.traces))
    assert re.fullmatch(r"Guessing took \d+ of the \d+ ms\.", lost.reason)


def test_a_fixed_plan_that_loses_is_told_beside_the_adaptive_cascade():
    act = tour.LOSING
    (whole,) = act.others
    said = headline(Race(whole))
    assert said.subject == "cascade" and said.opens == "The cascade is"
    assert said.factor == headline(Race(act.traces)).factor, "the answer of the act keeps its figure"
    adaptive = whole[-1]
    ratio = Race(whole).speedup(adaptive)
    assert ratio and said.reason.endswith(f"guesses less where guesses fail: {times(ratio)}.")
    assert said.lead == "as fast as the big model alone: its guesses cost more than they saved"


def test_beside_the_adaptive_cascade_the_line_is_about_the_fixed_plan():
    slow, fast = drafted(TEXT, seconds=0.1), drafted(TEXT, method="adaptive cascade", seconds=0.05)
    said = line(alone(TEXT), slow, fast)
    assert (said.subject, said.factor) == ("cascade", "2.0×")
    assert said.lead == "as fast as the big model alone; the adaptive cascade was faster here, at 4.0×"


def test_a_draw_is_explained_by_what_drafting_took():
    lost = {trace.header.method: trace for trace in tour.LOSING.traces}
    reference, cascade = lost["autoregressive"], lost["cascade"]
    slower = cascade.decode_seconds / reference.decode_seconds
    steps = tuple(replace(step, seconds=slower * step.seconds) for step in reference.steps)
    said = line(replace(reference, steps=steps), cascade)
    assert said.lead == "as fast as the big model alone: no difference"
    assert re.fullmatch(r"Guessing took \d+ of the \d+ ms\.", said.reason)


@pytest.mark.parametrize(("gain", "has_reason"), [(1.4, True), (3.6, False)])
def test_a_small_gain_is_explained_by_what_drafting_took(gain, has_reason):
    lost = {trace.header.method: trace for trace in tour.LOSING.traces}
    reference, cascade = lost["autoregressive"], lost["cascade"]
    longer = gain * cascade.decode_seconds / reference.decode_seconds
    steps = tuple(replace(step, seconds=longer * step.seconds) for step in reference.steps)
    said = line(replace(reference, steps=steps), cascade)
    assert bool(said.reason) == has_reason and float(said.factor.strip("≈×")) > 1.3


def test_a_draft_that_costs_much_of_a_run_of_the_big_model_is_named():
    lost = {trace.header.method: trace for trace in tour.LOSING.traces}
    reference, cascade = lost["autoregressive"], lost["cascade"]

    def quicker(step):
        """The step with a big model that takes a fifth of the time."""
        saved = 0.8 * step.review.seconds
        return replace(
            step, review=replace(step.review, seconds=step.review.seconds - saved), seconds=step.seconds - saved
        )

    dear = replace(cascade, steps=tuple(quicker(step) for step in cascade.steps))
    even = dear.decode_seconds / reference.decode_seconds
    steps = tuple(replace(step, seconds=even * step.seconds) for step in reference.steps)
    reason = line(replace(reference, steps=steps), dear).reason
    assert re.search(
        r"^Guessing took .* ms: a run of the small model took (\d\d% as long|\d\.\d times as long) as one of the big model\.$",
        reason,
    )


def test_a_race_that_one_by_one_decoding_wins_says_so():
    speculative = drafted(TEXT, by="small", method="speculative", seconds=0.3)
    said = line(alone(TEXT), speculative, drafted(TEXT, seconds=0.4))
    assert said.beaten
    assert said.lead == "as fast as the big model alone: its guesses cost more than they saved"


@pytest.mark.parametrize(
    ("margin", "told"),
    [(1e-6, "Texts differ from position 20: a near-tie"), (1.0, "Texts differ from position 20: a bug")],
)
def test_another_text_is_the_first_thing_said(margin, told):
    other = (*TEXT[:20], 99, *TEXT[21:])
    said = line(alone(TEXT, margin=margin), drafted(TEXT, method="speculative"), drafted(other))
    assert (said.lead, said.text, said.same) == ("", told, False)
    assert said.told == "2.0× as fast as the big model alone, about the same as speculative decoding."


def test_the_rejection_rule_promises_a_distribution_and_no_text():
    said = line(alone(TEXT, rule="rejection"), drafted(TEXT[::-1], rule="rejection"))
    assert (said.text, said.same) == ("Different samples from the same distribution", False)


def test_flags_stand_beside_the_number():
    loop = (1, 2, 3, 4, 5, 6, 7, 8, 9) * 6
    assert line(alone(loop), drafted(loop)).flags == ("the text repeats itself, so it is easy to guess",)
    trace = drafted(loop)
    steps = [replace(one, review=replace(one.review, tokens=(*one.review.tokens, 1, 2, 3))) for one in trace.steps]
    assert line(alone(loop), replace(trace, steps=tuple(steps))).flags == ("the text repeats itself",), (
        "most were wrong"
    )
    tiny = tuple(replace(level, parameters=20_000_000) for level in alone(loop).header.levels)
    few = replace(alone(loop), header=replace(alone(loop).header, levels=tiny))
    assert line(few).flags == ("the text repeats itself, as tiny models do, so it is easy to guess",)
    brief = alone((1, 2, 3, *(4, 5) * 4))
    brief = replace(brief, pieces={1: "Q", 2: " joke", 3: "?", 4: " A", 5: ":"})
    assert line(brief).flags == ("the text repeats itself, so it is easy to guess", "only 11 tokens: a rough speed"), (
        "before an 8-gram occurs again"
    )
    short = line(alone(TEXT[:1]), drafted(TEXT[:1]))
    assert short.text == "Same 1 token, word for word"
    assert (short.flags, short.few) == (("only 1 token: too few to judge the speed",), True)
    assert (short.factor, short.lead) == ("", "") and short.told.endswith("the big model ran once, as without guesses.")
    cut = line(alone(TEXT), drafted(TEXT[:20], end="stopped"))
    assert (cut.flags, cut.few) == ((), False), "the other lane has its text"
    both = line(replace(alone(TEXT[:18]), end="stopped"), drafted(TEXT[:12], end="stopped"))
    assert both.flags == ("too few tokens to judge the speed",), "the count is not that of all"
    unbegun = line(
        replace(alone(TEXT[:1]), end="stopped"), drafted(TEXT[:6], end="stopped"), drafted((), end="stopped")
    )
    assert (unbegun.text, unbegun.told, unbegun.same) == ("Stopped before all lanes had begun to write", "", False)
    stopped = line(alone(TEXT), drafted(TEXT[:34], end="stopped"))
    assert stopped.text == "Stopped. Same text as far as all lanes got: 34 tokens"
    assert stopped.flags == ()
    assert (stopped.factor, stopped.lead, stopped.told) == ("", "", ""), "34 tokens in 40 are no race"


def test_a_short_text_has_a_rough_speed():
    said = line(alone(TEXT[:20]), drafted(TEXT[:20], seconds=0.1))
    assert said.factor.startswith("≈") and said.lead and not said.few
    assert said.flags == ("only 20 tokens: a rough speed",)
    assert line(alone(TEXT[:7]), drafted(TEXT[:7])).factor == ""


def test_who_races_the_same_again_is_told_how_the_speed_spread():
    races = [Race((alone(TEXT), drafted(TEXT, seconds=seconds))) for seconds in (0.05, 0.1, 0.08)]
    other = Race((alone(TEXT, max_new=99), drafted(TEXT, max_new=99, seconds=0.01)))
    assert over_races(races[0], [other]) == "", "with other settings it is another race"
    who = "The cascade over your"
    assert over_races(races[0], races[1:]) == f"{who} 3 races with these settings: 2.0× to 4.0×."
    assert over_races(races[0], races[:1]) == f"{who} 2 races with these settings: 4.0× each time."
    cut = Race((alone(TEXT), drafted(TEXT[:30], end="stopped")))
    assert over_races(races[0], [cut]) == over_races(cut, races) == ""


def test_without_a_reference_nothing_is_claimed():
    said = line(drafted(TEXT))
    assert (said.factor, said.same) == ("", False)
    assert said.text == "Texts not compared: no autoregressive lane"
    assert line(alone(TEXT)).text == "One lane, nothing to compare"
    assert line(alone(TEXT), alone(TEXT)).told == "", "nobody guessed"


def test_ratios_have_the_digits_that_matter():
    assert [times(ratio) for ratio in (5.58, 1.04, 0.96, 0.843, 0.08)] == ["5.6×", "1.0×", "1.0×", "0.8×", "0.08×"]


def test_one_token_and_one_run_are_no_plurals():
    race = Race((alone((1, 2)), drafted((1, 2), seconds=0.1)))
    assert headline(race).told == "The big model ran once instead of 2 times."
    assert headline(race).reason == ""
    said = conclude(Race((alone((1,)), drafted((1,)))))
    assert said["lanes"][1]["badge"] == "= identical to autoregressive, 1 of 1 token"
    assert "autoregressive wrote 1 token at" in said["summary"]
    assert said["headline"]["flags"] == ("only 1 token: too few to judge the speed",)


def test_a_factor_that_the_reading_of_the_prompt_changes_is_told_both_ways():
    races = {name: Race(recording.traces) for name, recording in bundled_recordings().items()}
    edit, fox = races["2-edit-rename-the-fox"], races["1-story-an-otter-makes-a-boat"]
    whole = edit.speedup_with_prefill(edit.traces[-1])
    told = f"The cascade is {times(whole or 0)} as fast as the big model alone if the time to read the prompt counts."
    assert conclude(edit)["notes"] == [told]
    assert "the prompt" not in headline(fox).told


def test_a_win_is_compared_with_the_next_best_method():
    slow = drafted(TEXT, by="small", method="speculative", seconds=0.2)
    near = drafted(TEXT, by="small", method="prompt lookup", seconds=0.1)
    assert line(alone(TEXT), slow, near, drafted(TEXT, seconds=0.05)).lead.endswith(" 2.0× as fast as prompt lookup")
    assert line(alone(TEXT), near, slow, drafted(TEXT, seconds=0.05)).lead.endswith(" 2.0× as fast as prompt lookup")


def test_a_win_is_told_by_its_runs_and_by_how_much_was_copied():
    frog, code = (
        bundled_recordings()["1-story-an-otter-makes-a-boat"],
        bundled_recordings()["4-code-rename-a-parameter"],
    )
    won = headline(Race(frog.traces))
    assert won.told == "The big model ran 5 times instead of 64."
    assert (won.why, won.reason) == ("the small model ran 11 times, not 73", "")
    said = headline(Race(code.traces))
    assert said.reason == ""
    assert (said.factor, said.lead) == (
        "2.9×",
        "as fast as the big model alone, and 1.7× as fast as speculative decoding",
    )
    assert said.told.startswith(
        "A copier of earlier words wrote 78% of the text: the big model ran 7 times instead of 90."
    )


def test_a_gain_that_reading_the_prompt_takes_is_flagged():
    one = drafted(TEXT, seconds=0.18)
    late = replace(one, prefill=(replace(one.prefill[0], seconds=5 * one.prefill[0].seconds),))
    said, usual = line(alone(TEXT), late), line(alone(TEXT), one)
    assert said.factor == usual.factor == "1.1×"
    assert said.told == usual.told and usual.flags == ()
    assert said.flags == ("with the time to read the prompt: slower, 0.9×",), "its number stands in grey"
