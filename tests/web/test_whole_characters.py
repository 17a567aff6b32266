"""Half of a surrogate pair in a field gets a sentence, as any other value that is not on the page."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hostile import Page

from csd.web.clear_answers import NO_CHOICE
from csd.web.whole_characters import dumps, orjson

HALF = "a\ud800b"


def test_what_is_no_character_is_written_as_a_question_mark():
    sent = {HALF: [HALF, ("ä 😀", 1)], "n": 2.5, "none": None}
    assert json.loads(dumps(sent)) == {"a?b": ["a?b", ["ä 😀", 1]], "n": 2.5, "none": None}


def test_everything_else_is_written_as_before():
    option = orjson.OPT_SERIALIZE_NUMPY
    assert dumps({"a": np.arange(2), "b": {3}}, default=str, option=option) == b'{"a":[0,1],"b":"{3}"}'
    with pytest.raises(TypeError):
        dumps({"b": {3}})


@pytest.mark.parametrize("event", ["compare", "run"])
@pytest.mark.parametrize("field", ["family", "rule"])
def test_a_choice_that_is_no_text_gets_a_sentence(house, event, field):
    page = Page(house.url)
    endpoint = page.endpoints[event]
    last = json.loads(page.event(endpoint.index, endpoint.arguments({field: HALF}))[-1])
    assert last["output"]["error"] == NO_CHOICE
