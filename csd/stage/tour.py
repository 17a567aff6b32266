"""The guided tour: what a newcomer reads and sees. Pure; no gradio."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Literal

from csd import theme
from csd.own_files import own_json, own_text, reading
from csd.paths import ASSETS
from csd.record import metrics
from csd.record.recording import Recording
from csd.record.trace import Trace
from csd.stage import bundle
from csd.stage.log import log_of
from csd.stage.remember import closing, spoken
from csd.stage.run_costs import costs_html
from csd.stage.tried import blocks_html, guesses_html

# Small races: the two cascades each alone, the horizontal one with every boundary, the cascade that joins them, the
# adaptive one, and one that loses.
RACES = {name: ASSETS / f"tour-{name}.json.gz" for name in ("parts", "cuts", "whole", "turns", "lost")}
MODULES = ASSETS / "tour"
CSS = theme.css_variables(".tour-picture") + own_text(ASSETS / "tour.css") + own_text(ASSETS / "slides.css")


@dataclass(frozen=True)
class Recipe:
    """A race of the visitor's own: an example of a kind, with a preset and at a temperature."""

    preset: str
    temperature: float
    example: str


@dataclass(frozen=True)
class Act:
    """`lanes` of one of RACES are on the tour's stage; `show` says what is below them: the text, the review of a `step`
    of the last lane, or the text with the result. The words hold the figures of the race; on a slide the `claim` stands
    in place of the `text`. The question has `choices`, of which the one numbered `right`, from 0, is true; the answer
    says why. An act with a recipe has a button that races it on the page; one with `boundaries` lets the reader replace
    its last lane by each of that race, which differ in how many positions the first draft writes, and `moved` says
    what that comes to. One with `blocks` lets the reader open each step of its last lane; one with a `wrong` word
    lets the reader put that in place of a guess of the step. What is `asked` about comes with the answer: a
    boundary, or a guess, from 0. `drafting` are runs of the small model in each of its lanes, where these are what
    the act is about. One with `costs` shows what a run of the big model costs, in its race. `answered` are the lanes
    that come with the answer, where it shows more of them. An act that belongs to the `talk` of two minutes asks
    nothing there; the speaker reads what to `say`, and `until` when on the talk's clock."""

    title: str
    race: str
    lanes: tuple[int, ...]
    show: Literal["text", "review", "result"]
    text: str
    claim: str
    question: str
    choices: tuple[str, ...]
    right: int
    answer: str
    step: int = 1
    drafting: tuple[int, ...] = ()
    recipe: Recipe | None = None
    boundaries: str = ""
    moved: str = ""
    blocks: bool = False
    costs: bool = False
    wrong: str = ""
    asked: int | None = None
    talk: bool = False
    say: tuple[str, ...] = ()
    until: str = ""
    answered: tuple[int, ...] = ()

    @property
    def traces(self) -> tuple[Trace, ...]:
        traces = _traces(self.race)
        return tuple(traces[lane] for lane in self.lanes)

    @property
    def others(self) -> tuple[tuple[Trace, ...], ...]:
        """The races that may take the place of the act's own: one for each boundary, or the one of the answer."""
        moved = tuple(lanes for _, lanes in self.choices_of_boundary)
        traces = _traces(self.race)
        return (tuple(traces[lane] for lane in self.answered),) if self.answered else moved

    def moved_to(self, count: int, lanes: tuple[Trace, ...]) -> str:
        """What the picture comes to with this boundary."""
        return _moved(self.moved, count, len(lanes[-1].steps), len(lanes[0].steps))

    @property
    def choices_of_boundary(self) -> tuple[tuple[int, tuple[Trace, ...]], ...]:
        """How many positions the first draft writes, and the lanes of the act with that boundary in the last one."""
        others = _traces(self.boundaries) if self.boundaries else ()
        return tuple((trace.header.settings["ks"][0], (*self.traces[:-1], trace)) for trace in others)


@cache
def _traces(race: str) -> tuple[Trace, ...]:
    with reading(RACES[race]):
        return Recording.from_bytes(RACES[race].read_bytes()).traces


def _moved(words: str, count: int, runs: int, plain: int) -> str:
    return words.format(guesses=f"{count} guess{'' if count == 1 else 'es'}", runs=runs, plain=plain)


