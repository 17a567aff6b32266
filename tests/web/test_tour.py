"""The tour's texts, and the tour in a headless Chromium."""

from __future__ import annotations

from browser import CUT
from playwright.sync_api import Page

from csd.models import catalog
from csd.record.metrics import forward_passes
from csd.record.trace import Review
from csd.stage import tour
from csd.web.loads import FamilyChoice


def go_on(page: Page) -> None:
    """To the next act, by way of the answer of this tab."""
    page.click(".tour-next")
    page.click(".tour-next")


def test_every_act_has_few_short_sentences_a_question_and_lanes_of_a_small_race():
    assert len(tour.ACTS) == 8
    for act in tour.ACTS:
        assert act.title and act.question.endswith("?") and act.answer.endswith(".")
        assert 2 <= len(act.choices) <= 3 and 0 <= act.right < len(act.choices)
        assert act.text.endswith(".") and len(act.text) <= 270
        assert max(len(sentence.split()) for sentence in act.text.split(". ")) <= 28, "one idea in a sentence"
        assert [trace.header.method for trace in act.traces]
    words = " ".join(part for act in tour.ACTS for part in (act.title, act.text, act.question, act.answer))
    for term in (
        "big model",
        "small model",
        "copier",
        "vertical cascade",
        "horizontal cascade",
        "adaptive cascade",
        "one by one",
    ):
        assert term in words.lower()
    for name in ("Max-Gram", "Bigram", "target", "draft-"):
        assert name not in words, "levels are called by their roles"


def test_the_small_races_show_what_the_acts_say():
    """A review that keeps some guesses and drops others, one that reviews another's guesses, a block of several writers,
    and a block of several that review one another, all of them with the same tokens; and a race that a cascade loses."""
    one_by_one, speculative = tour.ACTS[1].traces
    _, vertical = tour.ACTS[2].traces
    _, horizontal = tour.ACTS[3].traces
    _, cascade = tour.ACTS[4].traces
    together = (one_by_one, speculative, vertical, horizontal, cascade)
    assert len({trace.tokens for trace in together}) == 1
    runs = [len(trace.steps) for trace in together]
    assert runs[0] == len(one_by_one.tokens) and runs == sorted(runs, reverse=True) and runs[1] < runs[0]
    assert f"{runs[1]} runs of the big model instead of {runs[0]}" in tour.ACTS[1].text
    assert f"{runs[3]} instead of {runs[1]}" in tour.ACTS[3].answer and runs[3] == runs[1] - 1
    small = [forward_passes(trace)["draft-mid"] for trace in (horizontal, cascade)]
    assert small[1] < small[0] and f"runs {small[1]} times instead of {small[0]}" in tour.ACTS[4].text
    assert f"guesses {speculative.header.settings['k']} tokens" in tour.ACTS[1].text
    inner = [one for one in vertical.steps[0].review.inner if isinstance(one, Review)]
    assert len(inner) < len(speculative.steps[0].review.inner), "the small model runs less often"
    assert any(one.accepted for one in inner) and any(one.accepted < len(one.tokens) for one in inner)
    assert inner[0].by == "draft-mid" and 0 < inner[0].accepted < len(inner[0].tokens), "it mends the copier's guess"
    drafted = [one for one in horizontal.steps[0].review.inner if isinstance(one, Review)]
    assert not any(one.inner for one in drafted), "every level writes by itself"
    assert horizontal.steps[0].review.accepted > horizontal.header.settings["ks"][0], "some of the tail is kept"
    for trace in (horizontal, cascade):
        assert len({one.by for one in trace.steps[0].review.inner}) == 3
    fixed, adaptive = tour.ACTS[5].traces
    assert fixed.tokens == adaptive.tokens and len(adaptive.steps) < len(fixed.steps)
    assert f"takes {len(adaptive.steps)} runs of the big model; the fixed plan takes {len(fixed.steps)}" in (
        tour.ACTS[5].text
    )
    assert adaptive.decode_seconds < fixed.decode_seconds
    alone, guessed = tour.ACTS[6].traces
    review = guessed.steps[tour.ACTS[6].step - 1].review
    kept, struck = review.tokens[: review.accepted], review.tokens[review.accepted :]
    told = [guessed.pieces[token] for token in (*kept, review.token)]
    assert alone.tokens == guessed.tokens and kept and len(struck) == 2, "the wrong guess, and one after it"
    assert f"keeps “{''.join(told[:-1]).strip()}”" in tour.ACTS[6].text
    assert told[-1] == '."' and "ends the sentence itself" in tour.ACTS[6].text
    assert f"“{guessed.pieces[struck[1]].strip()}” followed a wrong token" in tour.ACTS[6].text
    lost = {trace.header.method: trace for trace in tour.ACTS[-1].traces}
    assert lost["cascade"].decode_seconds > lost["autoregressive"].decode_seconds
    assert len(lost["cascade"].steps) < len(lost["autoregressive"].steps)
    assert lost["cascade"].header.temperature == tour.LOSE.temperature
    assert f"temperature {tour.LOSE.temperature}" in tour.ACTS[-1].text
    presets = FamilyChoice(catalog.find("embedded")).defaults
    assert lost["cascade"].header.settings["K"] == [list(row) for row in presets.find_preset(tour.LOSE.preset).K]


