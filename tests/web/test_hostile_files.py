"""A recorded race with one value replaced, opened as the page opens it: a race or a sentence, never anything else."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from time import process_time
from typing import Any

import orjson
import pytest
from fake_page import RECORDED, context
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from csd.record.recording import Recording
from csd.web import earlier_races

RACE = Recording(RECORDED[:2], "A fox").to_dict()
for lane in RACE["traces"]:  # short, so that many examples can be opened
    lane["steps"] = lane["steps"][:3]
HOSTILE = (
    0, 1, -1, 2, 63, 2**31, 2**62, 2**63 - 1, -(2**63), 0.5, -0.5, 5e-324, 1e-300, 1e300, 1e308, None, True, False, "", "x",
    "\ud83d", "<script>", "=1+1", "x" * 5000, [], {}, [[]], [0], [2**62], ["x"] * 200, {"k": 2**62}, [[[[[[[[[[]]]]]]]]]],
)  # fmt: skip


@pytest.fixture(scope="module")
def page():
    return context()


def places(data: Any, path: tuple = ()) -> list[tuple]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [found for key, value in items for found in ((*path, key), *places(value, (*path, key)))]


PLACES = places(RACE)
NUMBERS = [path for path in PLACES if path[-1] in ("seconds", "start", "accepted", "token", "at", "k", "K", "max_new")]


def changed(path: tuple, value: Any, everywhere: bool) -> bytes:
    """The race with a value at this place, or at all places of this name."""
    data = copy.deepcopy(RACE)
    for one in [other for other in PLACES if other[-1] == path[-1]] if everywhere else [path]:
        part = data
        try:
            for key in one[:-1]:
                part = part[key]
            part[one[-1]] = value
        except (TypeError, KeyError, IndexError):  # inside something that was replaced
            continue
    return json.dumps(data).encode()


def where(name: str) -> tuple:
    return next(path for path in PLACES if path[-1] == name)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLACES) | st.sampled_from(NUMBERS), st.sampled_from(HOSTILE), st.booleans())
@example(where("seconds"), 0, True)
@example(where("seconds"), 5e-324, True)
@example(where("seconds"), 1e300, True)
@example(where("k"), 2**62, False)
@example(where("settings"), {"K": [[2**62] * 3] * 3}, False)
@example(where("settings"), {"a": [[[[[[[[[[[[]]]]]]]]]]]]}, False)
def test_a_file_is_a_race_or_gets_a_sentence(page, path, value, everywhere):
    update = earlier_races.open_file(page, "v", changed(path, value, everywhere), page.start)
    assert update.status.text.endswith(".") and len(update.status.text) < 700
    if update.status.state == "refused":
        assert update.stage is None
        return
    orjson.dumps([json.loads(line) for line in update.stage.log.splitlines()])
    for figure in update.results.figures:
        json.loads(figure.to_json(), parse_constant=pytest.fail)
    orjson.dumps(asdict(update.results.panel))
    if update.form:
        orjson.dumps(update.form.values)


def test_deep_and_large_files_get_a_sentence(page):
    head, tail = b'{"traces":[{"version":2,"header":{"settings":', b"}}]}"
    for data in (b"[" * 10**6, b'{"a":' * 10**6, head + b"[" * 900 + b"]" * 900 + tail, b"1" * 10**6):
        update = earlier_races.open_file(page, "v", data, page.start)
        assert (update.status.state, update.stage) == ("refused", None) and len(update.status.text) < 300


def test_a_block_of_thousands_of_tokens_is_drawn_in_seconds(page):
    data = copy.deepcopy(RACE)
    review = next(
        step["review"]
        for step in data["traces"][1]["steps"]
        if step["review"]["accepted"] < len(step["review"]["tokens"])
    )
    count = 4096 - len(review["tokens"])
    review["tokens"] += [review["token"]] * count
    review["authors"] += [review["by"]] * count
    started = process_time()
    update = earlier_races.open_file(page, "v", json.dumps(data).encode(), page.start)
    assert update.status.state == "ended" and process_time() - started < 5
