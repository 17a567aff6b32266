"""An opened step on the presented stage: its picture has the room that its window leaves, and nothing lies over it."""

from __future__ import annotations

from variants import variants

from csd.record.recording import bundled_recordings
from csd.stage import log as stage
from csd.web.races import recorded_races

SOME = [slice(0, 4), slice(4, None)]  # of the recorded races

PARTS = """() => {
  const box = (node) => node.getBoundingClientRect();
  const [grid, key, more] = [".cs-score", ".cs-score-key", ".cs-score-more"].map((part) => document.querySelector(part));
  const right = Math.max(...[...grid.querySelectorAll(".cs-cell")].map((cell) => box(cell).right));
  return { lowest: Math.max(...[...grid.querySelectorAll(".cs-cell, .cs-score-name")].map((part) => box(part).bottom)),
           key: key.checkVisibility() ? box(key).top : null, more: more.checkVisibility() ? more.textContent : "",
           beyond: right - box(grid).right, fades: grid.hasAttribute("data-more"),
           scrolls: grid.scrollHeight - grid.clientHeight };
}"""


@variants("size", [(1280, 720), (1320, 720), (1920, 1080)])
@variants("some", SOME)
def test_the_key_lies_below_the_picture_and_a_block_that_nearly_fits_is_seen_whole(bare, size, some):
    one = bare(size=size)
    for name, race in list(recorded_races().items())[some]:
        one.page.evaluate(
            "log => stage.update({race: String(log.length), log})", stage.log_of(race.recording.traces, "r")
        )
        one.page.focus(".cascade-stage")
        one.press("p", "End", "o")
        one.page.wait_for_timeout(50)
        parts = one.page.evaluate(PARTS)
        assert parts["key"] is None or parts["key"] >= parts["lowest"] - 1, name
        assert parts["fades"] == ("more" in parts["more"]), name
        assert parts["more"] or parts["beyond"] <= 2, name
        assert parts["scrolls"] <= 2, name
        one.press("o", "p")
    assert not one.errors


def test_what_goes_on_with_the_talk_stands_in_the_line_of_the_controls(bare):
    one = bare()
    first = next(iter(recorded_races().values())).recording.traces
    one.page.evaluate("log => stage.update({race: String(log.length), log})", stage.log_of(first, "r"))
    one.page.focus(".cascade-stage")
    one.press("End", "o", "p")
    one.page.mouse.move(300, 690)
    lines = one.page.eval_on_selector_all(
        ".cs-transport > .cs-button", "all => all.filter(one => one.checkVisibility()).map(one => one.offsetTop)"
    )
    assert len(lines) > 5 and len(set(lines)) == 1


def test_a_frame_is_a_run_and_a_lookup_has_none(bare):
    one = bare()
    first = next(iter(recorded_races().values())).recording.traces
    one.page.evaluate("log => stage.update({race: String(log.length), log})", stage.log_of(first, "r"))
    one.page.focus(".cascade-stage")
    one.press("End", "o")
    frames = one.page.evaluate("""[...document.querySelectorAll(".cs-box:not(.cs-absent)")].map((box) =>
      [getComputedStyle(box).borderTopColor !== "rgba(0, 0, 0, 0)", box.dataset.look])""")
    assert {look for seen, look in frames if not seen} == {"0"}, "the copier's"
    assert len({look for seen, look in frames if seen}) == 3 and "0" not in {look for seen, look in frames if seen}
    assert one.text(".cs-sign") == "one run"


STRUCK = """() => {
  const seen = (part) => [...document.querySelectorAll(`.cs-score ${part}:not(.cs-absent)`)].filter((node) => node.checkVisibility());
  const words = seen(".cs-cell").map((node) => node.getBoundingClientRect());
  const lines = seen(".cs-rise").map((node) => node.getBoundingClientRect());
  const meets = (line, word) => word.left < line.left && line.left < word.right && word.top + 3 < line.bottom && line.bottom < word.bottom;
  return [lines.length, lines.filter((line) => words.some((word) => meets(line, word))).length];
}"""


@variants("size", [(1280, 720), (1920, 1080), (390, 844)])
@variants("some", SOME)
def test_no_dotted_line_runs_into_a_word(bare, size, some):
    one = bare(size=size, touch=size[0] < 500)
    for name, race in list(recorded_races().items())[some]:
        one.page.evaluate(
            "log => stage.update({race: String(log.length), log})", stage.log_of(race.recording.traces, "r")
        )
        one.page.focus(".cascade-stage")
        one.press("End", "o")
        for presented in (False, True):
            one.page.wait_for_timeout(50)
            lines, struck = one.page.evaluate(STRUCK)
            assert lines and not struck, (name, presented)
            one.press("p")
        one.press("o")
    assert not one.errors


def test_on_a_phone_the_words_of_the_horizontal_axis_are_whole_at_both_ends(bare):
    one = bare(size=(390, 844), touch=True)
    one.page.add_style_tag(
        content=".cs-axis-horizontal { letter-spacing: 0.6px; }"
    )  # as wide as in the page's typeface
    first = next(iter(recorded_races().values())).recording.traces
    one.page.evaluate("log => stage.update({race: String(log.length), log})", stage.log_of(first, "r"))
    one.page.focus(".cascade-stage")
    one.press("p", "End", "o")
    one.page.wait_for_timeout(100)
    for end in ("grid.scrollWidth", "0"):
        one.page.evaluate(f"(grid => grid.scrollLeft = {end})(document.querySelector('.cs-score'))")
        words, names, right = one.page.evaluate("""() => {
          const box = (part) => document.querySelector(part).getBoundingClientRect();
          const { left, right } = box(".cs-axis-horizontal > span");
          return [[left, right], box(".cs-score-name").right, box(".cs-score").right];
        }""")
        assert words[0] >= names - 1 and words[1] <= right + 1
    assert not one.errors


def test_on_a_phone_a_step_that_is_opened_from_below_the_lanes_has_its_lane_above_it(bare):
    one = bare(size=(390, 844), touch=True)
    first = next(iter(recorded_races().values())).recording.traces
    one.page.evaluate("log => stage.update({race: String(log.length), log})", stage.log_of(first, "r"))
    one.page.evaluate("document.querySelector('.cascade-stage').style.margin = '190px 0 600px'")  # as on the page
    one.press("End")
    one.page.evaluate("scrollTo(0, 300)")
    one.page.tap(".cs-look")
    top = "document.querySelector('.cs-track').getBoundingClientRect().top"
    one.page.wait_for_function(f"document.querySelector('.cascade-stage[data-opened]') && {top} >= 0")
    assert one.page.evaluate("document.querySelector('.cs-score').getBoundingClientRect().bottom <= innerHeight")
    assert not one.errors


def test_a_block_that_nearly_fits_is_not_cut(bare):
    """Its words stand closer, so that no part of one column is out of sight."""
    paper = bundled_recordings()["7-story-a-robot-and-the-thunder-with-the-paper-s-k"]
    one = bare().show(*paper.traces).press("3", "End", "o")
    over = {}
    for width in (1080, 940, 920, 700):
        one.page.set_viewport_size({"width": width, "height": 720})
        one.page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        over[width] = one.page.eval_on_selector(".cs-score", "grid => grid.scrollWidth - grid.clientWidth")
    assert (over[1080], over[940], over[920]) == (0, 0, 0) and over[700] > 40
    assert not one.errors
