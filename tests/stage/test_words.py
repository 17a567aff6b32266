"""Words on the stage: texts, their levels and colours, terms that are explained, and what is hostile among them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from bare import greedy
from handmade import WORDS, alone, nested

from csd.stage import log as stage

HERE = Path(__file__).parent


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
    one.page.evaluate("document.body.style.zoom = 1.36")  # as the tour in a large window
    one.page.wait_for_timeout(500)
    one.page.evaluate("stage.seek(0.44)")
    one.page.wait_for_timeout(500)
    carets = one.page.eval_on_selector_all(".cs-caret", "all => all.map(one => one.getBoundingClientRect().left)")
    assert sorted(carets) == pytest.approx([one.page.evaluate(edge, 1), one.page.evaluate(edge, 3)], abs=4)
    one.page.evaluate("document.body.style.zoom = ''")
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
    assert (
        at == 0
        and one.page.get_attribute(".cs-lane.cs-selected", "data-more") == f"\u2193 {round(lines - shown)} more lines"
    )
    seen = set()
    for time in (1.0, 1.3, 1.6, 2.0):
        one.page.evaluate("time => stage.seek(time)", time)
        shown, at, _ = one.page.evaluate(measure)
        assert at == pytest.approx(round(at), abs=0.05), "no half line at the top"
        seen.add(round(at))
    assert len(seen) > 2, "it scrolls"
    one.press("End")
    assert one.page.locator(".cs-lane.cs-selected .cs-token").last.inner_text().strip() == "END"
    assert "endoftext" not in one.text(".cs-lanes")
    one.press("v")
    one.page.evaluate("document.addEventListener('copy', () => { window.copied = document.activeElement.value; })")
    one.page.click(".cs-copy >> nth=0")
    one.page.wait_for_function("window.copied")
    assert one.page.evaluate("window.copied.endsWith(' word199')")
    assert not one.errors


def test_signs_of_line_breaks_are_there_where_tokens_are_looked_at(bare):
    words = WORDS | {3: " done.\n"}
    one = bare().show(greedy(alone(pieces=words)))
    sign = "() => getComputedStyle(document.querySelector('.cs-break'), '::before').content"
    assert one.page.evaluate(sign) == "none"
    one.press("d")
    assert one.page.evaluate(sign) == '"\u23ce"'
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


def test_the_prompt_is_shown_where_no_form_has_it(bare):
    one = bare().show(alone(), nested())
    assert one.text(".cs-prompt-text") == alone().header.text
    assert not one.page.is_visible(".cs-prompt .cs-button"), "there is no form to fill"
    one.press("p", "/")
    one.page.click(".cs-prompt-text")
    assert not one.page.is_visible(".cs-prompt-typed")


def test_rejected_tokens_are_shown_by_key(bare):
    one = bare().show(alone(), nested())
    shown = ".cs-fallen:visible"
    words = ".cs-rejected:visible"
    assert one.page.locator(shown).count() == 0
    assert not one.page.is_visible(".cs-rejected-key")
    one.press("h")
    assert one.page.locator(shown).count() == 1
    assert one.page.locator(words).count() == 0, "they are only counted"
    assert one.text(".cs-rejected-key") == "−2 = 2 tokens rejected"
    one.press("h")
    assert (one.page.locator(shown).count(), one.page.locator(words).count()) == (1, 2)
    one.press("h")
    assert one.page.locator(shown).count() == 2  # all: also the one that mid rejected
    one.press("h")
    assert one.page.locator(shown).count() == 0


@pytest.mark.parametrize("dark", [False, True])
def test_a_level_has_one_colour_everywhere(bare, dark):
    one = bare(dark=dark).show(greedy(alone()), greedy(nested())).press("Home", "ArrowRight")
    seen = set()
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
        lines = one.page.eval_on_selector_all(
            f".cs-lane[data-lane='1'] .cs-step:not(.cs-now) .cs-token[data-look='{look}'] .cs-word",
            "all => [...new Set(all.map(node => getComputedStyle(node).backgroundImage))]",
        )
        assert lines in ([], [f"linear-gradient({bars[0]} 0px, {bars[0]} 0px)"]), (
            "words stand on the colour of their blocks"
        )
        seen |= set(lines)
        tints = one.page.eval_on_selector_all(
            f".cs-cell[data-look='{look}'][data-fate='kept']:not([data-own])",
            "all => [...new Set(all.map(node => getComputedStyle(node).backgroundColor))]",
        )
        assert len(tints) <= 1, f"review, {look}"
    assert len(seen) > 1
    assert not one.errors


def test_at_the_end_no_token_waits_for_its_lane(bare):
    """While a race is replayed, what only other lanes have written is marked in the text of the selected one."""
    words, tokens = {i: f" word{i}" for i in range(8)}, tuple(range(8))
    slow, fast = (greedy(alone(tokens, seconds, words)) for seconds in (0.1, 0.05))
    one = bare().show(slow, replace(fast, header=replace(fast.header, method="cascade")))
    one.page.click('.cs-track-row[data-lane="0"] .cs-name')
    one.page.evaluate("stage.seek(0.43)")
    assert one.page.locator(".cs-ahead").count() == 2
    one.press("End")
    assert one.state() == "done" and one.page.locator(".cs-ahead").count() == 0
    assert not one.errors


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast_on_both_grounds(bare, dark):
    one = bare(dark=dark).show(alone(), nested()).press("Home", "ArrowRight")
    low = one.page.evaluate((HERE / "contrast.js").read_text("utf-8"))
    assert low == []


HOSTILE_PIECES = {
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
    trace = replace(nested(), pieces=HOSTILE_PIECES)
    one = bare().show(alone(pieces=HOSTILE_PIECES), trace).press("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "o")
    assert one.page.evaluate("window.hit") is None
    assert one.page.locator(".cascade-stage img, .cascade-stage script").count() == 0
    told = one.text(".cs-told")
    assert "<img src=x" in one.text(".cs-score")
    assert "\u202e" not in told + one.text(".cs-score")
    assert "<U+202E>" in one.text(".cs-score")
    one.press("End")
    assert one.seen(0) == alone(pieces=HOSTILE_PIECES).answer, "it copies out as it is"
    assert not one.errors


def test_terms_are_explained_by_hover_by_keyboard_and_by_tap(bare):
    shown = ".cascade-stage .cs-tip:visible"
    one = bare().show(greedy(alone()), greedy(nested()))
    page = one.page
    page.hover(".cs-clock >> nth=1")
    assert one.text(shown).startswith("drafting\nThe time of everything but the big model")
    assert re.search(r"\nbig model .* ms in \d+ runs?, .* ms each; guessing and overhead .* ms$", one.text(shown))
    page.mouse.move(5, 700)
    assert page.locator(shown).count() == 0
    page.focus('[data-term="big model"]')
    one.press("Tab")
    assert one.text(shown).startswith("speed")
    one.press("Tab")
    assert one.text(shown).startswith("autoregressive decoding"), "a lane's name explains its method"
    assert one.text(shown).endswith("; settings"), "and has its exact settings"
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
    assert phone.text(shown).startswith("big model (target)\n")
    box = phone.page.locator(shown).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    phone.page.tap('[data-term="run"]')
    assert phone.text(shown).startswith("run")
    phone.page.tap(".cs-lead")
    assert phone.page.locator(shown).count() == 0
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 390
    assert not one.errors and not phone.errors


CODE = "Code:\n    def f():\n        pass\nResult:"


@pytest.mark.parametrize("keys", ["", "p"], ids=["on the page", "presented"])
@pytest.mark.parametrize(("prompt", "count"), [(CODE, 70), ("List:", 50)], ids=["code", "list"])
def test_short_lines_go_on_beside_the_first_ones_where_they_do_not_fit(bare, keys, prompt, count):
    words = {i: f" w{i}" if i % 5 else f"\n w{i}" for i in range(count)}
    trace = greedy(alone(tuple(range(count)), 0.01, words))
    trace = replace(trace, header=replace(trace.header, text=prompt))
    one = bare().show(trace, replace(trace, header=replace(trace.header, method="cascade")))
    one.press(*keys)
    shown = """() => { const text = document.querySelector(".cs-lane.cs-selected .cs-text");
        const box = text.getBoundingClientRect();
        const all = [...text.querySelectorAll(".cs-token")].map((token) => token.getBoundingClientRect());
        const isOut = ({ top, bottom, right }) => bottom > box.bottom + 2 || top < box.top || right > box.right;
        return { columns: getComputedStyle(text).columnCount, out: all.filter(isOut).length }; }"""
    assert one.page.evaluate(shown)["out"] == 0
    assert one.page.evaluate(shown)["columns"] in ("2", "3")
    one.press("o")
    one.press("o")
    assert one.page.evaluate(shown)["out"] == 0
    assert not one.errors


def test_no_line_of_presented_code_is_broken_for_a_column(bare):
    """Smaller type and two columns show all of it, as three would with a few broken lines."""
    lengths = [(12 if line % 5 == 0 else 6) for line in range(21) for _ in range(3)]
    words = {i: ("\n    " if i % 3 == 0 else " ") + chr(97 + i % 26) * length for i, length in enumerate(lengths)}
    trace = greedy(alone(tuple(words), 0.01, words))
    trace = replace(trace, header=replace(trace.header, text=CODE))
    one = bare().show(trace, replace(trace, header=replace(trace.header, method="cascade"))).press("p")
    ends = "all => all.map(word => Math.round([...word.getClientRects()].at(-1).bottom))"
    bottoms = one.page.eval_on_selector_all(".cs-lane.cs-selected .cs-token .cs-word:last-of-type", ends)
    assert [len({*bottoms[i : i + 3]}) for i in range(0, len(words), 3)] == [1] * 21
    assert not one.errors


def test_a_presented_text_is_as_large_as_lets_all_of_it_be_seen(bare):
    words = {i: f" word{i}" for i in range(132)}
    trace = greedy(alone(tuple(range(132)), 0.01, words))
    one = bare().show(trace, replace(trace, header=replace(trace.header, method="cascade"))).press("p")
    text = one.page.locator(".cs-lane.cs-selected .cs-text")
    assert text.evaluate("text => text.scrollHeight <= text.clientHeight + 2")
    assert text.evaluate("text => parseFloat(getComputedStyle(text).fontSize)") < 24
    one.press("p", "p")
    assert text.evaluate("text => text.scrollHeight <= text.clientHeight + 2")
    assert not one.errors


def test_a_race_of_other_models_than_the_first_races_names_them_in_its_lane(bare):
    one = bare(calm=True)
    first = greedy(alone())
    lanes = (replace(first, header=replace(first.header, label="")), greedy(nested()))
    one.page.evaluate("log => stage.update({race: 'r', log})", stage.log_of(lanes, "r", models="Another"))
    assert one.text(".cs-track-row[data-plain] b") == "Another alone", "whose figures they are"
    assert not one.errors


def test_escape_leads_from_a_word_back_to_the_whole_race(bare):
    one = bare(calm=True).show(greedy(alone()), greedy(nested()))
    one.press("End")
    one.page.click(".cs-token >> nth=0")
    assert one.state() == "replay" and not one.page.is_visible(".cs-lead") and one.page.locator(".cs-picked").count()
    one.press("Escape")
    assert one.state() == "done" and one.page.is_visible(".cs-lead")
    assert one.page.locator(".cs-picked").count() == 0
    assert not one.errors


def test_letters_of_an_arabic_word_stand_in_its_order_though_each_is_a_token(bare):
    words = {0: "Say ", 1: "م", 2: "ر", 3: "ح"}
    one = bare(calm=True).show(greedy(alone((0, 1, 2, 3), 0.1, words)), greedy(alone((0, 1, 2, 3), 0.05, words)))
    one.press("End")
    lefts = "all => all.map(one => one.getBoundingClientRect().left)"
    say, *letters = one.page.eval_on_selector_all(".cs-lane.cs-selected .cs-token", lefts)
    assert say < letters[2] < letters[1] < letters[0]
    assert not one.errors