def _runs_asked(written: dict[str, Any]) -> int | None:
    others = _traces(written["boundaries"]) if "boundaries" in written else ()
    return next((len(one.steps) for one in others if one.header.settings["ks"][0] == written["asked"]), None)


def _act(written: dict[str, Any]) -> Act:
    """An act of tour.json. By lane of its race: `runs` of the big model, `drafting` runs of the small one (the first
    draft), `guesses` of each block; `tokens` and `k` are those of all its lanes. `asked_runs` are runs of the big model
    with the boundary that its question is about."""
    traces = _traces(written["race"])
    passes = [metrics.forward_passes(trace) for trace in traces]
    small = next(trace.header.settings["draft"] for trace in traces if "draft" in trace.header.settings)
    figures = {
        "runs": [len(trace.steps) for trace in traces],
        "drafting": [counts.get(small, 0) for counts in passes],
        "guesses": [[len(step.review.tokens) for step in trace.steps] for trace in traces],
        "tokens": len(traces[0].tokens),
        "k": next(trace.header.settings["k"] for trace in traces if "k" in trace.header.settings),
        "asked_runs": _runs_asked(written),
    }
    plain, own = (traces[lane] for lane in (written["lanes"][0], written["lanes"][-1]))
    figures["moved"] = _moved(written.get("moved", ""), figures["k"], len(own.steps), len(plain.steps))
    words = {name: written[name].format(**figures) for name in ("text", "claim", "question", "answer")}
    recipe = Recipe(**written["recipe"]) if "recipe" in written else None
    return Act(
        written["title"],
        written["race"],
        tuple(written["lanes"]),
        written["show"],
        **words,
        choices=tuple(written["choices"]),
        right=written["right"],
        step=written.get("step", 1),
        drafting=tuple(figures["drafting"][lane] for lane in written["lanes"])
        if "{drafting" in written["text"]
        else (),
        recipe=recipe,
        boundaries=written.get("boundaries", ""),
        moved=written.get("moved", ""),
        blocks=written.get("blocks", False),
        costs=written.get("costs", False),
        wrong=written.get("wrong", ""),
        asked=written.get("asked"),
        talk=written.get("talk", False),
        say=tuple(sentence.format(**figures) for sentence in written.get("say", ())),
        until=written.get("until", ""),
        answered=tuple(written.get("answered", ())),
    )


def _read_acts(file: Path) -> tuple[Act, ...]:
    with reading(file):
        return tuple(map(_act, own_json(file)))


ACTS = _read_acts(ASSETS / "tour.json")
LOSING = next(act for act in ACTS if act.recipe)
LOSE = next(act.recipe for act in ACTS if act.recipe)


KEYS = "".join(
    f"<span data-key='{key}'><kbd>{key}</kbd> {what}</span>"
    for key, what in (
        ("page down or →", "go on"),
        ("page up or ←", "back"),
        ("home", "from the start"),
        ("end", "the last slide"),
        ("1 2 3", "answer the question"),
        ("s", "speaker’s notes"),
        ("b", "blank"),
        ("r", "race live, with the page’s prompt"),
        ("l", "lose a race, live"),
        ("Esc", "leave"),
        ("?", "these keys"),
    )
)


def _least_runs() -> tuple[int, int]:
    """Of the big model in the small race of the cascade: with it, and one by one."""
    one_by_one, *_, cascade = _traces("whole")
    return len(cascade.steps), len(one_by_one.steps)


NOTHING_TO_TRY = '<div class="tour-tried" hidden></div>'


