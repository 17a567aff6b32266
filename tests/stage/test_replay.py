"""A race in time, on a bare page: replay, steps and keys."""

from __future__ import annotations

from dataclasses import replace

from bare import greedy
from handmade import alone, nested

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


def test_a_model_that_takes_no_part_in_any_lane_is_not_in_the_legend(bare):
    shown = "[...document.querySelectorAll('.cs-legend-item')].filter((one) => one.offsetWidth).map((one) => one.dataset.level)"
    assert bare().show(alone()).page.evaluate(shown) == ["T"]
    one = bare().show(alone(), nested())
    assert one.page.evaluate(shown) == ["T", "2", "1", "0"], "from the big model down, as in a look inside"
    one.page.click('.cs-track-row[data-lane="0"] .cs-name')
    assert one.page.evaluate(shown) == ["T", "2", "1", "0"], "the other lanes show their colours"


def test_what_a_cascade_without_a_plan_is_stands_where_no_other_one_runs(bare):
    adaptive = replace(nested(), header=replace(nested().header, method="adaptive cascade"))
    one = bare(calm=True).show(alone(), nested(), adaptive, play=True)
    assert one.text(".cs-how").startswith("What is a cascade?") and "adaptive" not in one.text(".cs-how")
    other = bare(calm=True).show(alone(), adaptive, play=True)
    assert other.text(".cs-how").startswith("What is an adaptive cascade?")
    assert "or the copier. The big model checks every guess" in other.text(".cs-how")
    assert not one.errors and not other.errors


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
    assert alone_ == paused == [False, False, True] and ended == [True, False, True], "what happens comes first"
    assert asked == [False, True, True]
    assert not one.errors


def test_the_first_race_of_a_page_plays_at_once_and_asks_nothing(bare):
    one = bare().show_at(0.1, greedy(alone()), greedy(nested()))
    assert one.page.is_visible(".cs-idea") and not one.page.is_visible(".cs-ask")
    one.show_at(0.1, greedy(alone()), *tour.ACTS[-1].traces[-1:], race="later")
    method = tour.ACTS[-1].traces[-1].header.method
    assert one.text(".cs-ask").startswith(f"How many times as fast will the {method} be?")
    one.page.evaluate("stage.play()")
    one.page.wait_for_function("document.querySelector('.cs-replay').innerText === 'Pause'")
    assert not one.errors


def test_look_inside_leads_to_the_same_step_during_the_replay_that_begins_by_itself_and_after_it(bare):
    one = bare()
    log = stage.log_of((greedy(alone()), *tour.ACTS[-1].traces[-1:]), "r", play=True)
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


def test_the_list_of_keys_lies_over_the_page_and_a_key_that_races_is_one_of_the_presented_stage(bare):
    one = bare().show(greedy(alone()), greedy(nested()))
    one.page.evaluate("""window.asked = 0; window.addEventListener("cascade-race", () => asked++);
        document.body.insertAdjacentHTML("beforeend", '<button id="race">Race</button><button id="lose">Make it lose</button>')""")
    one.press("End", "l")
    assert one.page.evaluate("asked") == 0, "the race that somebody looks at stays"
    before = one.page.evaluate("scrollY")
    one.press("?")
    box = one.page.locator(".cs-keys p").bounding_box()
    assert one.page.evaluate("scrollY") == before and box["y"] + box["height"] < one.page.viewport_size["height"]
    one.press("Escape")
    assert not one.page.is_visible(".cs-keys p") and one.state() == "done"
    one.press("p", "l")
    assert one.page.evaluate("asked") == 1
    assert not one.errors


def test_lanes_that_read_a_long_prompt_say_how_long_all_of_them_take(bare):
    """Two lanes take turns: a third of one prompt in 3 s makes five more such parts of both."""
    trace = alone()
    long = replace(trace, header=replace(trace.header, prompt=(0,) * 1536), prefill=(Prefill("target", 512, 0.0, 3.0),))
    opened, first, *_ = stage.log_of((long, long), "r").splitlines(keepends=True)
    one = bare()
    one.page.evaluate("log => stage.update({race: 'r', log})", opened + first)
    read = one.page.evaluate("() => document.querySelector('.cs-selected .cs-text').dataset.reading")
    assert read == "2 lanes read the prompt: 1536 tokens, 17% done, about 15 s more"
    assert not one.errors