def test_a_boundary_too_early_costs_runs_and_one_too_late_costs_time():
    """The races between which the reader of the horizontal cascade chooses, and its question about them."""
    act = tour.ACTS[3]
    by_count = dict(act.choices_of_boundary)
    seconds = {count: lanes[-1].decode_seconds for count, lanes in by_count.items()}
    runs = [len(lanes[-1].steps) for lanes in by_count.values()]
    best = min(seconds, key=lambda count: seconds[count])
    assert list(by_count) == sorted(by_count) and runs == sorted(runs, reverse=True) and runs[0] > runs[-1]
    assert by_count[best] == act.traces, "the answer ends with the best"
    first = by_count[act.begins][-1]
    assert act.begins == min(by_count) and first.steps[0].review.accepted == act.begins, (
        "the first guess behind it is wrong"
    )
    assert "Wrong on purpose here: the tiny model writes too early" in act.at_first
    assert min(by_count) < best < max(by_count) and runs[list(by_count).index(best)] == runs[-1]
    assert len({trace.tokens for lanes in by_count.values() for trace in lanes}) == 1
    asked = [int(choice.removeprefix("after ")) for choice in act.choices]
    assert asked[act.right] == best and set(asked) < set(by_count)


def test_the_reader_moves_the_boundary_of_the_horizontal_cascade(tab):
    page, act = tab.page, tour.ACTS[3]
    page.click("#tour-start")
    assert not page.is_visible(".tour-tried")
    for _ in tour.ACTS[1:4]:
        go_on(page)
    buttons = page.locator(".tour-boundaries:visible button")
    pressed, clock = ".tour-boundaries:visible [aria-pressed=true]", ".tour .cs-track-row:last-of-type .cs-clock"
    assert page.inner_text(pressed).startswith("1") and page.locator(".tour-tried [data-more]:visible").count() == 1
    for number, (count, (_, moved)) in enumerate(act.choices_of_boundary):
        buttons.nth(number).click()
        assert page.is_visible(".tour-at-first") == (count == act.begins), "it is said of that boundary alone"
        assert page.inner_text(pressed).startswith(str(count))
        assert page.get_attribute(pressed, "data-more") == page.inner_text(clock)
        assert page.inner_text(".tour .cs-track-row:last-of-type .cs-runs").startswith(str(len(moved.steps)))
        assert page.inner_text(".tour .cs-score-title").startswith(f"Step 1 of {len(moved.steps)}, horizontal")
        assert page.evaluate(CUT, ".tour-stage") == [0, 0]
    page.click(".tour-back")
    go_on(page)
    assert page.inner_text(pressed).startswith("1"), "the act begins anew"
    assert page.inner_text(".tour-next") == "Show answer"
    page.click(".tour-next")
    assert page.inner_text(pressed).startswith("4"), "nobody leaves it where its idea fails"
    assert page.locator(".tour-boundaries:visible button[data-more]").count() == buttons.count(), "each has its time"
    assert page.inner_text(".tour-next") == "Next"
    page.click(".tour-back")
    go_on(page)
    page.keyboard.press("1")
    assert page.inner_text(pressed).startswith("4"), "the answer moves it to where the text is done first"
    page.wait_for_selector(".tour .cs-score-title:text('Step 1 of 2, horizontal')")
    assert not tab.errors