def template() -> str:
    """A button and a native dialog with every act, for gr.HTML; assets/tour/ shows one at a time."""
    pairs = zip((None, *ACTS), ACTS, strict=False)  # each act, and the one before it
    acts = [_told(i, act, before) for i, (before, act) in enumerate(pairs, 1)]
    told = "".join((*acts, closing(len(ACTS) + 1, _least_runs())))
    asked = "".join(map(_asked, ACTS)) + '<div class="tour-question" hidden></div>'
    tried = "".join(map(_tried, ACTS)) + NOTHING_TO_TRY
    return (
        '<div class="tour"><button type="button" id="tour-start" aria-haspopup="dialog">How it works</button>'
        '<dialog aria-labelledby="tour-title-1"><button type="button" class="tour-close">Close</button>'
        f'<div class="tour-acts" aria-live="polite">{told}</div><div class="tour-stage">{bundle.HTML_TEMPLATE}</div>'
        f'{tried}<div class="tour-foot"><div class="tour-asked">{asked}</div><div class="tour-buttons">'
        '<button type="button" class="tour-lose">Make it lose</button>'
        '<button type="button" class="tour-again">Replay</button>'
        '<button type="button" class="tour-back">Back</button>'
        '<button type="button" class="tour-next" autofocus>Next</button></div></div>'
        f'<p class="tour-keys">{KEYS}</p></dialog></div>'
    )


def script() -> str:
    """What gr.HTML runs when the tour is loaded: the stage, the races of the acts, and what shows them."""
    logs = json.dumps([log_of(act.traces, act.title) for act in ACTS])
    others = json.dumps([[log_of(lanes, act.title) for lanes in act.others] for act in ACTS])
    start = f"CascadeTour.start(element.querySelector('.tour'), {logs}, {others});\n"
    return bundle.stage_script() + bundle.join_modules(MODULES, "index", "CascadeTour") + start


def _told(number: int, act: Act, before: Act | None) -> str:
    recipe = " data-recipe" if act.recipe else ""
    talk = " data-talk" if act.talk else ""
    drafting = ",".join(map(str, act.drafting))
    # The picture of a review leaves out the text that the copier copies from; the act before may have told it.
    prompt = act.traces[0].header.text
    is_told = before is not None and before.traces[0].header.text == prompt
    source = f'<p class="tour-source">Prompt: {escape(prompt)}</p>' if act.show == "review" and not is_told else ""
    text = escape(act.text)
    if act.moved:
        own = escape(act.moved_to(act.traces[-1].header.settings["ks"][0], act.traces))
        text = text.replace(own, f'<span class="tour-moved">{own}</span>')
    return (
        f'<section hidden data-show="{act.show}" data-lanes="{len(act.lanes)}" data-step="{act.step}" '
        f'data-drafting="{drafting}"{recipe}{talk}>'
        f'<h2 id="tour-title-{number}">{escape(act.title)}</h2><p class="tour-text">{text}</p>'
        f'<p class="tour-claim">{escape(act.claim)}</p>{spoken(act.say, act.until)}'
        f'{source}<p class="tour-count"></p></section>'
    )


def _tried(act: Act) -> str:
    """What the reader can try on the picture of the act, if anything."""
    if act.boundaries:
        return _boundaries(act)
    if act.wrong:
        trace = act.traces[-1]
        return guesses_html(trace, trace.steps[act.step - 1].review, act.wrong, act.asked)
    if act.costs:
        return costs_html(_traces(act.race))
    return blocks_html(act.traces[-1]) if act.blocks else NOTHING_TO_TRY


def _boundaries(act: Act) -> str:
    own = act.traces[-1].header.settings

    def marks(count: int, lanes: tuple[Trace, ...]) -> str:
        begins = " data-begins" if lanes[-1].header.settings == own else ""
        return begins + (" data-asked" if count == act.asked else "")

    buttons = "".join(
        f'<button type="button" data-told="{escape(act.moved_to(count, lanes))}"{marks(count, lanes)}>{count}</button>'
        for count, lanes in act.choices_of_boundary
    )
    return (
        '<div class="tour-tried tour-boundaries" role="group" aria-label="Positions of the small model" hidden>'
        "<b>Move the boundary.</b><span> The small model writes the first </span>"
        f"{buttons}<span> positions.</span></div>"
    )


def _asked(act: Act) -> str:
    choices = "".join(
        f'<button type="button"{" data-right" if i == act.right else ""}><kbd>{i + 1}</kbd> '
        f"<span>{escape(choice)}</span></button>"
        for i, choice in enumerate(act.choices)
    )
    return (
        f'<div class="tour-question" hidden><div class="tour-ask"><p>{escape(act.question)}</p>'
        f'<div class="tour-choices">{choices}</div></div>'
        f'<p class="tour-answer" role="status" data-answer="{escape(act.answer)}"></p></div>'
    )
