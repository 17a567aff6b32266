"""Prediction beside measurement for the hand-made race, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade
from paired import alone, drafted
from plans import made_by

from csd.decoding.methods import AdaptiveCascade, Cascade, Speculative
from csd.record.race import Race
from csd.record.recording import bundled_recordings
from csd.theory.comparison import CHANCES, compare_with_theory, format_spread


def compare(*traces):
    return compare_with_theory(Race(traces))


def test_prediction_beside_measurement():
    alone, lane = compare(autoregressive(), made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade()))
    assert (alone.flat, alone.measured) == (1, (1.0,))
    # small writes until there are 2 tokens. It accepts both copies, so one run writes 3 and passes Max-Gram's position.
    tokens = 1 + 0.75 + 0.75**2 + 0.75**3
    assert lane.flat == pytest.approx(tokens / (1 + 0.25 + 2 * 0.025))
    assert lane.measured == pytest.approx((2.0,))
    tokens_reason, cost_reason = lane.reasons
    assert tokens_reason == (
        "A step emitted 2.0 tokens; the theory predicts 2.7. "
        "The copier found less to copy: blocks had 2.0 tokens instead of 3.0."
    )
    assert cost_reason.startswith(
        "It cost 1.00 runs of the big model; the theory predicts 1.30. "
        "The review of 2.0 drafted tokens took 0.65 instead of 1, drafting 0.2"
    )


def test_adaptive_is_predicted_for_the_blocks_that_it_drafted():
    _, lane = compare(autoregressive(), made_by(AdaptiveCascade(("small",)), cascade()))
    assert "no closed form" in lane.formula
    # small handed up 3 tokens, then 1; 3 of the 4 that the target judged were accepted.
    tokens = (1 + 0.75 + 0.75**2 + 0.75**3 + 1 + 0.75) / 2
    # small's runs took 0.25 target passes each; in the first round it was shown two copies of 0.025.
    assert lane.flat == pytest.approx(tokens / (1 + (0.25 + 2 * 0.025 + 0.25) / 2))
    assert lane.wide == lane.flat  # wide reviews cost nothing extra in this race
    first, tokens_reason, _ = lane.reasons
    assert first.startswith("Its plan is not fixed")
    assert tokens_reason.startswith("A step emitted 2.0 tokens; the theory predicts 2.2.")


def test_an_adaptive_lane_that_beats_its_prediction_says_why_in_a_sentence():
    race = Race(bundled_recordings()["smollm2-3-story-a-baker-and-his-guest-sampled"].traces)
    told = {lane.method: (lane.about, lane.gap) for lane in compare_with_theory(race)}
    assert told["adaptive cascade"] == (CHANCES, "")
    assert told["speculative"] == ("", "")
    slower = tuple(replace(step, seconds=2 * step.seconds) for step in race.traces[-1].steps)
    *_, lane = compare(*race.traces[:-1], replace(race.traces[-1], steps=slower))
    assert (lane.method, lane.about, lane.gap) == ("adaptive cascade", "", "steps took more time")


def test_blocks_without_a_draft_are_predicted_as_autoregressive_decoding():
    _, lane = compare(
        autoregressive(), replace(autoregressive(), header=replace(autoregressive().header, method="mine"))
    )
    assert lane.flat == lane.wide == 1


def test_the_spread_is_over_races_with_the_same_settings():
    slower = (autoregressive(), replace(cascade(), steps=tuple(replace(s, seconds=0.125) for s in cascade().steps)))
    other = tuple(replace(trace, header=replace(trace.header, seed=9)) for trace in RACE)
    halted = tuple(replace(trace, end="stopped") for trace in RACE)
    lane = compare_with_theory(Race(RACE), tuple(map(Race, (slower, other, halted))))[1]
    assert lane.measured == pytest.approx((2.0, 1.6))
    assert format_spread(lane.measured) == "1.80×, 1.60 to 2.00 in 2 races"
    assert format_spread((2.0,)).startswith("2.00× in one race")
    assert (format_spread((1.0, 1.0)), format_spread(())) == ("1.00×", "–")


def test_two_lanes_of_one_method_are_numbered():
    assert [lane.name for lane in compare(cascade(), cascade())] == ["1: cascade", "2: cascade"]


def test_without_a_single_token_pass_the_table_says_what_to_do():
    (lane,) = compare(cascade())
    assert lane.flat is None
    assert lane.reasons[0].endswith("Race with the autoregressive lane.")
    (empty,) = compare(replace(cascade(), steps=()))
    assert empty.reasons == ("This lane generated nothing, so nothing was measured.",)


def test_no_wrong_guesses_are_blamed_where_there_were_none():
    text = tuple(range(40))
    kept = made_by(Speculative("small", 8), drafted(text, by="small", method="speculative", seconds=0.1))
    _, lane = compare(alone(text), kept)
    assert lane.measured[0] < (lane.wide or 0) and lane.gap == "steps had fewer guesses than predicted"