def test_a_wrong_guess_of_the_cascade_spoils_all_behind_it_whoever_wrote_it(tab):
    page, act = tab.page, tour.ACTS[4]
    review = act.traces[-1].steps[act.step - 1].review
    page.click("#tour-start")
    for _ in range(4):
        go_on(page)
    guesses = page.locator(".tour-guesses:visible button")
    assert guesses.count() == review.accepted > 8
    for number in (4, 1):
        guesses.nth(number).click()
        assert page.inner_text(".tour .cs-score-title").startswith(
            f"If guess {number + 1} were wrong: {number + 1} token"
        )
        fates = page.eval_on_selector_all(
            ".tour .cs-cell",
            "all => all.filter(cell => cell.offsetParent).map(cell => [cell.innerText.trim(), cell.dataset.fate])",
        )
        assert [act.wrong.strip(), "rejected"] in fates and page.evaluate(CUT, ".tour-stage") == [0, 0]
        assert (
            act.traces[-1].pieces[review.tokens[number]].strip()
            in page.locator('.tour .cs-cell[data-own="correction"]').all_inner_texts()
        )
    page.keyboard.press(str(act.right + 1))
    page.wait_for_selector(".tour-answer:visible b")
    assert not tab.errors


def test_the_reader_makes_a_guess_wrong(tab):
    page, act = tab.page, tour.ACTS[1]
    review = act.traces[-1].steps[act.step - 1].review
    page.click("#tour-start")
    go_on(page)
    guesses = page.locator(".tour-guesses:visible button")
    assert guesses.count() == review.accepted == len(review.tokens)
    shown, title = ".tour .cs-cell >> visible=true", ".tour .cs-score-title"
    for number, token in enumerate(review.tokens):
        guesses.nth(number).click()
        cells = page.locator(shown).all()
        fates = [cell.get_attribute("data-fate") for cell in cells]
        assert fates.count("rejected") == 1 and fates.count("kept") == number
        assert page.inner_text('.tour .cs-cell[data-fate="rejected"]').strip() == act.wrong.strip()
        assert page.inner_text('.tour .cs-cell[data-own="correction"]') == act.traces[-1].pieces[token].strip()
        assert page.inner_text(title).startswith(f"If guess {number + 1} were wrong: {number + 1} token")
        assert guesses.nth(number).get_attribute("data-more") == f"{number} kept"
        assert page.evaluate(CUT, ".tour-stage") == [0, 0]
    guesses.last.click()
    assert page.inner_text(title).startswith("Step 1 of 3"), "pressed again, the guess is right again"
    page.keyboard.press(str(act.right + 1))
    assert page.inner_text(title).startswith("If guess 2 were wrong"), "the question is about the second"
    page.click(".tour-back")
    go_on(page)
    assert page.locator('.tour-guesses:visible [aria-pressed="true"]').count() == 0, "the act begins anew"
    page.wait_for_selector(".tour .cs-score-title:text('Step 1 of 3')")
    assert not tab.errors


def test_the_reader_opens_each_block_of_the_adaptive_cascade(tab):
    page, act = tab.page, tour.ACTS[5]
    reviews = [step.review for step in act.traces[-1].steps]
    lengths = [len(review.tokens) for review in reviews]
    bad = next(i for i, review in enumerate(reviews) if not review.accepted)
    assert lengths[bad + 1] < lengths[bad] and max(lengths) > len(act.traces[0].steps[0].review.tokens)
    assert f"When all of {lengths[bad]} guesses were wrong, it made only {lengths[bad + 1]} next" in act.answer
    assert len({len(step.review.tokens) for step in act.traces[0].steps[:4]}) == 1, "the fixed plan, again and again"
    page.click("#tour-start")
    for _ in tour.ACTS[1:6]:
        go_on(page)
    blocks = page.locator(".tour-blocks:visible button")
    assert blocks.count() == len(reviews) and blocks.first.get_attribute("aria-pressed") == "true"
    for number, review in enumerate(reviews):
        blocks.nth(number).click()
        assert page.inner_text(".tour .cs-score-title").startswith(f"Step {number + 1} of {len(reviews)}, adaptive")
        assert blocks.nth(number).inner_text().startswith(f"{len(review.tokens)} guesses")
        assert blocks.nth(number).get_attribute("data-more") == f"{review.accepted} kept"
        assert page.locator('.tour-blocks:visible [aria-pressed="true"]').count() == 1
        assert page.evaluate(CUT, ".tour-stage") == [0, 0]
    assert not tab.errors


def test_the_first_act_shows_the_prompt_that_it_continues(tab):
    page = tab.page
    page.click("#tour-start")
    shown = "getComputedStyle(document.querySelector('.tour .cs-text'), '::before').content"
    assert "The wind said to the sun" in page.evaluate(shown)
    assert page.locator(".tour .cascade-stage[data-other]").count() == 0, (
        "its colours stay: the tour has its own prompts"
    )


