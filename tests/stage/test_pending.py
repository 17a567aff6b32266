"""Guesses that wait for the target's check: on the track, and in the text."""

from __future__ import annotations

from handmade import alone, nested

TRACK = '.cs-track-row[data-lane="1"] .cs-pending'
FRAME = '.cs-track-row[data-lane="1"] .cs-frame'
LOOKS = f"[...document.querySelectorAll('{TRACK} path[data-look]')].map(path => path.dataset.look).sort().join('')"
WORDS = "[...document.querySelectorAll('.cs-lane[data-lane=\"1\"] .cs-guess')].map(token => token.textContent).join('')"


def test_guesses_are_pale_until_the_big_model_has_checked_them(bare):
    one = bare().show_at(0.2025, alone(), nested())
    assert (one.page.evaluate(LOOKS), one.page.evaluate(WORDS)) == ("0", "The"), "the second copied token is wrong"
    one.page.evaluate("stage.seek(0.2185)")
    assert (one.page.evaluate(LOOKS), one.page.evaluate(WORDS)) == ("012", "The fox ran")
    assert not one.page.is_visible(FRAME)
    one.page.evaluate("stage.seek(0.23)")
    assert one.page.is_visible(FRAME)
    assert one.page.locator(".cs-guess .cs-word").first.is_visible() and one.page.locator(".cs-guess-key").is_visible()
    assert one.seen(1) == "", "a guess is no text yet"
    one.page.evaluate("stage.seek(0.2455)")
    assert (one.page.evaluate(LOOKS), one.page.evaluate(WORDS)) == ("", "") and one.seen(1) == "The fox ran home"
    one.press("End")
    assert one.page.evaluate(LOOKS) == "" and not one.page.locator(".cs-guess-key").is_visible()
    assert not one.errors
