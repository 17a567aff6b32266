"""The stage in a headless Chromium, on a bare page without network: replay, keyboard, the opened review, the budget."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from browser import set_field
from handmade import RACE, alone, nested

from csd.decoding.methods import METHODS
from csd.paths import ASSETS
from csd.record import metrics
from csd.record.trace import Trace
from csd.stage import bundle, export
from csd.stage import log as stage

HERE = Path(__file__).parent
LEVEL_TERMS = ("target", "draft", "Max-Gram")  # of the legend
BADGE_TERMS = ("not lossless", "same distribution")


class Bare:
    """A page with nothing but the stage. `dark`, `calm`: the visitor's choices."""

    def __init__(self, chromium, dark=False, calm=False, size=(1280, 720), touch=False):
        self.errors: list[str] = []
        self.context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            reduced_motion="reduce" if calm else "no-preference",
            offline=True,
            has_touch=touch,
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.set_content(
            f'<body class="{"dark" if dark else ""}" style="margin:0"><style>{bundle.CSS}</style>'
            f'<div class="cascade-stage" data-state="idle"></div><script>{bundle.stage_script()}\n'
            'window.stage = CascadeStage.mount(document.querySelector(".cascade-stage"));</script>'
        )

    def show(self, *traces: Trace, play=False) -> Bare:
        self.page.evaluate("log => stage.update({race: 'r', log})", stage.log_of(traces, "r", play=play))
        self.page.focus(".cascade-stage")
        return self

    def press(self, *keys: str) -> Bare:
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def state(self) -> str:
        return self.page.get_attribute(".cascade-stage", "data-state")

    def seen(self, lane: int) -> str:
        """The text of a lane as it is shown now."""
        find = f'.cs-lane[data-lane="{lane}"] .cs-step{"" if self.state() == "done" else ".cs-on"} .cs-token'
        return self.page.eval_on_selector_all(find, "all => all.map(token => token.textContent).join('')")

    def cells(self, order: int) -> list[list[str]]:
        """Text and fate of what the round of this number handed up."""
        find = f'.cs-cell[data-order="{order}"]:not(.cs-later)'
        return self.page.eval_on_selector_all(find, "all => all.map(cell => [cell.textContent, cell.dataset.fate])")


def greedy(trace: Trace) -> Trace:
    """The same trace under the greedy rule, by which texts are compared."""
    return replace(trace, header=replace(trace.header, rule="greedy"))


@pytest.fixture
def bare(chromium):
    opened = []

    def new(*args, **kwargs) -> Bare:
        opened.append(Bare(chromium, *args, **kwargs))
        return opened[-1]

    yield new
    for one in opened:
        one.context.close()


def test_steps_by_review_and_by_token_keep_the_lanes_in_sync(bare):
    one = bare().show(alone(), nested())
    assert one.state() == "done"
    assert one.seen(1) == "The fox ran home to sleep and"
    one.press("Home")
    assert one.state() == "replay"
    assert (one.seen(0), one.seen(1)) == ("", "")
    one.press("ArrowRight")  # the first review of the last lane ended at 245 ms, before any of the first lane
    assert (one.seen(0), one.seen(1)) == ("", "The fox ran home")
    assert "step 1 of 2" in one.text(".cs-transport")
    assert "4 tokens in 45.0 ms" in one.text(".cs-score-title")
    one.press("1", "ArrowRight", "ArrowRight")  # the first lane: its second token ends at 400 ms
    assert (one.seen(0), one.seen(1)) == ("The fox", "The fox ran home to sleep and")
    one.press("ArrowLeft", "ArrowLeft")
    assert (one.seen(0), one.seen(1)) == ("", "")
    one.press("2", "Shift+ArrowRight", "Shift+ArrowRight")
    assert one.seen(1) == "The fox ran home"
    one.press("o")
    assert "token 2" in one.text(".cs-transport")
    assert one.page.inner_text(".cs-picked").strip() == "fox"
    assert "Token 2" in one.page.inner_text("[aria-live]")
    one.press("ArrowRight")
    assert "Review 2 of 2, cascade" in one.page.inner_text("[aria-live]")
    one.press("End")
    assert one.state() == "done"
    assert one.seen(0).endswith(" sang")
    assert not one.errors


