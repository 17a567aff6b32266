"""The race track and its figures: bars, runs, factors, the bet and the result."""

from __future__ import annotations

from dataclasses import replace

from bare import greedy
from handmade import RACE, WORDS, alone, nested
from variants import variants

from csd.record import metrics
from csd.stage.log import log_of
from csd.web.races import recorded_races


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
    assert other.page.is_visible(".cs-ask button >> nth=0"), "a lane is done, and nobody knows yet how many times"
    assert other.page.eval_on_selector_all(".cs-ratio, .cs-rate", ratios) == 0, "nor how fast it was"
    other.press("End")
    assert not other.page.is_visible(".cs-ask")
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


def test_a_bar_is_as_long_as_its_lane_is_far(bare):
    one = bare(calm=True).show(*RACE)
    left = lambda lane: one.page.eval_on_selector(  # noqa: E731
        f'.cs-track-row[data-lane="{lane}"] .cs-ran', "bar => bar.style.clipPath.split(' ')[1]"
    )
    one.page.evaluate("stage.seek(0.35)")
    assert "4 tokens" in one.text(".cs-goal")
    assert (left(0), left(1)) == ("100%", "100%"), "both have read the prompt since 300 ms, and written nothing"
    one.page.evaluate("stage.seek(0.41)")
    assert (left(0), left(1)) == ("75%", "25%")
    one.press("End")
    assert (left(0), left(1)) == ("0%", "0%")
    one.page.hover(".cs-goal .cs-term")
    one.page.wait_for_selector(".cs-tip:visible >> text=A word or a part of one")


def test_a_lane_that_had_not_begun_says_so_and_the_text_is_that_of_another(bare):
    begun, never = replace(alone(), end="stopped"), replace(nested(), steps=(), end="stopped")
    one = bare().show(begun, never)
    assert (one.text('[data-lane="0"] .cs-clock'), one.text('[data-lane="1"] .cs-clock')) == ("stopped", "not run")
    assert one.text('[data-lane="1"] .cs-runs b') == "" and one.seen(0).startswith("The fox ran home")
    assert one.page.locator('.cs-track-row.cs-selected[data-lane="0"]').count() == 1
    assert not one.errors


def test_a_run_without_a_token_of_its_own_can_be_counted_in_the_bar(bare):
    """As where a text ends with a guess that was kept."""
    first, last = nested().steps
    ended = replace(last, tokens=(5, 6), authors=("MaxGram",) * 2, review=replace(last.review, token=None))
    count = """() => document.querySelector('[data-lane="0"] .cs-ran .cs-written path[data-look="T"]')
        .getAttribute("d").split("M").length - 1"""
    for steps in ((first, last), (first, ended)):
        one = bare().show(replace(nested(), steps=steps))
        assert one.text(".cs-track-row .cs-runs b") == "2 runs" and one.page.evaluate(count) == 2
        assert not one.errors


def test_a_click_on_a_bar_opens_the_step_that_wrote_there(bare):
    one = bare(calm=True).show(*RACE)

    def click(lane: int, part: float) -> str:
        bar = one.page.locator(f'.cs-track-row[data-lane="{lane}"] .cs-lane-bar')
        bar.click(position={"x": part * bar.bounding_box()["width"], "y": 8})
        return one.text(".cs-score-title")

    assert click(0, 0.6).startswith("Step 3 of 4, autoregressive")
    assert one.page.locator(".cascade-stage[data-opened]").count() == 1
    assert click(0, 0.1).startswith("Step 1 of 4, autoregressive"), "also while a step is open"
    one.press("o")
    assert click(1, 0.9).startswith("Step 2 of 2, ")
    assert not one.errors


def test_a_bar_is_pale_from_where_its_lane_was_when_the_first_was_done(bare):
    one = bare(calm=True).show(*RACE)
    late = lambda lane: one.page.eval_on_selector(  # noqa: E731
        f'.cs-track-row[data-lane="{lane}"] .cs-ran .cs-written',
        "bar => bar.hasAttribute('data-late') ? bar.style.getPropertyValue('--written') : ''",
    )
    assert one.text(".cs-track-title") == "After 200 ms, when the cascade was done"
    assert (late(0), late(1)) == ("50.00%", ""), "two tokens of 100 ms each, and all"
    counts = [one.page.text_content(f'[data-lane="{lane}"] .cs-late-count') for lane in (0, 1)]
    assert counts == ["2 of 4", ""]
    one.page.evaluate("stage.seek(0.1)")
    assert (late(0), one.text(".cs-track-title")) == ("", "Tokens written"), "nobody is done yet"
    one.page.evaluate("stage.seek(0.3)")
    assert (late(0), one.text(".cs-track-title")) == ("", "Tokens written"), "the bars and the counts have one clock"
    short = bare().show(alone(), alone((1, 2, 3)))
    assert short.text(".cs-track-title") == "Tokens written", "a shorter text is not a faster one"


@variants("size", [(1280, 720), (1920, 1080), (390, 844)])
def test_the_count_beside_a_pale_bar_hides_whole_tokens(bare, size):
    traces = next(iter(recorded_races().values())).recording.traces
    one = bare(size=size, touch=size[0] < 500)
    one.page.evaluate("log => stage.update({race: String(log.length), log})", log_of(traces, "r"))
    one.page.focus(".cascade-stage")
    one.press("End")
    ends = one.page.evaluate("""() => [...document.querySelectorAll(".cs-late-count:not([hidden])")].map((count) => {
      const [own, bar] = [count, count.closest(".cs-lane-bar")].map((node) => node.getBoundingClientRect());
      return [own.left, own.right].map((x) => (x - bar.left) * 64 / bar.width);
    })""")
    assert len(ends) == 3
    for end in (end for both in ends for end in both):
        assert abs(end - round(end)) < 0.3, "of a token's own width"


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


def test_a_lane_that_was_stopped_after_a_few_tokens_has_no_speed(bare):
    """Nor have others a factor over it."""
    cut = replace(greedy(alone()), end="stopped")
    one = bare().show(cut, greedy(nested()))
    assert one.page.locator(".cs-track-row .cs-ratio").all_inner_texts() == ["–", "–"]
    assert not one.errors


def test_a_speed_beside_a_lane_that_was_stopped_is_a_rough_one(bare):
    whole, cut = (alone([next(iter(WORDS))] * count) for count in (80, 48))
    cut = replace(cut, end="stopped")
    one = bare().show(whole, cut)
    assert one.page.locator(".cs-track-row .cs-ratio").all_inner_texts() == ["1×", "≈1.0×"]
    one = bare().show(cut, whole)
    assert one.page.locator(".cs-track-row .cs-ratio").all_inner_texts() == ["1×", "≈1.0×"]
    assert not one.errors
