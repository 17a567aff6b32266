"""What a reader of the tour can try on a step: to look at another one, or to make a guess of it wrong."""

from __future__ import annotations

from html import escape

from csd.record.trace import Review, Trace, detokenize


def blocks_html(trace: Trace) -> str:
    """A button for each step, with its guesses and how many of them were kept."""
    reviews = [step.review for step in trace.steps]
    buttons = "".join(
        f'<button type="button" data-step="{i}" data-more="{one.accepted} kept">{len(one.tokens)} guesses</button>'
        for i, one in enumerate(reviews, 1)
    )
    return (
        '<div class="tour-tried tour-blocks" role="group" aria-label="Guesses of each step" hidden>'
        f"<b>Look at each step.</b> {buttons}</div>"
    )


def guesses_html(trace: Trace, review: Review, wrong: str, asked: int | None) -> str:
    """A button for each guess of the review that was kept, in whose place it puts the `wrong` word. The question is
    about the one numbered `asked`, from 0."""
    word = escape(wrong)
    buttons = "".join(
        f'<button type="button" data-wrong="{i}" data-word="{word}"{" data-asked" if i == asked else ""}>'
        f"{escape(detokenize((token,), trace.pieces).strip())}</button>"
        for i, token in enumerate(review.tokens[: review.accepted])
    )
    return (
        '<div class="tour-tried tour-guesses" role="group" aria-label="Guesses of the step" hidden>'
        f"<b>Make a guess wrong.</b> {buttons}</div>"
    )
