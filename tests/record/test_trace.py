"""The record: JSON both ways loses nothing, and what is no trace is refused with a sentence."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csd.record.trace import Header, Level, Prefill, Proposal, Review, Step, Trace, detokenize
from csd.record.upgrade import VERSION

ids = st.lists(st.integers(0, 200_000), max_size=5).map(tuple)
names = st.text(max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
seconds = st.floats(0, 1e7)
counts = st.integers(0, 2**31)
chances = st.lists(st.floats(0, 1), max_size=4).map(tuple)
authors = st.lists(names, max_size=5).map(tuple)
# Everything that text can hold, control characters and line separators included; lone surrogates are no text.
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
pieces = st.one_of(texts, st.lists(st.integers(0, 255), min_size=1, max_size=4).map(tuple))

proposals = st.builds(Proposal, names, counts, ids, authors, seconds, seconds)
reviews = st.recursive(
    st.builds(
        Review,
        names,
        counts,
        ids,
        authors,
        counts,
        st.none() | counts,
        seconds,
        seconds,
    ),
    lambda inner: st.builds(
        Review,
        names,
        counts,
        ids,
        authors,
        st.integers(0, 64),
        st.none() | counts,
        seconds,
        seconds,
        st.lists(inner | proposals, max_size=3).map(tuple),
        chances,
        chances,
        st.none() | seconds,
        texts,
    ),
    max_leaves=6,
)
headers = st.builds(
    Header,
    method=names,
    label=texts,
    settings=st.dictionaries(names, numbers | texts | st.lists(st.integers(0, 64)), max_size=3),
    family=texts,
    levels=st.lists(
        st.builds(Level, names, st.integers(0, 5), texts, st.integers(0, 2**63 - 1), names), max_size=3
    ).map(tuple),
    prompt=ids,
    text=texts,
    max_new=st.integers(1, 2**63 - 1),
    eos=ids,
    rule=names,
    temperature=numbers,
    top_k=st.integers(0, 2**63 - 1),
    top_p=numbers,
    seed=st.integers(0, 2**63 - 1),
    device=names,
    dtype=names,
    versions=st.dictionaries(names, texts, max_size=2),
)
traces = st.builds(
    Trace,
    headers,
    st.lists(st.builds(Prefill, names, counts, seconds, seconds), max_size=2).map(tuple),
    st.lists(st.builds(Step, ids, authors, reviews, seconds, seconds), max_size=3).map(tuple),
    st.sampled_from(("eos", "budget", "stopped")),
    st.dictionaries(st.integers(0, 200_000), pieces, max_size=4),
)


@settings(max_examples=200, deadline=None)
@given(traces)
def test_json_both_ways(trace):
    text = trace.to_json()
    assert Trace.from_json(text) == trace
    assert Trace.from_dict(trace.to_dict()) == trace
    assert Trace.from_json(text).to_json() == text
    assert text.isascii() and "\n" not in text  # a line of a file, whatever the pieces hold
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["version"] == VERSION


def example() -> Trace:
    leaf = Proposal("MaxGram", 3, (5, 6), ("MaxGram",) * 2, 0.01, 0.001)
    inner = Review("small", 3, (5, 6), ("MaxGram",) * 2, 1, 7, 0.02, 0.01, (leaf,), (0.5, 0.1), (1.0, 1.0), 0.25)
    root = Review("target", 3, (5, 7), ("MaxGram", "small"), 2, 8, 0.04, 0.05, (inner,), margin=1.5)
    header = Header(
        "cascade", "K=[[2,3],[0,2]]", {"drafts": ["small"], "K": [[2, 3], [0, 2]], "lenience": 1.0}, "toy",
        (Level("small", 1), Level("target", 2, "folder", 10, "float32")), (1, 2, 3), "abc", 9, (0,), "greedy", 0.0, 0,
        1.0, 0, "cpu", "float32", {"python": "3"},
    )  # fmt: skip
    parts = {1: "a", 2: "b", 3: "c", 5: "\u2028é", 6: (0xF0, 0x9F), 7: (0x99, 0x82), 8: '\x00"</script>'}
    step = Step((5, 7, 8), ("MaxGram", "small", "target"), root, 0.0, 0.1)
    return Trace(header, (Prefill("target", 3, 0.0, 0.2),), (step,), "budget", parts)


def test_what_a_trace_knows_of_itself():
    trace = example()
    assert trace.tokens == (5, 7, 8)
    assert trace.prefill_seconds == 0.2 and trace.decode_seconds == 0.1
    assert Trace.from_json(trace.to_json()) == trace
    assert isinstance(Trace.from_json(trace.to_json()).steps[0].review.inner[0].inner[0], Proposal)


@pytest.mark.parametrize("found", [None, 0, 3, "1", 1.5])
def test_another_version_is_refused(found):
    data = example().to_dict() | {"version": found}
    with pytest.raises(ValueError, match=f"not a trace of version {VERSION} or 1 .found"):
        Trace.from_dict(data)


@pytest.mark.parametrize("data", [None, [], "trace", 3, {}])
def test_what_is_no_trace_is_refused(data):
    with pytest.raises(ValueError, match="not a trace"):
        Trace.from_dict(data)
    with pytest.raises(ValueError, match="not a trace"):
        Trace.from_json(json.dumps(data))


@pytest.mark.parametrize("text", ["", "{", "[1,2", '{"version": 1,', "nonsense", "[" * 100_000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match="This is not a trace: it is (empty|not JSON|nested too deeply)") as refusal:
        Trace.from_json(text)
    assert str(refusal.value).endswith(".")


def broken(change) -> dict:
    data = copy.deepcopy(example().to_dict())
    change(data)
    return data


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("header"),
        lambda data: data.pop("pieces"),
        lambda data: data["header"].pop("seed"),
        lambda data: data["header"].update(colour=1),
        lambda data: data["header"].update(levels=None),
        lambda data: data["header"].update(levels=[{"name": "x"}]),
        lambda data: data["header"].update(settings=[1]),
        lambda data: data.update(steps=None),
        lambda data: data.update(steps=[1]),
        lambda data: data.update(prefill=[{"by": "x"}]),
        lambda data: data.update(pieces=[1]),
        lambda data: data.update(pieces={"a": "b"}),
        lambda data: data.update(pieces={"1": 5}),
        lambda data: data["steps"][0].pop("review"),
        lambda data: data["steps"][0].update(tokens=3),
        lambda data: data["steps"][0]["review"].pop("by"),
        lambda data: data["steps"][0]["review"].update(inner=[None]),
        lambda data: data["steps"][0]["review"]["inner"][0].update(extra=1),
    ],
)
def test_a_damaged_trace_is_refused_with_a_sentence(change):
    with pytest.raises(ValueError, match="This trace is damaged") as refusal:
        Trace.from_dict(broken(change))
    assert str(refusal.value).endswith(".")


def test_detokenizing_joins_bytes_to_characters():
    parts = {1: "a", 2: (0xF0, 0x9F), 3: (0x99, 0x82), 4: "é"}
    assert detokenize((1, 2, 3, 4), parts) == "a🙂é"
    assert detokenize((), parts) == ""
    assert detokenize((2,), parts) == "\ufffd" and detokenize((3, 1), parts) == "\ufffd\ufffda"
    assert detokenize((1, 2, 1), parts) == "a\ufffda"
    assert detokenize((1, 5), {1: "a", 5: "\ud83d"}) == "a\ufffd\ufffd\ufffd", "half of a pair"
    assert example().answer == '\u2028é\ufffd\ufffd\x00"</script>'


@given(texts)
def test_detokenizing_single_bytes_gives_the_text_back(text):
    raw = text.encode()
    assert detokenize(tuple(raw), {byte: (byte,) for byte in raw}) == text
