"""What the reader of the tour tries in its pictures."""

from __future__ import annotations

from browser import CUT
from playwright.sync_api import Page

from csd.stage import tour


def go_on(page: Page) -> None:
    """To the next act, by way of the answer of this tab."""
    page.click(".tour-next")
    page.click(".tour-next")


def test_the_reader_moves_the_boundary_of_the_horizontal_cascade(tab):
    page, act = tab.page, tour.ACTS[3]
    page.click("#tour-start")
    assert not page.is_visible(".tour-tried:not(.tour-costs)")
    for _ in tour.ACTS[1:4]:
        go_on(page)
    buttons = page.locator(".tour-boundaries:visible button")
    pressed, clock = ".tour-boundaries:visible [aria-pressed=true]", ".tour .cs-track-row:last-of-type .cs-clock"
    assert page.inner_text(pressed).startswith("4") and page.locator(".tour-tried [data-more]:visible").count() == 1
    for number, (count, (_, moved)) in enumerate(act.choices_of_boundary):
        buttons.nth(number).click()
        assert page.inner_text(pressed).startswith(str(count))
        assert page.get_attribute(pressed, "data-more") == page.inner_text(clock)
        assert page.inner_text(".tour .cs-track-row:last-of-type .cs-runs").startswith(str(len(moved.steps)))
        assert page.inner_text(".tour .cs-score-title").startswith(f"Step 1 of {len(moved.steps)}, horizontal")
        assert f"the big model runs {len(moved.steps)} times" in page.inner_text(".tour-text:visible"), "as the picture"
        assert page.evaluate(CUT, ".tour-stage") == [0, 0]
    page.click(".tour-back")
    go_on(page)
    assert page.inner_text(pressed).startswith("4"), "the act begins anew"
    assert page.inner_text(".tour-next") == "Show answer"
    page.click(".tour-next")
    assert page.inner_text(pressed).startswith("4"), "the times beside the boundaries tell it"
    assert page.locator(".tour-boundaries:visible button[data-more]").count() == buttons.count(), "each has its time"
    assert page.inner_text(".tour-next") == "Next"
    page.click(".tour-back")
    go_on(page)
    page.keyboard.press("1")
    assert page.inner_text(pressed).startswith("4")
    page.wait_for_selector(".tour .cs-score-title:has-text('Step 1 of 2, horizontal')")
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
    page.wait_for_selector(".tour .cs-score-title:has-text('Step 1 of 3')")
    assert not tab.errors


def test_the_reader_opens_each_block_of_the_adaptive_cascade(tab):
    page, act = tab.page, tour.ACTS[-1]
    reviews = [step.review for step in act.traces[-1].steps]
    lengths = [len(review.tokens) for review in reviews]
    bad = next(i for i, review in enumerate(reviews) if not review.accepted)
    assert lengths[bad + 1] < lengths[bad] and max(lengths) > len(act.traces[0].steps[0].review.tokens)
    assert f"After {lengths[bad]} guesses of which none was kept, it made only {lengths[bad + 1]};" in act.answer
    assert len({len(step.review.tokens) for step in act.traces[0].steps[:4]}) == 1, "the fixed plan, again and again"
    page.click("#tour-start")
    for _ in tour.ACTS[1:]:
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