def test_play_pause_speed_and_the_end(bare):
    one = bare().show(alone(), nested())
    one.page.click(".cs-view-open")
    one.page.select_option(".cs-speedbox", "0.05")
    one.press("Escape")
    one.page.focus(".cascade-stage")
    one.press(" ")
    one.page.wait_for_function("document.querySelectorAll('.cs-lane[data-lane=\"1\"] .cs-on').length === 1")
    assert one.text(".cs-pace") == "slow motion 1/20"
    assert one.text(".cs-replay").strip() == "Pause"
    one.press(" ")
    before = one.text(".cs-time")
    assert one.state() == "replay"
    assert one.text(".cs-replay").strip() == "Play"
    one.page.wait_for_timeout(120)
    assert one.text(".cs-time") == before
    one.press(">", ">", ">", ">", ">")
    assert one.page.input_value(".cs-speedbox") == "4"
    one.press(" ")
    one.page.wait_for_selector('.cascade-stage[data-state="done"]')
    assert "The race has ended" in one.page.inner_text("[aria-live]")
    assert not one.errors


def test_the_scrubber_and_the_strip_go_to_any_time(bare):
    one = bare().show(alone(), nested())
    one.page.locator(".cs-scrubber").fill("5000")  # of 1.2 s
    assert one.seen(0) == "The fox ran home"
    assert "0.60 of 1.20 s" in one.text(".cs-time")
    one.page.locator(".cs-tracks").scroll_into_view_if_needed()
    box = one.page.locator(".cs-strip").first.bounding_box()
    one.page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 4)
    one.page.mouse.down()
    assert len(one.seen(0).split()) == 8  # 1.08 s: eight passes of 0.1 s after 0.2 s of prefill
    one.page.mouse.move(box["x"] + box["width"] * 0.26, box["y"] + 4)
    one.page.mouse.up()
    assert (one.seen(0), one.seen(1)) == ("The", "The fox ran home to sleep and")
    one.page.click(".cs-zoom >> nth=1")
    assert "to" in one.text(".cs-zoom-label")
    one.page.hover(".cs-strip >> nth=1", position={"x": 1, "y": 2})
    one.page.keyboard.down("Control")
    one.page.mouse.wheel(0, 4000)
    one.page.keyboard.up("Control")
    one.page.wait_for_function("document.querySelector('.cs-zoom-label').textContent === ''")
    assert not one.errors


def test_a_review_opens_as_a_score(bare):
    one = bare().show(alone(), nested())
    one.page.locator('.cs-lane[data-lane="1"] .cs-token').nth(3).click()
    assert "Step 1 of 2, cascade: 4 tokens in 45.0 ms" in one.text(".cs-score-title")
    assert one.text(".cs-told").replace("\u2068", "").replace("\u2069", "") == (
        "The small model reviewed 2 drafted tokens, accepted 1 and replaced “it” with “fox”; then the tiny model wrote "
        "“ran” on its own; then the copier copied 2 tokens. The big model verified the block of 5 tokens in one pass, "
        "accepted 3 and replaced “then” with “home”."
    )
    assert one.cells(0) == [["The", "kept"], ["it", "rejected"]]
    assert one.cells(1) == [["The", "kept"], ["fox", "kept"]]
    assert one.cells(3) == [["then", "rejected"], ["and", "unjudged"]]
    assert [word for word, _ in one.cells(4)] == ["The", "fox", "ran", "home"]
    rows = one.page.eval_on_selector_all(".cs-score-name[data-level]", "all => all.map(row => row.innerText)")
    assert [row.split()[0] for row in rows] == ["T", "2", "1", "0"]
    assert "1 pass, 10.0 ms" in rows[1]
    assert "2 lookups, 2.0 ms" in rows[3]
    one.page.hover('.cs-cell[data-order="3"] >> nth=0')
    assert "p 0.0500, q 1.00" in one.text(".cs-tip")
    assert "margin 2.50" in one.text(".cs-readout")
    one.press(".", ".")  # the rounds one after the other: what mid has judged by then, and nothing of the target
    assert "round 2 of 5" in one.text(".cs-rounds")
    assert "The small model reviewed 2 drafted tokens" in one.text(".cs-round-told")
    assert one.cells(0) == [["The", "kept"], ["it", "rejected"]]
    assert one.cells(1) == [
        ["The", "open"],
        ["fox", "open"],
    ]
    assert one.cells(4) == []
    one.page.click(".cs-unfold")
    one.page.wait_for_function("document.querySelector('.cs-rounds').innerText.includes('round 3 of 5')")
    assert not one.errors


