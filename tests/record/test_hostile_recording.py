"""Files that somebody has made to do harm: each gets a sentence, in bounded time and memory."""

from __future__ import annotations

import json

import pytest
from handmade import nested

from csd.record.recording import Recording
from csd.record.untrusted import load_json

HUGE = "9" * 5000


MEGABYTE = 2**20


def replaced(old: str, new: str) -> bytes:
    """A valid race in which some JSON text was replaced."""
    text = json.dumps({"traces": [nested().to_dict()]}, separators=(",", ":"))
    assert old in text
    return text.replace(old, new).encode()


def flood(item: str, size: int = 4 * MEGABYTE) -> str:
    """So many items that they would take minutes, or gigabytes, if each got an error of its own."""
    return ",".join([item] * (size // len(item)))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (replaced('"seed":0', f'"seed":{HUGE}'), "does not fit 64 bits"),
        (replaced('"seed":0', '"seed":9223372036854775808'), "does not fit 64 bits"),
        (replaced('"seed":0', '"seed":-9223372036854775808'), "does not fit 64 bits"),
        (replaced('"settings":{}', f'"settings":{{"k":{HUGE}}}'), "does not fit 64 bits"),
        (replaced('"settings":{}', '"settings":{"k":1e999}'), "too large: 1e999"),
        (replaced('"settings":{}', '"settings":{"k":Infinity}'), "contains Infinity"),
        (
            replaced('"settings":{}', '"settings":' + '{"a":' * 500 + "1" + "}" * 501),
            "nested too deeply|not JSON",
        ),
        (
            replaced('"settings":{}', '"settings":' + '{"a":' * 500 + "1" + "}" * 500),
            "nested too deeply",
        ),
        (replaced('"temperature":1.0', '"temperature":-1e400'), "too large"),
        (
            replaced('"prompt":[1,2]', f'"prompt":[{flood(chr(34) * 2, 3 * MEGABYTE)}]'),
            "header.prompt.0 should be a valid int",
        ),
        (replaced('"eos":[]', f'"eos":[{flood("1.5")}]'), "header.eos.0"),
        (replaced('"prefill":[', f'"prefill":[{flood("{}", MEGABYTE // 2)},'), "prefill.0"),
        (replaced('"steps":[', f'"steps":[{flood("{}", MEGABYTE // 2)},'), "steps; at most 8,192"),
        (replaced('"inner":[]', f'"inner":[{flood("{}", MEGABYTE // 2)}]'), "inner.0"),
        (replaced('"levels":[', f'"levels":[{flood("{}", MEGABYTE // 2)},'), "levels.0"),
        (replaced('"steps":[', f'"steps":[{flood("{}")},'), "contains .* lists and objects; at most"),
        (replaced('"steps":[', f'"steps":[{flood("[]")},'), "contains .* lists and objects; at most"),
        (
            replaced('"levels":[', "[".join(['"levels":', flood('{"name":"a","level":0}') + ","])),
            "has [0-9,]* levels; a race has 1 to 100",
        ),
        (
            replaced('"pieces":{', '"pieces":{' + ",".join(f'"{i}":5' for i in range(300_000)) + ","),
            "object of .* fields",
        ),
        (replaced('"pieces":{', '"pieces":{' + ",".join(f'"{i}":5' for i in range(99_000)) + ","), "values are wrong"),
        (
            replaced('"versions":{}', '"versions":{' + ",".join(f'"{i}":5' for i in range(99_000)) + "}"),
            "values are wrong",
        ),
        (
            replaced('"family":"toy"', '"family":"toy",' + ",".join(f'"{i}":5' for i in range(99_000))),
            "values are wrong",
        ),
        (replaced('"version":2', '"version":' + json.dumps("v" * MEGABYTE)), "not a trace of version"),
        (replaced('"version":2', '"version":true'), "not a trace of version"),
        (replaced('"family":"toy"', f'"family":"toy","{"f" * MEGABYTE}":1'), "header.f{50,200}: "),
        (b'{"header":' * 3 + b"1" + b"}" * 3, "not a trace of version"),
        (b'{"traces":[' + b"[" * 50 + b"]" * 50 + b"]}", "not a trace of version"),
        (b"[" + b"1," * 9_000_000 + b"1]", "contains 9,000,001 values; at most 2,097,152 are read"),
        (b'"\\ud83d"', "JSON, but not a saved race"),
    ],
)
def test_a_hostile_file_gets_one_sentence(data, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        Recording.from_bytes(data)
    assert len(str(refusal.value)) < 500


def test_as_many_values_as_the_largest_races_have_are_read():
    """A race of 7.6 MB had 0.7 million, so one of 20 MB has fewer than this."""
    assert len(load_json(f"[{'1,' * 1_900_000}1]")) == 1_900_001


def test_nothing_else_is_raised_for_what_anybody_may_write():
    """Every value of a race replaced by values of every other kind."""
    values = (None, True, -1, 2**63 - 1, 1e308, "", "\ud83d", "<b>", [], [[]], [None], {}, {"": None}, [1, "a", {}])

    def attempts(data, root):
        items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
        for key, old in list(items):
            for value in values:
                data[key] = value
                yield json.dumps(root).encode()
            data[key] = old
            yield from attempts(old, root)

    def read(data):
        try:
            return Recording.from_bytes(data)
        except ValueError as error:
            return str(error)

    recording = {"traces": [nested().to_dict()], "title": "A", "date": "B"}
    for found in map(read, attempts(recording, recording)):
        if isinstance(found, str):
            assert found.endswith(".") and len(found) < 700
        else:
            assert Recording.from_bytes(found.to_gzip()) == found
