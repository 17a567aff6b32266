"""The stage's log: what its lines say, and the words of the verdict."""

import json
import re
from dataclasses import asdict, replace

import pytest
from paired import PIECES, alone, drafted, header

from csd import theme
from csd.decoding.methods import METHODS
from csd.decoding.methods.method import Knobs
from csd.record.race import Race
from csd.record.trace import Level, Prefill, Proposal, Review, Step
from csd.roles import roles
from csd.run import LaneAdvanced, LaneFinished, RaceStarted
from csd.stage import bundle
from csd.stage import log as stage
from csd.stage.conclusion import conclude
from csd.stage.settings import planned_guesses, settings_in_words


def conclude_race(traces) -> dict:
    return conclude(Race(tuple(traces)))


def lines(text: str) -> list[dict]:
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


TEXT = tuple(range(10, 60))


def test_open_names_levels_lanes_and_pieces():
    event = RaceStarted(
        (header("autoregressive"), header("cascade", rule="coupled")), {0: "a\n</script>", 1: (240, 159)}
    )
    (line,) = lines(stage.opened(event, "race-1", "story"))
    assert (line["t"], line["race"], line["example"], line["start"], line["prompt"]) == (
        "open",
        "race-1",
        "story",
        2,
        "w0 w1",
    )
    assert [(level["name"], level["mark"], level["look"]) for level in line["levels"]] == [
        ("MaxGram", "0", "0"), ("Bigram", "0", "0"), ("small", "2", "2"), ("target", "T", "T"),
    ]  # fmt: skip
    assert [level["label"] for level in line["levels"]] == ["Max-Gram", "Bigram", "small", "target"]
    look = line["lanes"][1].pop("look")
    assert look["symbol"] == theme.method_look("cascade").symbol
    assert line["lanes"][1] == {
        "method": "cascade", "label": "settings", "words": "follows a plan", "plan": {},
        "rule": "coupled", "max": 64,
    }  # fmt: skip
    assert line["ends"] == list(header("cascade").eos)
    assert line["p"] == {"0": "a\n</script>", "1": [240, 159]}


@pytest.mark.parametrize(
    ("settings", "label", "words"),
    [
        ({}, "", "big model alone"),
        ({"draft": "mid", "k": 16}, "mid, k=16", "small model guesses 16"),
        ({"draft": "mid"}, "mid", "small model alone"),
        ({"k": 8}, "k=8", "copier alone guesses 8"),
    ],
)
def test_settings_are_told_in_plain_words(settings, label, words):
    assert settings_in_words(replace(header("any"), settings=settings, label=label), {"mid": "small model"}) == words


@pytest.mark.parametrize(
    ("K", "words"),
    [
        ([[8, 14, 16], [0, 3, 5], [0, 0, 2]], "small + tiny + copier"),
        ([[16, 16, 20], [0, 0, 7], [0, 0, 0]], "small + copier"),
        ([[4, 4, 4], [0, 4, 4], [0, 0, 4]], "small + tiny + copier"),  # one below the other
        ([[16, 16], [0, 0]], "follows a plan"),  # which cannot have run
        ("<b>", "follows a plan"),
    ],
)
def test_the_plan_of_a_cascade_is_told_by_who_guesses(K, words):
    told = {"mid": "small model", "small": "tiny model", "MaxGram": "copier"}
    cascade = replace(header("cascade"), settings={"drafts": ["mid", "small"], "K": K})
    assert settings_in_words(cascade, told) == words
    assert set(planned_guesses(cascade)) <= set(told)


def test_the_plan_of_a_block_is_told_by_level():
    settings = {"drafts": ["mid", "small"], "K": [[8, 14, 16], [0, 3, 5], [0, 0, 2]]}
    assert planned_guesses(replace(header("cascade"), settings=settings)) == {"mid": 8, "small": 6, "MaxGram": 2}
    assert planned_guesses(header("adaptive cascade")) == {}


def test_every_method_has_its_settings_told():
    """No list of numbers stands under the name of a lane, whatever the method."""
    for method in METHODS.values():
        made = method.from_knobs(Knobs(drafts=("mid", "small"), draft="mid", K=((16, 16, 20), (0, 0, 7), (0, 0, 0))))
        told = settings_in_words(replace(header(method.name), settings=asdict(made), label=made.label), {})
        assert "[" not in told and "=" not in told, told