def test_the_tour_steps_and_closes_by_keyboard(tab):
    page = tab.page
    page.focus("#tour-start")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tour dialog[open] section:not([hidden]) h2")

    def title() -> str:
        return page.inner_text(".tour section:not([hidden]) h2")

    def lanes() -> list[str]:
        return page.locator(".tour .cs-track-row .cs-name b").all_inner_texts()

    assert lanes() == ["autoregressive"]
    seen = [title()]
    for act in tour.ACTS[1:]:
        assert page.evaluate("document.activeElement.classList.contains('tour-next')")
        before = tour.ACTS[len(seen) - 1]
        if page.inner_text(".tour-next") == "Show answer":
            page.keyboard.press("ArrowRight")
            assert title() == before.title, "nobody leaves an act without its answer"
            assert page.inner_text(".tour-answer:visible") == f"{before.right + 1}. {before.answer}"
        assert page.inner_text(".tour-next") == "Next"
        page.keyboard.press("ArrowRight")
        seen.append(title())
        assert len(lanes()) == len(act.lanes)
        assert page.is_visible(".tour .cs-lead") == (act.show == "result")
        assert page.is_visible(".tour .cs-runs >> nth=-1") and page.is_visible(".tour-lose") == bool(act.recipe)
        assert page.is_visible(".tour .cs-score") == (act.show == "review"), "the picture is there at once"
        assert page.locator(".tour-choices:visible button span").all_inner_texts() == list(act.choices)
        assert page.evaluate(CUT, ".tour-stage") == [0, 0]
        if act.title == tour.ACTS[4].title:  # its lanes run to the end, and rest there with the review of its text
            assert page.inner_text(".tour .cs-score-title").startswith("Step 1 of 2, cascade")
            assert page.evaluate(CUT, ".tour .cs-score") == page.evaluate(CUT, ".tour .cs-axis-vertical") == [0, 0]
            page.click(".tour-again")
            page.wait_for_selector(".tour .cascade-stage[data-state=replay]")
            assert not page.is_visible(".tour .cs-score")
            page.focus(".tour-next")
            page.wait_for_selector(".tour .cascade-stage[data-state=done] .cs-score")
            page.keyboard.press("1")
            assert page.inner_text(".tour-answer:visible") == f"The answer is 2. {act.answer}"
            assert page.locator(".tour-choices:visible button:disabled").count() == len(act.choices), "they stay"
            assert page.inner_text(".tour-choices:visible [data-taken]:not([data-right]) span") == act.choices[0]
            assert page.evaluate(CUT, ".tour-stage") == [0, 0]
            page.set_viewport_size({"width": 390, "height": 844})
            page.wait_for_function(f"({CUT})('.tour .cs-score')[0] === 0")  # its type is fitted to the phone
            assert page.evaluate(CUT, ".tour-stage")[0] == page.evaluate(CUT, ".tour .cs-score")[0] == 0
            assert page.locator(".tour .cs-score-who:visible").count() == 4
            foot = page.locator(".tour-buttons").bounding_box()["y"]
            assert page.locator(".tour-choices:visible").evaluate("n => n.getBoundingClientRect().bottom") <= foot
            assert page.get_attribute(".tour .cs-score", "data-more") is None, "no picture fades out where it ends"
            assert page.is_visible(".tour .cs-axis-horizontal") and page.is_visible(".tour .cs-axis-vertical")
            page.set_viewport_size({"width": 1280, "height": 720})
            page.focus(".tour-next")
    assert seen == [act.title for act in tour.ACTS]
    page.locator(".tour-choices:visible button").nth(tour.ACTS[-1].right).click()
    assert page.inner_text(".tour-answer:visible") == f"Right. {tour.ACTS[-1].answer}"
    assert page.inner_text(".tour .cs-track-row >> nth=3").startswith("adaptive cascade"), "the lane that it speaks of"
    assert page.evaluate("document.activeElement.classList.contains('tour-next')")
    page.keyboard.press("ArrowLeft")
    assert title() == tour.ACTS[-2].title
    assert page.locator(".tour-choices:visible button:enabled").count() == 2, "each time anew"
    assert not page.is_visible(".tour-lose")
    box = page.locator(".tour dialog").bounding_box()
    assert box["x"] >= 0 and box["y"] >= 0
    assert box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 720
    page.keyboard.press("Escape")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert page.evaluate("document.activeElement.id") == "tour-start"
    assert not tab.errors


