"""Transcripts: the target's text, and what every model predicts along it."""

from __future__ import annotations

import math

import pytest
import toy
from toy import DRAFTS

from csd.decoding.methods import Autoregressive
from csd.request.prompts import Prompt
from csd.tuning.transcripts import TopTokens, record_transcript, run_method

PROMPTS = [Prompt("a", "abcabcab", max_new=40), Prompt("b", "badcafe", temperature=0.8, seed=3, max_new=40)]


@pytest.mark.parametrize("prompt", PROMPTS, ids=["greedy", "sampled"])
def test_a_transcript_holds_the_targets_text_and_the_targets_own_choices_are_that_text(prompt):
    family = toy.family(9, seed=2, noises=(0.5, 0.9, 1.6), bigram=True)
    transcript = record_transcript(family, prompt)
    assert transcript.tokens == run_method(family, prompt, Autoregressive()).tokens
    assert tuple(top.best for top in transcript.predictions["target"][:-1]) == transcript.tokens
    assert set(transcript.predictions) == {"target", *DRAFTS}
    for predictions in transcript.predictions.values():
        assert len(predictions) == len(transcript.tokens) + 1
        assert all(top.gaps[0] == 0 and list(top.gaps) == sorted(top.gaps) for top in predictions)


@pytest.mark.parametrize(("context", "known"), [(7, 0), (8, 1), (20, 13), (100, 41)])
def test_predictions_end_where_a_models_context_ends(context, known):
    """The model predicts a token after each text that it can read, from the 8 tokens of the prompt on."""
    family = toy.family(9, noises=(0.5, 0.9), contexts={"draft-2": context})
    transcript = record_transcript(family, PROMPTS[0])
    assert len(transcript.predictions["draft-2"]) == known and len(transcript.predictions["target"]) == 41


def test_a_lenient_reviewer_accepts_what_is_near_the_best():
    top = TopTokens((5, 7), (0.0, math.log(2)))
    assert top.best == 5 and top.margin == math.log(2)
    assert top.accepts(5, 1.0) and not top.accepts(7, 1.9) and top.accepts(7, 2.0) and not top.accepts(8, 9.0)
    assert TopTokens((5,), (0.0,)).margin is None