def test_a_step_keeps_its_reviews():
    guess = Proposal("MaxGram", 2, (5, 6), ("MaxGram", "Bigram"), 0.1, 0.0000004)
    inner = Review(
        "small", 2, (5, 6), ("MaxGram", "Bigram"), 1, 7, 0.1, 0.01, (guess,), p=(0.123456, 0.5), q=(0.5, 1.0)
    )
    skipped = Review("small", 4, (), (), 0, None, 0.11, 0.0, skipped="its context is full")
    review = Review("target", 2, (5, 7), ("MaxGram", "small"), 2, 8, 0.11, 0.05, (inner, skipped), margin=float("inf"))
    step = Step((5, 7, 8), ("MaxGram", "small", "target"), review, 0.1, 0.0600001)
    (line,) = lines(stage.moved(LaneAdvanced(1, step, {5: " x"})))
    assert (line["t"], line["i"], line["x"], line["who"]) == ("step", 1, [5, 7, 8], ["MaxGram", "small", "target"])
    assert (line["c"], line["d"], line["p"]) == (0.1, 0.06, {"5": " x"})
    root = line["r"]
    assert (root["by"], root["at"], root["ok"], root["y"]) == ("target", 2, 2, 8)
    assert "m" not in root, "an infinite margin is not valid JSON"
    below, empty = root["in"]
    assert (below["ok"], below["y"], below["p"], below["q"]) == (1, 7, [0.1235, 0.5], [0.5, 1.0])
    assert below["in"] == [{"by": "MaxGram", "at": 2, "c": 0.1, "d": 0.0, "x": [5, 6], "who": ["MaxGram", "Bigram"]}]
    assert empty["s"] == "its context is full"
    assert "x" not in empty
    assert "y" not in empty


def test_one_author_is_named_once():
    (line,) = lines(stage.moved(LaneAdvanced(0, alone((5,)).steps[0], {})))
    assert line["who"] == "target"
    assert "p" not in line


def test_prefill_end_and_message():
    (line,) = lines(stage.moved(LaneAdvanced(2, Prefill("small", 7, 0.1, 0.2), {})))
    assert line == {"t": "prefill", "i": 2, "by": "small", "n": 7, "c": 0.1, "d": 0.2}
    trace = drafted(TEXT, end="stopped")
    assert lines(stage.ended(LaneFinished(2, trace))) == [{"t": "end", "i": 2, "end": "stopped"}]
    assert lines(stage.message("Place 2\nin the queue.")) == [{"t": "message", "text": "Place 2\nin the queue."}]


def test_the_whole_log_is_what_the_events_make():
    traces = (alone(TEXT), drafted(TEXT))
    events = stage.opened(RaceStarted(tuple(trace.header for trace in traces), PIECES), "r", "story")
    for lane, trace in enumerate(traces):
        for record in (*trace.prefill, *trace.steps):
            events += stage.moved(LaneAdvanced(lane, record, {}))
        events += stage.ended(LaneFinished(lane, trace))
    assert stage.log_of(traces, "r", "story", play=True) == events + stage.closed(traces)
    assert lines(stage.log_of(traces))[-1]["play"] is False
    assert lines(stage.log_of(()))[0]["t"] == "message"


def test_identical_text_gets_the_badge_and_the_speedup():
    said = conclude_race((alone(TEXT), drafted(TEXT)))
    reference, cascade = said["lanes"]
    assert reference["kind"] == "reference"
    assert reference["speed"] == ""
    assert (cascade["kind"], cascade["badge"]) == ("identical", "= identical to autoregressive, 50 of 50 tokens")
    assert cascade["speed"] == "2.00x autoregressive, 1.93x with prefill"  # 20 : 10 tokens/s, and 5.2 s : 2.7 s
    assert cascade["notes"] == []
    assert said["notes"] == []
    assert "cascade wrote 50 tokens at 20 tokens per second" in said["summary"]


def test_a_slower_lane_is_told_calmly():
    slow = conclude_race((alone(TEXT), drafted(TEXT, seconds=0.25)))["lanes"][1]
    assert slow["speed"] == "slower here: 0.80x autoregressive, 0.81x with prefill"


@pytest.mark.parametrize(
    ("margin", "dtype", "kind"),
    [
        (0.00002, "float32", "near-tie"),
        (0.3, "float32", "bug"),
        (0.3, "bfloat16", "near-tie"),
        (None, "float32", "unknown"),
    ],
)
def test_a_difference_says_where_and_why(margin, dtype, kind):
    other = (*TEXT[:20], 99, *TEXT[21:])
    lane = conclude_race((alone(TEXT, margin=margin, dtype=dtype), drafted(other, dtype=dtype)))["lanes"][1]
    shown = {0.00002: " (margin 0.000020)", 0.3: " (margin 0.30)", None: ""}[margin]
    assert (lane["kind"], lane["badge"]) == ("differs", f"differs from position 20{shown}")
    assert kind in lane["notes"][0]