def test_back_closes_the_tour_and_leaves_the_page_where_it_is(tab):
    page = tab.page
    address, race = page.url, page.get_attribute("#stage .cascade-stage", "data-race")
    page.click("#tour-start")
    page.click(".tour-next")
    page.go_back()
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert page.url == address and page.get_attribute("#stage .cascade-stage", "data-race") == race
    page.click("#tour-start")
    page.click(".tour-close")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    page.wait_for_function("!history.state?.tour")
    page.click("#tour-start")
    page.wait_for_selector(f'.tour h2:visible:text-is("{tour.ACTS[0].title}")')
    page.keyboard.press("Escape")
    page.wait_for_selector(".tour dialog:not([open])", state="attached")
    assert not tab.errors


def test_on_a_phone_the_tour_scrolls_as_one_page_above_its_buttons(tab):
    page = tab.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.click("#tour-start")
    for act in tour.ACTS:
        page.wait_for_selector(f'.tour h2:visible:text-is("{act.title}")')
        top = page.locator(".tour section:not([hidden]) .tour-count").bounding_box()
        assert top["y"] < page.locator(".tour h2:visible").bounding_box()["y"], "every act begins at its top"
        page.locator(".tour-choices:visible button").first.click()
        said = page.locator(".tour-answer:visible").bounding_box()
        buttons = page.locator(".tour-buttons").bounding_box()
        assert said["y"] + said["height"] <= buttons["y"] + 1 and buttons["y"] + buttons["height"] <= 845
        assert page.evaluate(CUT, ".tour-stage")[0] == 0
        assert page.locator(".tour h2:visible").bounding_box()["y"] >= 0, "the title stays above what scrolls"
        page.click(".tour-next")
    assert not tab.errors


def test_the_picture_of_an_act_moves_once_when_the_act_is_opened(tab):
    """The rounds of the review come one by one; then the whole picture rests."""
    page = tab.page
    tab.allow_motion()
    page.click("#tour-start")
    go_on(page)
    watch = ".tour .cs-rounds .cs-unfold"
    page.wait_for_selector(f"{watch}:text-is('Stop')")
    page.wait_for_selector(".tour .cs-round-told:not(:empty)")
    assert page.evaluate(CUT, ".tour-stage") == [0, 0], "the sentence of a round takes the place of the key"
    page.wait_for_selector(f"{watch}:text-is('Watch it happen')")
    assert not page.locator(".tour .cs-score[data-stepping]").count()
    assert not tab.errors


def test_a_double_click_on_answer_leaves_the_answer_there(tab):
    page, title = tab.page, "dialog[open] h2:visible"
    page.click("#tour-start")
    asked = page.inner_text(title)
    page.dblclick(".tour-next")
    assert page.inner_text(title) == asked and page.inner_text(".tour-answer:visible")
    page.click(".tour-next")
    assert page.inner_text(title) != asked
    assert not tab.errors


def test_an_answer_ends_what_moves_in_the_picture(tab):
    """The lanes that still run, and the rounds that still come."""
    page = tab.page
    tab.allow_motion()
    page.click("#tour-start")
    assert page.get_attribute(".tour .cascade-stage", "data-state") == "replay"
    page.keyboard.press("1")
    assert page.get_attribute(".tour .cascade-stage", "data-state") == "done"
    page.click(".tour-next")
    page.wait_for_selector(".tour .cs-round-told:not(:empty)")
    page.keyboard.press("1")
    assert page.inner_text(".tour .cs-round-told") == ""
    assert page.inner_text(".tour .cs-unfold") == "Watch it happen"
    assert not tab.errors


def test_the_tour_races_what_a_cascade_loses_from_any_tab(tab):
    page = tab.page
    tab.fill("My own words", 12)
    page.get_by_role("tab", name="Theory").click()
    page.click("#tour-start")
    for _ in tour.ACTS[1:]:
        go_on(page)
    page.click(".tour-lose")
    assert tab.status("ended").startswith("Done: 12 tokens each.")
    assert page.is_visible("#stage .cs-track") and page.input_value("#temperature input") == "1.5"
    assert page.locator("#stage .cs-track-row .cs-name b").all_inner_texts()[2:] == [
        "cascade",
        "adaptive cascade",
    ]
    assert page.inner_text("#own-prompt") == "My prompt", "what was typed can be had back"
    page.fill("#prompt textarea", "Why is the sea salty?")
    page.wait_for_function("document.querySelector('#temperature input').value === '0'")
    page.wait_for_function("!document.querySelector('#more').innerText.includes('adaptive')")
    assert page.input_value("#prompt textarea") == "Why is the sea salty?"
    assert page.input_value("#max-new input") == "12"
    assert not tab.errors