def test_the_budget_adds_up_to_what_the_metrics_say(bare):
    traces = (alone(), nested())
    one = bare().show(*traces)
    table = one.page.eval_on_selector_all(
        ".cs-budget tbody tr",
        "all => all.map(row => [row.cells[0].innerText, ...[...row.cells].slice(1).map(cell => cell.dataset.seconds)])",
    )
    rows = {}
    for head, *values in filter(lambda row: row[0], table):
        name = head.split()[-1] if head[0] in "T0123" else head.split()[0]
        rows["MaxGram" if name == "Max-Gram" else name] = values
    for lane, trace in enumerate(traces):
        expected = metrics.seconds_by_level(trace)
        shown = {name: float(values[lane]) for name, values in rows.items() if values[lane] and name in expected}
        assert shown == pytest.approx(expected, abs=1e-5)
        assert sum(shown.values()) == pytest.approx(float(rows["decoding"][lane]), abs=1e-9)
        assert float(rows["prefill"][lane]) == pytest.approx(trace.prefill_seconds)
    signs = one.page.eval_on_selector_all(".cs-strip-marks", "all => all.map(node => node.textContent)")
    assert signs == ["T", "T210"]


def test_the_result_is_the_last_thing_that_the_replay_reaches(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    assert one.page.is_visible(".cs-factor")
    assert one.text(".cs-factor").endswith("×")
    assert not one.page.is_visible(".cs-idea")
    assert one.text(".cs-lead") == "Texts differ from position 7: a bug", "the first thing to know"
    one.press("Home", "ArrowRight")
    assert not one.page.is_visible(".cs-factor")
    assert one.page.is_visible(".cs-idea"), "until then the idea stands there"
    assert not one.page.is_visible(".cs-ask"), "the result has been seen"
    runs = one.page.locator(".cs-track-row .cs-runs b").all_inner_texts()
    assert runs[1] == "1 run", "runs of the target are counted while the race goes on"
    one.press("End")
    assert one.page.is_visible(".cs-factor")
    assert not one.errors


def test_the_bet_is_asked_only_where_the_result_is_not_known_yet(bare):
    one = bare().show(greedy(alone()), greedy(nested()), play=True)
    ratios = "nodes => nodes.filter(node => node.textContent).length"
    one.page.evaluate("stage.seek(0.5)")  # the cascade has finished
    assert one.page.eval_on_selector_all(".cs-ratio", ratios) == 0, "a factor would give the answer away"
    one.page.click(".cs-ask button >> nth=1")
    assert one.page.eval_on_selector_all(".cs-ratio", ratios) == 1
    places = [one.page.locator(part).bounding_box() for part in (".cs-headline", ".cs-track")]
    one.press("End")
    assert not one.page.is_visible(".cs-ask")
    assert one.text(".cs-bet").strip() == f"You said 1.5×; it was {one.text('.cs-factor')}."
    assert [one.page.locator(part).bounding_box() for part in (".cs-headline", ".cs-track")] == places
    one.press("Home")
    assert not one.page.is_visible(".cs-ask"), "the result is known"
    one.show(greedy(nested()), play=True)
    assert one.state() == "replay" and not one.page.is_visible(".cs-ask"), "there is nothing to compare with"
    assert one.text(".cs-bet") == ""
    assert not one.errors


def test_bars_run_over_tokens_and_at_the_end_over_time(bare):
    one = bare(calm=True).show(*RACE)
    axis = lambda: one.page.get_attribute(".cs-track", "data-axis")  # noqa: E731
    left = lambda lane: one.page.eval_on_selector(  # noqa: E731
        f'.cs-track-row[data-lane="{lane}"] .cs-ran', "bar => bar.style.clipPath.split(' ')[1]"
    )
    extent = """path => {
        const { x, width } = path.getBBox();
        const wide = [...path.getAttribute("d").matchAll(/0h([\\d.e-]+)v/g)].map(([, size]) => Number(size));
        return [x, x + width, wide.reduce((sum, size) => sum + size, 0)];
    }"""
    drawn = {
        lane: one.page.eval_on_selector(f'.cs-track-row[data-lane="{lane}"] .cs-by-time [data-look="T"]', extent)
        for lane in (0, 1)
    }
    assert axis() == "time" and one.text(".cs-goal") == "decode time"
    assert one.text('[data-lane="0"] .cs-clock') == "0.40 s"
    assert drawn[0][:2] == pytest.approx([0, 0.4], abs=0.002), "autoregressive decoding fills the scale"
    assert drawn[1] == pytest.approx([0.025, 0.19, 0.13], abs=0.002), "two passes of 70 and 60 ms, after their drafts"
    one.page.evaluate("stage.seek(0.35)")
    assert axis() == "tokens" and "4 tokens" in one.text(".cs-goal")
    assert (left(0), left(1)) == ("75%", "100%")
    one.press("t")
    assert axis() == "time"
    assert (left(0), left(1)) == ("62.5%", "87.5%"), "150 and 50 of 400 ms: prefill does not count"
    one.press("End")
    one.page.click(".cs-view-open")
    one.page.click('.cs-view-menu [data-value="tokens"]')
    assert axis() == "tokens", "as the visitor wants it"
    assert bare().show(alone()).page.get_attribute(".cs-track", "data-axis") == "tokens", "one lane has no rival"
    short = bare().show(alone(), alone((1, 2, 3)))
    short.page.click(".cs-view-open")
    assert not short.page.is_visible('.cs-view-menu [data-value="time"]'), "a shorter text is not a faster one"


def test_the_factor_of_a_lane_that_has_finished_stands_still(bare):
    one = bare().show(alone(), nested())
    final = one.text('.cs-track-row[data-lane="1"] .cs-ratio')
    seen = set()
    for time in (0.3, 0.5, 0.8, 1.1):  # the cascade's clock ends at 0.275 s
        one.page.evaluate("time => stage.seek(time)", time)
        seen.add(one.text('.cs-track-row[data-lane="1"] .cs-ratio'))
    assert seen == {final}
    one.page.evaluate("stage.seek(0.26)")
    assert one.text('.cs-track-row[data-lane="1"] .cs-ratio') == "", "in the middle of a race a speed is no result"


def test_one_text_carries_a_cursor_for_each_lane(bare):
    words = {i: f" word{i}" for i in range(8)}
    tokens = tuple(range(8))
    slow, fast = (greedy(alone(tokens, seconds, words)) for seconds in (0.1, 0.05))
    one = bare().show(slow, replace(fast, header=replace(fast.header, method="cascade")))
    assert one.page.locator(".cs-lane:visible").count() == 1
    one.page.evaluate("stage.seek(0.43)")  # prefill takes 0.2 s: two tokens against four
    assert one.page.locator(".cs-caret:visible").count() == 2
    edge = "i => document.querySelectorAll('.cs-lane.cs-selected .cs-token')[i].getBoundingClientRect().right"
    one.page.wait_for_timeout(300)  # cursors glide to their places
    carets = one.page.eval_on_selector_all(".cs-caret", "all => all.map(one => one.getBoundingClientRect().left)")
    assert sorted(carets) == pytest.approx([one.page.evaluate(edge, 1), one.page.evaluate(edge, 3)], abs=3)
    one.press("v")
    assert one.page.locator(".cs-lane:visible").count() == 2
    assert one.page.locator(".cs-caret:visible").count() == 0
    assert not one.errors


def test_the_text_is_whole_lines_and_its_end_is_a_mark(bare):
    words = {i: f" word{i}" for i in range(200)} | {200: "<|endoftext|>"}
    trace = greedy(alone(tuple(range(201)), 0.01, words))
    one = bare().show(trace, replace(trace, header=replace(trace.header, method="cascade")))
    measure = """() => { const text = document.querySelector(".cs-lane.cs-selected .cs-text");
        const [line, head] = ["lineHeight", "paddingTop"].map((name) => parseFloat(getComputedStyle(text)[name]));
        return [(text.clientHeight - head) / line, text.scrollTop / line, (text.scrollHeight - head) / line]; }"""
    shown, at, lines = one.page.evaluate(measure)
    assert shown == pytest.approx(4, abs=0.05)
    assert at == pytest.approx(lines - shown, abs=0.05), "it ends with its last line"
    seen = set()
    for time in (1.0, 1.3, 1.6, 2.0):
        one.page.evaluate("time => stage.seek(time)", time)
        shown, at, _ = one.page.evaluate(measure)
        assert at == pytest.approx(round(at), abs=0.05), "no half line at the top"
        seen.add(round(at))
    assert len(seen) > 2, "it scrolls"
    assert one.page.locator(".cs-lane.cs-selected .cs-token").last.inner_text().strip() == "END"
    assert "endoftext" not in one.text(".cs-lanes")
    one.press("End", "v")
    one.page.evaluate("document.addEventListener('copy', () => { window.copied = document.activeElement.value; })")
    one.page.click(".cs-copy >> nth=0")
    one.page.wait_for_function("window.copied")
    assert one.page.evaluate("window.copied.endsWith(' word199')")
    assert not one.errors


def test_texts_that_differ_stand_in_columns(bare):
    one = bare().show(alone(), nested())  # under the rejection rule
    assert one.page.locator(".cs-lane:visible").count() == 2
    one.page.click(".cs-view-open")
    assert one.page.is_visible(".cs-select")
    assert not one.page.is_visible('.cs-choice [data-value="one"]'), "there is nothing to choose"
    one = bare().show(greedy(alone()), greedy(alone()))
    assert one.page.locator(".cs-lane:visible").count() == 1
    one.page.click(".cs-view-open")
    one.page.click('.cs-choice [data-value="columns"]')
    assert one.page.locator(".cs-lane:visible").count() == 2
    one.page.keyboard.press("Escape")
    assert not one.page.is_visible(".cs-select"), "the menu closes as menus do"
    assert not one.errors


def test_a_wide_review_shows_the_correction_without_scrolling(bare):
    one = bare().show(alone(), greedy(nested()))
    one.press("Home", "ArrowRight", "o")
    assert one.text(".cs-axis-vertical").startswith("vertical")
    one.press("d")
    assert one.page.eval_on_selector(".cs-token", "node => getComputedStyle(node, '::after').content") == '"T"'
    one.press("d", "1", "End")
    edges = """() => [".cs-score-name", ".cs-cell"].map((one) => document.querySelector(one).getBoundingClientRect())
        .map((box, i) => (i ? box.left : box.right))"""
    names, own = one.page.evaluate(edges)
    assert names <= own, "the one token of a step without a draft stands beside the names"
    assert one.page.locator(".cs-axis-horizontal").count() == 0, "one writer, nothing horizontal"
    one.press("2", "Home", "ArrowRight")
    assert one.text(".cs-axis-horizontal").startswith("horizontal: cheaper")
    axis, words = (one.page.locator(place).bounding_box() for place in (".cs-axis-horizontal", ".cs-axis-words"))
    assert words["x"] + words["width"] <= axis["x"] + axis["width"], "in as many words as there is room for"
    right = one.page.eval_on_selector(".cs-score", "node => node.getBoundingClientRect().right")
    own = one.page.eval_on_selector_all(
        ".cs-cell[data-own]", "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert own
    assert max(own) <= right
    assert one.page.eval_on_selector(".cs-score", "node => node.scrollWidth <= node.clientWidth + 1")


def test_a_talk_goes_on_with_the_next_race_where_a_page_can_start_it(bare):
    one = bare().show(greedy(alone()), greedy(nested())).press("p")
    assert not one.page.is_visible(".cs-bridge"), "an exported file starts no race"
    one.press("p")
    one.page.evaluate("""() => { window.asked = [];
        window.addEventListener("cascade-race", ({ detail }) => asked.push(detail.example));
        const form = document.createElement("form");
        form.innerHTML = '<button id="race">Race</button><p id="examples"><button>story</button><button>code</button></p>';
        document.body.append(form); }""")
    one.press("r")
    one.page.focus(".cascade-stage")
    one.press("p", "r")
    one.page.click(".cs-example >> text=code")
    one.page.click(".cs-race")
    assert one.page.evaluate("asked") == ["", "code", ""], "only while presenting"
    assert not one.errors


def test_presenting_keeps_the_proof_and_leaves_out_tooltips(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    one.page.hover(".cs-token >> nth=0")
    one.press("p")
    assert not one.page.is_visible(".cs-tip")
    assert one.page.is_visible(".cs-lead")
    one.press("b")
    assert not one.page.is_visible(".cs-track")
    one.press("b")
    assert one.page.is_visible(".cs-track")
    one.press("Escape")
    assert not one.errors


def test_the_prompt_is_shown_where_no_form_has_it(bare):
    one = bare().show(alone(), nested())
    assert one.text(".cs-prompt-text") == alone().header.text
    assert not one.page.is_visible(".cs-prompt .cs-button"), "there is no form to fill"
    one.press("p", "/")
    one.page.click(".cs-prompt-text")
    assert not one.page.is_visible(".cs-prompt-typed")


def test_rejected_tokens_can_be_hidden_by_key(bare):
    one = bare().show(alone(), nested())
    shown = ".cs-fallen:visible"
    words = ".cs-rejected:visible"
    assert one.page.locator(shown).count() == 1
    assert one.page.locator(words).count() == 0, "they are only counted"
    one.press("h")
    assert (one.page.locator(shown).count(), one.page.locator(words).count()) == (1, 2)
    one.press("h")
    assert one.page.locator(shown).count() == 2  # all: also the one that mid rejected
    one.press("h")
    assert one.page.locator(shown).count() == 0


def test_presenting_fills_the_screen_with_large_tokens(bare):
    one = bare().show(alone(), nested()).press("p")
    size = one.page.eval_on_selector(".cs-token", "node => getComputedStyle(node).fontSize")
    assert size == "24px"
    for part in (".cs-track", ".cs-bar", ".cs-lanes", ".cs-transport"):
        box = one.page.locator(part).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 720
    whole = """node => { const [line, head] = ["lineHeight", "paddingTop"].map(name => parseFloat(getComputedStyle(node)[name]));
        return (node.clientHeight - head) / line; }"""
    lines = one.page.eval_on_selector(".cs-lane.cs-selected .cs-text", whole)
    assert lines == pytest.approx(round(lines), abs=0.02), "no half line at its end"
    small = """all => all.filter(node => node.checkVisibility({ visibilityProperty: true }) && !node.closest(".cs-hidden")
        && [...node.childNodes].some(one => one.nodeType === 3 && one.textContent.trim())
        && parseFloat(getComputedStyle(node).fontSize) < 0.0125 * innerWidth - 0.1)
        .map(node => [node.className, node.textContent])"""
    assert one.page.eval_on_selector_all(".cs-body *", small) == [], "all of it can be read from the last row"
    one.press("o")
    assert one.page.is_visible(".cs-score")
    assert not one.page.is_visible(".cs-lanes")
    one.press("Escape", "Escape")
    assert one.page.get_attribute(".cascade-stage", "data-present") is None
    assert one.page.is_visible(".cs-lanes")
    assert not one.errors


@pytest.mark.parametrize("dark", [False, True])
def test_a_level_has_one_colour_everywhere(bare, dark):
    one = bare(dark=dark).show(greedy(alone()), greedy(nested())).press("Home", "ArrowRight")
    tints = {}
    for look in ("0", "1", "2", "T"):
        ground = one.page.eval_on_selector_all(
            f".cs-swatch[data-look='{look}'], .cs-zone[data-look='{look}'], .cs-cell[data-look='{look}'][data-own]",
            "all => [...new Set(all.map(node => getComputedStyle(node).backgroundColor))]",
        )
        bars = one.page.eval_on_selector_all(
            f".cs-bar-svg [data-look='{look}'], .cs-strip [data-look='{look}']",
            "all => [...new Set(all.map(node => getComputedStyle(node).fill))]",
        )
        assert ground == bars and len(bars) == 1, look
        tints[look] = one.page.eval_on_selector_all(
            f".cs-lane[data-lane='1'] .cs-step:not(.cs-now) .cs-token[data-look='{look}'] .cs-word, "
            f".cs-cell[data-look='{look}'][data-fate='kept']:not([data-own])",
            "all => [...new Set(all.map(node => getComputedStyle(node).backgroundColor))]",
        )
        assert len(tints[look]) <= 1, f"text and review, {look}"
        if look == "T":
            assert tints[look] == bars, "words of the target are as dark as its blocks"
    assert not one.errors


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast_on_both_grounds(bare, dark):
    one = bare(dark=dark).show(alone(), nested()).press("Home", "ArrowRight")
    low = one.page.evaluate((HERE / "contrast.js").read_text("utf-8"))
    assert low == []


def test_reduced_motion_jumps_from_review_to_review(bare):
    one = bare(calm=True).show(alone(), nested(), play=True)
    assert one.state() == "done", "nothing plays by itself"
    one.page.click(".cs-view-open")
    one.page.select_option(".cs-speedbox", "1")
    one.press("Escape")
    one.page.focus(".cascade-stage")
    one.page.evaluate(
        """() => { window.seen = new Set();
        new MutationObserver(() => seen.add(document.querySelector(".cs-time").textContent))
          .observe(document.querySelector(".cs-time"), { childList: true, characterData: true, subtree: true }); }"""
    )
    one.press(" ")
    one.page.wait_for_selector('.cascade-stage[data-state="done"]')
    times = one.page.evaluate("[...seen]")
    reviews = [0, 0.245, 0.275, *(0.2 + 0.1 * i for i in range(1, 11))]
    assert {float(time.split()[0]) for time in times} <= {round(time + 1e-9, 2) for time in reviews} | {0.24, 0.27}
    one.press(".")
    assert not one.errors


HOSTILE = {
    1: "<img src=x onerror='window.hit=1'>",
    2: "</script><script>window.hit=1</script>",
    3: "\u202eevil",
    4: "\x00\x1b[31m",
    5: (0xF0, 0x9F),
    6: (0xA6, 0x8A),
    7: " \u05e9\u05dc\u05d5\u05dd",
    8: "\r\n\r\n",
    9: (0xFF,),
    10: "&lt;b&gt;",
}


def test_hostile_text_stays_text(bare):
    trace = replace(nested(), pieces=HOSTILE)
    one = bare().show(alone(pieces=HOSTILE), trace).press("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "o")
    assert one.page.evaluate("window.hit") is None
    assert one.page.locator(".cascade-stage img, .cascade-stage script").count() == 0
    told = one.text(".cs-told")
    assert "<img src=x" in one.text(".cs-score")
    assert "\u202e" not in told + one.text(".cs-score")
    assert "<U+202E>" in one.text(".cs-score")
    one.press("End")
    assert one.seen(0) == alone(pieces=HOSTILE).answer, "it copies out as it is"
    assert not one.errors


def test_the_app_has_the_same_stage(chromium, house):
    """In Gradio's page: its way with style sheets and its own key handlers leave the stage as it is."""
    page = chromium.new_context(viewport={"width": 1280, "height": 720}).new_page()
    errors: list[str] = []
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.goto(house.url)
    page.wait_for_selector('#family-status [data-state="ready"]', timeout=60_000)
    set_field(page, "#max-new input", 24)
    page.click("#race")
    page.wait_for_selector('#status p[data-state="ended"]', timeout=60_000)
    stage_ = page.locator("#stage .cascade-stage")
    assert stage_.evaluate("node => getComputedStyle(node).fontFamily").startswith("Geist")
    assert page.locator("#stage .cs-scrubber").evaluate("node => node.getBoundingClientRect().bottom") <= 720
    stage_.focus()
    for key in ("Home", "ArrowRight"):
        page.keyboard.press(key)
    assert stage_.get_attribute("data-state") == "replay"
    assert not page.is_visible("#stage .cs-score")
    page.click("#stage .cs-look")
    lowest = page.locator("#stage .cs-score").evaluate("node => node.getBoundingClientRect().bottom")
    assert lowest <= 720, "the opened review fits into a laptop's window"
    assert page.locator("#stage .cs-track-row:visible").count() == 1
    page.click("#stage .cs-look")
    assert page.locator("#stage .cs-track-row:visible").count() == 4
    page.keyboard.press("p")
    box = stage_.bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1280, 720)
    assert stage_.evaluate("node => getComputedStyle(node).fontSize") == "18px"
    before = stage_.get_attribute("data-race")
    page.click("#stage .cs-example >> text=list")
    page.wait_for_function("race => document.querySelector('#stage .cascade-stage').dataset.race !== race", arg=before)
    assert "JSON" in page.inner_text("#stage .cs-prompt-text"), "the example was in the form before its race began"
    page.wait_for_selector('#status p[data-state="ended"]', timeout=60_000, state="attached")
    page.wait_for_selector("#stage .cs-race:enabled")
    page.keyboard.press("/")
    assert "JSON" in page.input_value("#stage .cs-prompt-typed")
    page.keyboard.type("A bear, a pop")  # letters that are keys of the presenter
    page.keyboard.press("Escape")
    assert stage_.get_attribute("data-present") == "" and not page.is_visible("#stage .cs-prompt-typed")
    page.click("#stage .cs-prompt-text")
    page.keyboard.press("End")
    page.keyboard.type(" and a hero")
    before = stage_.get_attribute("data-race")
    page.keyboard.press("Enter")
    page.wait_for_function("race => document.querySelector('#stage .cascade-stage').dataset.race !== race", arg=before)
    assert page.inner_text("#stage .cs-prompt-text") == "A bear, a pop and a hero"
    assert page.input_value("#prompt textarea") == "A bear, a pop and a hero"
    page.wait_for_selector('#status p[data-state="ended"]', timeout=60_000, state="attached")
    page.keyboard.press("Escape")
    assert stage_.get_attribute("data-present") is None
    assert page.evaluate("document.activeElement.textContent") == "Present", "no frame around the stage"
    assert not errors
    page.context.close()


def test_a_token_opens_its_review_while_the_race_still_runs(bare):
    log = stage.log_of((alone(), nested()), "r").splitlines(keepends=True)
    one = bare()
    one.page.evaluate("log => stage.update({race: 'r', log})", "".join(log[:-1]))
    assert one.state() == "live"
    assert one.page.is_disabled(".cs-replay")
    one.page.locator('.cs-lane[data-lane="1"] .cs-token').nth(1).click()
    one.page.evaluate("log => stage.update({race: 'r', log})", "".join(log))
    assert "Step 1 of 2, cascade" in one.text(".cs-score-title")
    assert one.page.is_enabled(".cs-replay")
    assert not one.errors


def test_keys_are_left_alone_outside_the_stage(bare):
    one = bare().show(alone(), nested())
    one.page.evaluate(
        "() => { const field = document.createElement('input'); document.body.append(field); field.focus(); }"
    )
    one.press("Home", " ", "p")
    assert one.state() == "done"
    assert one.page.get_attribute(".cascade-stage", "data-present") is None
    assert one.page.input_value("body > input") == " p"


def test_a_place_in_a_race_is_told_for_a_link_and_found_again(bare):
    one = bare().show(alone(), nested())
    assert one.page.evaluate("stage.place()") == {"race": "r"}, "all of the race is shown"
    one.press("2", "Home", "ArrowRight")
    place = one.page.evaluate("stage.place()")
    assert place == {"race": "r", "lane": 2, "step": 1, "inside": False}
    there = {"race": "r", "lane": 1, "step": 3, "inside": True}
    assert one.page.evaluate("stage.goTo(1, 3, true) && stage.place()") == there
    assert "Step 3 of" in one.text(".cs-score-title")
    assert one.page.evaluate("[stage.goTo(1, 99), stage.goTo(9, 1), stage.goTo(NaN, NaN)]") == [False] * 3
    assert not one.errors


def test_at_the_end_the_step_with_most_to_show_is_opened_and_closing_leads_back(bare):
    one = bare().show(alone(), nested())
    one.press("o")
    assert one.text(".cs-score-title").startswith("Step 1 of 2, cascade"), (
        "its block has three writers, the last one has one"
    )
    assert one.text(".cs-score-why") == "(it shows both cascades)"
    one.press("o")
    assert one.state() == "done" and one.page.is_visible(".cs-factor, .cs-same")
    one.press("Home", "ArrowRight", "ArrowRight", "o", "ArrowLeft", "o")
    assert one.state() == "replay", "in the middle of a race the time stays"


def test_keys_work_wherever_nothing_else_takes_them(bare):
    one = bare().show(alone(), nested())
    one.page.evaluate("() => document.activeElement.blur()")
    one.press("Home", "ArrowRight")
    assert one.state() == "replay"
    one.press("p")
    assert one.page.get_attribute(".cascade-stage", "data-present") is not None
    one.press("Escape", "End")
    assert one.state() == "done"


def test_terms_are_explained_by_hover_by_keyboard_and_by_tap(bare):
    shown = ".cascade-stage .cs-tip:visible"
    one = bare().show(greedy(alone()), greedy(nested()))
    page = one.page
    page.hover(".cs-clock >> nth=1")
    assert one.text(shown).startswith("drafting\nThe time of everything but the target")
    assert re.search(r"\nbig model .* ms, drafting and overhead .* ms$", one.text(shown))
    page.mouse.move(5, 700)
    assert page.locator(shown).count() == 0
    page.focus('[data-term="big model"]')
    one.press("Tab")
    assert one.text(shown).startswith("speed")
    one.press("Tab")
    assert one.text(shown).startswith("autoregressive decoding"), "a lane's name explains its method"
    assert one.text(shown).endswith("autoregressive, settings"), "and has its exact settings"
    page.focus('[data-term="big model"]')
    one.press("Tab")
    described = page.get_attribute(":focus", "aria-describedby")
    assert page.inner_text(f"[id='{described}']") == one.text(shown)
    one.press("Escape")
    assert page.locator(shown).count() == 0
    page.click(".cs-legend-item[data-level='0']")  # a control explains itself while it works
    assert one.text(shown).startswith("Max-Gram")
    assert page.get_attribute(".cascade-stage", "data-solo") == "0"
    one.press("p")
    assert page.locator(shown).count() == 0  # presenting has no tooltips

    phone = bare(size=(390, 844), touch=True).show(greedy(alone()), greedy(nested()))
    phone.page.tap('[data-term="big model"]')
    assert phone.text(shown).startswith("target\n")
    box = phone.page.locator(shown).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    phone.page.tap('[data-term="target pass"]')
    assert phone.text(shown).startswith("target pass")
    phone.page.tap(".cs-lead")
    assert phone.page.locator(shown).count() == 0
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 390
    assert not one.errors and not phone.errors


def test_every_term_is_in_the_glossary():
    """A misspelt term would be plain text on the stage, and a button that says nothing elsewhere."""
    entries = json.loads((ASSETS / "glossary.json").read_text("utf-8"))
    words = [name for entry in entries for name in (entry["word"], *entry.get("also", ()))]
    assert len(words) == len(set(words))
    scripts = "".join(file.read_text("utf-8") for file in bundle.MODULES.glob("*.js"))
    used = set(re.findall(r'\bterm\("([^"]+)"', scripts))
    assert len(used) > 10
    used |= set(re.findall(r'term_html\("([^"]+)"\)', Path(export.__file__).read_text("utf-8")))
    assert used | {*METHODS, *LEVEL_TERMS, *BADGE_TERMS, "vertical cascade", "horizontal cascade"} <= set(words)
