"""Is a lane's text the reference's? Every kind of verdict, on lanes whose tokens and margins one can see."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_lanes import cascade, plain

from csd.record.verdict import NEAR_TIE, Verdict, compare_tokens, judge, margins

TOKENS = (4, 5, 7, 8, 10, 11, 12)  # what cascade() generates


def with_rule(trace, rule):
    return replace(trace, header=replace(trace.header, rule=rule))


def test_the_reference_is_not_compared_with_itself():
    reference = plain(TOKENS)
    assert judge(reference, reference) == Verdict("reference", 7)


def test_the_same_tokens_are_identical():
    assert judge(cascade(), plain(TOKENS)) == Verdict("identical", 7)


def written_by(name, tokens):
    """A lane whose every token comes from this model alone."""
    trace = plain(tokens)
    return replace(trace, steps=tuple(replace(step, review=replace(step.review, by=name)) for step in trace.steps))


def test_a_draft_by_itself_is_not_lossless_and_no_fault():
    alone = written_by("draft", (4, 5, 7, 9, 10, 11, 12))
    assert not alone.lossless and plain(TOKENS).lossless and cascade().lossless
    assert judge(alone, plain(TOKENS)) == Verdict("not lossless", 7, True, 3)
    assert judge(written_by("draft", TOKENS), plain(TOKENS)) == Verdict("not lossless", 7)
    assert judge(alone, None) == judge(with_rule(alone, "rejection"), plain(TOKENS)) == Verdict("not lossless")
    assert not judge(alone, plain(TOKENS)).is_fault


def test_another_token_differs_with_the_margin_of_the_reference():
    assert judge(cascade(), plain((4, 5, 7, 9, 10, 11, 12))) == Verdict("differs", 7, True, 3, 3.5)
    assert judge(cascade(), plain((4, 5, 7, 9, 10, 11, 12))).is_fault


def test_the_margin_is_known_only_where_the_target_wrote_the_token():
    """cascade() as the reference: its token at position 3 was drafted by Max-Gram, that at position 4 is the target's."""
    assert margins(cascade()) == (None, None, None, None, 0.25, None, 0.75)
    assert judge(plain((4, 5, 7, 9)), cascade()) == Verdict("differs", 4, True, 3, None)
    assert judge(plain((4, 5, 7, 8, 11)), cascade()) == Verdict("differs", 5, True, 4, 0.25)


@pytest.mark.parametrize(("dtype", "limit"), NEAR_TIE.items())
def test_a_near_tie_includes_its_limit(dtype, limit):
    for margin, kind in ((0.0, "near-tie"), (limit, "near-tie"), (limit * 1.001, "differs"), (None, "differs")):
        for name in (dtype, f"torch.{dtype}"):
            assert compare_tokens((1, 2), (1, 3), (None, margin), name) == Verdict(kind, 2, True, 1, margin)
    assert not Verdict("near-tie").is_fault


def test_an_unknown_number_format_has_no_near_ties_but_exact_ones():
    assert compare_tokens((1,), (2,), (0.0,), "int3").kind == "near-tie"
    assert compare_tokens((1,), (2,), (1e-12,), "int3").kind == "differs"


def test_a_text_that_ends_early_differs():
    long, short = plain((4, 5, 6)), plain((4, 5))
    assert judge(short, long) == Verdict("differs", 2, True, 2)
    assert judge(long, short) == Verdict("differs", 2, True, 2)


def test_a_stopped_lane_is_compared_as_far_as_both_went():
    long, stopped = plain((4, 5, 6)), plain((4, 5), "stopped")
    assert judge(stopped, long) == Verdict("identical", 2, whole=False)
    assert judge(long, stopped) == Verdict("identical", 2, whole=False)
    assert judge(plain((4, 9), "stopped"), long) == Verdict("differs", 2, False, 1, 1.5)


def test_texts_differ_under_the_rejection_rule_and_that_is_right():
    lane, reference = with_rule(cascade(), "rejection"), with_rule(plain((1, 2)), "rejection")
    assert judge(lane, reference) == judge(lane, None) == Verdict("same distribution")
    assert not judge(lane, reference).is_fault


def test_what_cannot_be_compared_says_why():
    assert judge(cascade(), None) == Verdict("not compared", reason="no autoregressive lane")
    assert judge(plain((), "stopped"), plain((4,))).reason == "no token was generated"
    assert judge(with_rule(plain((), "stopped"), "rejection"), None).reason == "no token was generated"
    assert judge(cascade(), plain((), "stopped")).reason == "the autoregressive lane generated nothing"
