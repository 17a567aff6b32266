"""A race in time, on a bare page: replay, steps, keys, the bars of the track, the bet and the result."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bare import greedy
from handmade import RACE, alone, nested

from csd.record import metrics
from csd.record.trace import Prefill
from csd.stage import log as stage
from csd.stage import tour


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
    assert one.page.locator(".cs-clock").all_inner_texts() == ["", ""], "a lane has its time when it has finished"
    one.page.click(".cs-stepper button:text-is('step 1 of 2')")
    one.page.keyboard.type("9")
    one.page.keyboard.press("Enter")  # the field says why nothing moves, and stays
    said = one.page.evaluate("document.querySelector('.cs-step-field').validationMessage")
    assert said == "This lane has steps 1 to 2." and "4 tokens in 45.0 ms" in one.text(".cs-score-title")
    one.page.fill(".cs-step-field", "2")
    one.page.keyboard.press("Enter")
    assert "step 2 of 2" in one.text(".cs-transport") and one.page.locator(".cs-step-field").count() == 0
    assert one.page.locator(".cs-clock").all_inner_texts()[0] == ""
    one.press("ArrowLeft")
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


def test_a_model_that_takes_no_part_in_a_lane_is_not_in_its_legend(bare):
    one = bare().show(alone(), nested())
    shown = "[...document.querySelectorAll('.cs-legend-item')].filter((one) => one.offsetWidth).map((one) => one.dataset.level)"
    assert one.page.evaluate(shown) == ["T", "2", "1", "0"], "from the big model down, as in a look inside"
    one.page.click('.cs-track-row[data-lane="0"] .cs-name')
    assert one.page.evaluate(shown) == ["T"]


def test_play_pause_speed_and_the_end(bare):
    one = bare().show(alone(), nested())
    one.page.click(".cs-view-open")
    one.page.select_option(".cs-speedbox", "0.05")
    one.press("Escape")
    one.page.focus(".cascade-stage")
    one.press(" ")
    one.page.wait_for_function("document.querySelectorAll('.cs-lane[data-lane=\"1\"] .cs-on').length === 1")
    assert one.text(".cs-pace") == "slow motion, 20× slower"
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
    assert "0.40 of 1.00 s" in one.text(".cs-time"), "since the prompt was read"
    one.page.click("[data-chart=computed]")
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


def test_the_result_is_the_last_thing_that_the_replay_reaches(bare, any_length):
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


def test_the_bet_is_asked_only_where_the_result_is_not_known_yet(bare, any_length):
    one = bare().show(greedy(alone())).show_at(0.1, greedy(alone()), greedy(nested()), race="second")
    ratios = "nodes => nodes.filter(node => node.textContent).length"
    one.page.click(".cs-ask button >> text='1.5×'")
    one.page.evaluate("stage.seek(0.5)")  # the cascade has finished
    assert one.page.eval_on_selector_all(".cs-ratio", ratios) == 1
    places = [one.page.locator(part).bounding_box() for part in (".cs-headline", ".cs-track")]
    one.press("End")
    assert not one.page.is_visible(".cs-ask")
    assert one.text(".cs-bet") == f"You said 1.5×; it was {one.text('.cs-factor')}."
    assert [one.page.locator(part).bounding_box() for part in (".cs-headline", ".cs-track")] == places
    one.press("Home")
    assert one.text(".cs-ask") == "You said 1.5×." and not one.page.is_visible(".cs-ask button"), "the result is known"
    other = bare().show(greedy(alone())).show_at(0.1, greedy(alone()), greedy(nested()), race="second")
    assert other.page.is_visible(".cs-ask") and other.page.eval_on_selector_all(".cs-ratio", ratios) == 0
    other.page.evaluate("stage.seek(0.5)")
    assert not other.page.is_visible(".cs-ask"), "a lane is done: too late"
    assert other.page.eval_on_selector_all(".cs-ratio", ratios) == 1
    one.show_at(0.1, greedy(nested()), race="third")
    assert one.state() == "replay" and not one.page.is_visible(".cs-ask"), "there is nothing to compare with"
    assert one.text(".cs-bet") == ""
    assert not one.errors


def test_a_short_text_has_a_rough_factor(bare):
    one = bare().show(alone(), nested())
    assert one.text(".cs-factor").startswith("\u2248") and "a rough speed" in one.text(".cs-flags")
    assert not one.errors


def test_a_text_of_a_few_tokens_has_no_factor(bare, monkeypatch):
    monkeypatch.setattr(metrics, "SHORT_RUN", 100)
    one = bare().show(alone(), nested())
    assert one.text(".cs-lead") == "Different samples from the same distribution"
    assert "too few to judge the speed" in one.text(".cs-flags") and not one.page.is_visible(".cs-factor")
    assert set(one.page.locator(".cs-ratio").all_inner_texts()) == {"\u2013"}
    assert one.page.locator("[data-first]").count() == 0
    one.press("Home")
    assert not one.page.is_visible(".cs-ask"), "there will be nothing to compare a guess with"
    assert not one.errors


def test_bars_run_over_tokens_and_over_time_where_one_wants_it(bare):
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
    assert axis() == "tokens"
    one.press("t")
    drawn = {
        lane: one.page.eval_on_selector(f'.cs-track-row[data-lane="{lane}"] .cs-by-time [data-look="T"]', extent)
        for lane in (0, 1)
    }
    assert axis() == "time" and one.text(".cs-axis-title") == "Time spent"
    assert one.text('[data-lane="0"] .cs-clock') == "400 ms"
    assert drawn[0][:2] == pytest.approx([0, 0.4], abs=0.002), "autoregressive decoding fills the scale"
    assert drawn[1] == pytest.approx([0.025, 0.19, 0.13], abs=0.002), "two passes of 70 and 60 ms, after their drafts"
    one.press("t")
    one.page.evaluate("stage.seek(0.35)")
    assert axis() == "tokens" and "4 tokens" in one.text(".cs-goal")
    assert (left(0), left(1)) == ("100%", "100%")
    one.press("t")
    assert axis() == "time"
    assert (left(0), left(1)) == ("87.5%", "87.5%"), "50 of 400 ms: both have read the prompt since 300 ms"
    one.page.evaluate("stage.seek(0.41)")
    one.press("t")
    assert (left(0), left(1)) == ("75%", "25%")
    one.press("End")
    one.page.click(".cs-view-open")
    one.page.click('.cs-view-menu [data-value="tokens"]')
    assert axis() == "tokens"
    assert bare().show(alone()).page.get_attribute(".cs-track", "data-axis") == "tokens", "one lane has no rival"
    short = bare().show(alone(), alone((1, 2, 3)))
    short.page.click(".cs-view-open")
    assert not short.page.is_visible('.cs-view-menu [data-value="time"]'), "a shorter text is not a faster one"


def test_a_bar_is_solid_as_far_as_its_lane_was_when_the_first_was_done(bare):
    one = bare(calm=True).show(*RACE)
    late = lambda lane: one.page.eval_on_selector(  # noqa: E731
        f'.cs-track-row[data-lane="{lane}"] .cs-late', "bar => bar.style.left"
    )
    assert one.text(".cs-axis-title") == "Tokens written when the fastest finished (200 ms)"
    assert (late(0), late(1)) == ("50%", "100%"), "two tokens of 100 ms each, and all"
    assert one.text('[data-lane="0"] .cs-late-count') == "2 of 4" and one.text('[data-lane="1"] .cs-late-count') == ""
    one.page.evaluate("stage.seek(0.1)")
    assert (late(0), one.text(".cs-axis-title")) == ("100%", "Tokens written"), "nobody is done yet"
    one.page.evaluate("stage.seek(0.3)")
    assert (late(0), one.text(".cs-axis-title")) == ("100%", "Tokens written"), "the bars and the counts have one clock"
    short = bare().show(alone(), alone((1, 2, 3)))
    assert short.text(".cs-axis-title") == "Tokens written", "a shorter text is not a faster one"


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
    reviews = [0, 0.045, 0.075, *(0.1 * i for i in range(1, 11))]
    assert {float(time.split()[0]) for time in times} <= {round(time + 1e-9, 2) for time in reviews} | {0.04, 0.07}
    one.press(".")
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
    assert one.page.evaluate("stage.goTo(1, 3) && stage.place()") == there
    one.press("Shift+ArrowRight")
    word = one.page.evaluate("stage.place()")
    first = one.page.evaluate("(step) => stage.race.lanes[0].steps[step - 1].from", word["step"])
    assert word["word"] == first + 1
    one.press("Home")
    again = "stage.goTo({lane}, {step}, {{ word: {word}, inside: false }}) && stage.place()".format(**word)
    assert one.page.evaluate(again) == {**word, "inside": False}
    assert "word" not in one.page.evaluate("stage.goTo(1, 1, { word: 99 }) && stage.place()"), "a token of another step"
    assert "Step 1 of" in one.text(".cs-score-title")
    assert one.page.evaluate("[stage.goTo(1, 99), stage.goTo(9, 1), stage.goTo(NaN, NaN)]") == [False] * 3
    assert not one.errors


def test_keys_work_wherever_nothing_else_takes_them(bare):
    one = bare().show(alone(), nested())
    one.page.evaluate("() => document.activeElement.blur()")
    one.press("Home", "ArrowRight")
    assert one.state() == "replay"
    one.press("p")
    assert one.page.get_attribute(".cascade-stage", "data-present") is not None
    one.press("Escape", "End")
    assert one.state() == "done"


def test_a_lane_that_reads_a_long_prompt_says_how_far_it_is(bare):
    """The big model has read 512 tokens of 1,536 in 3 s, so the lane reads the rest in 6 s."""
    trace = alone()
    long = replace(
        trace,
        header=replace(trace.header, prompt=(0,) * 1536),
        prefill=tuple(Prefill("target", 512, 3.0 * part, 3.0) for part in range(3)),
    )
    opened, *parts = stage.log_of((long,), "r").splitlines(keepends=True)
    one, read = bare(), "() => document.querySelector('.cs-lane .cs-text').dataset.reading"
    one.page.evaluate("log => stage.update({race: 'r', log})", opened + parts[0])
    assert one.page.evaluate(read) == "reading the prompt: 512 of 1536 tokens, about 6 s more"
    one.page.evaluate("log => stage.update({race: 'r', log})", opened + parts[0] + parts[1])
    assert one.page.evaluate(read) == "reading the prompt: 1024 of 1536 tokens, about 3 s more"
    assert not one.errors


def test_a_replay_that_begins_by_itself_tells_how_to_read_it_in_place_of_steps(bare):
    """Until a visitor touches it; its end is not one. It is read before a frame is drawn: on a slow machine one frame may
    be its end."""
    one = bare()
    shown = """log => {
      const isSeen = (node) => node.checkVisibility({visibilityProperty: true});
      const seen = () => [".cs-how", ".cs-score-title", ".cs-look"].map((part) =>
        isSeen(document.querySelector(part)));
      stage.update({race: "r", log});
      const alone = seen();
      stage.pause();
      const paused = seen();
      stage.play(0);
      const asked = seen();
      stage.update({race: "again", log});
      stage.skip();
      return [alone, paused, asked, seen()];
    }"""
    alone_, paused, asked, ended = one.page.evaluate(
        shown, stage.log_of((greedy(alone()), greedy(nested())), "r", play=True)
    )
    assert alone_ == ended == [True, False, True]
    assert paused == asked == [False, True, True]
    assert not one.errors


def test_the_first_race_of_a_page_plays_at_once_and_asks_nothing(bare):
    one = bare().show_at(0.1, greedy(alone()), greedy(nested()))
    assert one.page.is_visible(".cs-idea") and not one.page.is_visible(".cs-ask")
    one.show_at(0.1, greedy(alone()), *tour.ACTS[5].traces[-1:], race="later")
    method = tour.ACTS[5].traces[-1].header.method
    assert one.text(".cs-ask").startswith(f"How many times as fast will the {method} be?")
    one.page.evaluate("stage.play()")
    one.page.wait_for_function("document.querySelector('.cs-replay').innerText === 'Pause'")
    assert not one.errors


def test_look_inside_leads_to_the_same_step_during_the_replay_that_begins_by_itself_and_after_it(bare):
    one = bare()
    log = stage.log_of((greedy(alone()), *tour.ACTS[5].traces[-1:]), "r", play=True)
    opened = []
    for pause in ("", "stage.skip()"):
        one.page.evaluate(
            f"log => {{ stage.update({{race: 'r', log: ''}}); stage.update({{race: 'r', log}}); {pause} }}", log
        )
        one.page.click(".cs-look")
        opened.append(one.text(".cs-score-title"))
        one.page.click(".cs-look")
        assert one.state() == "done"
    assert opened[0] == opened[1]
    assert not one.errors


def test_a_lane_that_was_stopped_after_a_few_tokens_has_no_speed(bare):
    """Nor have others a factor over it."""
    cut = replace(greedy(alone()), end="stopped")
    one = bare().show(cut, greedy(nested()))
    assert one.page.locator(".cs-track-row .cs-ratio").all_inner_texts() == ["–", "–"]
    assert not one.errors


def test_while_a_race_runs_there_is_nothing_to_look_into(bare):
    one = bare()
    *running, _ = stage.log_of((greedy(alone()), greedy(nested())), "r").splitlines(keepends=True)
    one.page.evaluate("log => stage.update({race: 'r', log})", "".join(running))
    one.page.focus(".cascade-stage")
    one.press("o")
    assert one.page.is_disabled(".cs-look") and not one.page.is_visible(".cs-score-name")
    assert one.page.locator(".cascade-stage[data-opened]").count() == 0
    one.page.evaluate("log => stage.update({race: 'r', log})", stage.log_of((greedy(alone()), greedy(nested())), "r"))
    assert one.page.is_enabled(".cs-look")
    assert not one.errors


def test_labels_of_the_plot_stay_close_to_the_ends_of_their_lines(bare):
    """From the first step on every lane has its symbol; a label is missing only where a lane waits."""
    one = bare(calm=True).show(*RACE)
    far = """() => [...document.querySelectorAll('.cs-plot .cs-curve')].map((curve, i) => {
        const label = document.querySelectorAll('.cs-plot .cs-end')[i];
        if (getComputedStyle(curve).display === 'none') return 'unseen';
        if (!label.textContent) return 'unnamed';
        const [dot, box] = [curve.querySelector('g'), label].map((part) => part.getBoundingClientRect());
        const [x, y] = [dot.x + dot.width / 2, dot.y + dot.height / 2];
        return Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
    })"""
    one.press("Home")
    for step in range(1, 5):
        one.press("ArrowRight")
        gaps = one.page.evaluate(far)
        assert "unseen" not in gaps, (step, gaps)
        assert all(gap == "unnamed" or gap <= 48 for gap in gaps), (step, gaps)
    one.press("End")
    gaps = one.page.evaluate(far)
    assert "unnamed" not in gaps, "at the end every lane has its label"


def test_one_chart_at_a_time_is_shown_and_kept(bare):
    one = bare().show(alone(), nested())
    charts = {"speed": ".cs-plot svg", "computed": ".cs-strip path", "time": ".cs-budget table"}
    for chosen in (None, "computed", "time", "speed"):
        if chosen:
            one.page.click(f"[data-chart={chosen}]")
        seen = [name for name, part in charts.items() if one.page.locator(part).first.is_visible()]
        assert seen == [chosen or "speed"]
    assert one.page.eval_on_selector(".cs-plot path.cs-line", "line => line.getTotalLength()") > 100
    one.page.click("[data-chart=computed]")
    one.page.set_viewport_size({"width": 390, "height": 844})  # too narrow for it
    one.page.click(".cs-after > summary")
    one.page.wait_for_selector(".cs-plot svg:visible")
    assert not one.page.is_visible("[data-chart=computed]")
    assert not one.errors