def test_rejection_promises_the_law_and_not_the_text():
    lane = conclude_race((alone(TEXT, rule="rejection"), drafted(TEXT[::-1], rule="rejection")))["lanes"][1]
    assert lane["kind"] == "law"
    assert "identical" not in lane["badge"]
    assert "distribution" in lane["notes"][0]


def test_a_draft_by_itself_is_marked_not_lossless():
    def by_draft(tokens):
        trace = alone(tokens)
        return replace(trace, steps=tuple(replace(one, review=replace(one.review, by="draft")) for one in trace.steps))

    said = conclude_race((alone(TEXT), by_draft((*TEXT[:20], 99, *TEXT[21:])), by_draft(TEXT)))["lanes"]
    assert [lane["kind"] for lane in said] == ["reference", "lossy", "lossy"]
    assert said[1]["badge"] == "not lossless: differs from position 20"
    assert said[2]["badge"] == "not lossless, but the same text here: 50 tokens"
    assert "another model" in said[1]["notes"][0]


def test_lanes_without_a_reference_or_without_tokens():
    assert conclude_race((drafted(TEXT),))["lanes"][0]["badge"] == "not checked: no autoregressive lane"
    empty = conclude_race((alone(()), drafted(())))
    assert [lane["kind"] for lane in empty["lanes"]] == ["reference", "none"]
    assert "not checked" in conclude_race((alone(()), drafted(TEXT)))["lanes"][1]["badge"]
    assert "nan" not in json.dumps(empty).lower()


def test_a_short_or_stopped_run_is_told_once():
    """The headline says it; a lane's notes say only what was compared."""
    said = conclude_race((alone(TEXT), drafted(TEXT[:10], end="stopped")))
    notes = " ".join(said["lanes"][1]["notes"])
    assert "only their shared length was compared" in notes
    assert "Stopped early" not in notes and "too few" not in notes
    assert said["headline"]["text"].startswith("Stopped. Same text") and not said["headline"]["flags"]


def test_a_loop_is_named_and_so_is_the_lane_that_wins_by_it():
    loop = tuple(range(10, 14)) * 10  # 33 8-grams, all but the first 4 seen before: 88 %
    notes = conclude_race((alone(loop), drafted(loop), drafted(loop, by="small", method="speculative")))["notes"]
    assert notes[0].startswith("This text is repetitive (88% of its 8-grams occurred earlier)")
    assert len(notes) == 2
    assert "cascade copied 50%" in notes[1]


def test_the_style_sheet_survives_gradio():
    """Gradio splits selectors at commas and keeps plain, media and keyframe rules only."""
    assert "var(--cs-level-0)" in bundle.CSS
    assert "--cs-level-0:" in bundle.CSS
    for rule in re.findall(
        r"{([^{}]*)}", bundle.CSS
    ):  # a shorthand with a variable is lost where a part of it is set too
        for name in re.findall(r"(?<![-\w])(font|text-decoration): [^;]*var\(", rule):
            assert not re.search(rf"(?<![-\w]){name}-(?!skip-ink)[a-z-]+:", rule), rule
    for word in ("@supports", "@container", "@layer", ":is(", ":where("):
        assert word not in bundle.CSS.split("*/", 1)[1]


def test_the_template_is_static():
    for sign in ("${", "{{", "`", "<script"):
        assert sign not in bundle.HTML_TEMPLATE
    script = bundle.gradio_script()
    assert "innerHTML" not in script
    assert "CascadeStage.mount" in script


def test_each_cascade_says_what_makes_it_one():
    names = [name for name in METHODS if "cascade" in name]
    told = [settings_in_words(replace(header(name), settings={"drafts": ["mid"]}), {}) for name in names]
    assert len(set(told)) == len(names) == 4


@pytest.mark.parametrize(
    ("drafts", "called"),
    [
        (0, ["copier", "copier", "big model"]),
        (1, ["copier", "copier", "small model", "big model"]),
        (2, ["copier", "copier", "tiny model", "small model", "big model"]),
        (3, ["copier", "copier", "tiny model", "small model", "medium model", "big model"]),
        (4, ["copier", "copier", "draft 1", "draft 2", "draft 3", "draft 4", "big model"]),
    ],
)
def test_levels_are_called_by_their_rank(drafts, called):
    numbers = [0, 0, *range(1, drafts + 2)]
    levels = [Level(f"level {i}", number, "") for i, number in enumerate(numbers)]
    assert list(roles(levels).values()) == called


def test_a_target_alone_is_the_big_model():
    assert roles([Level("target", 0, "")]) == {"target": "big model"}
