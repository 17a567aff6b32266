"""The page: components and their wiring. The only file that imports gradio."""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr

from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import check_K, format_K, from_budgets, parse_K, to_budgets
from csd.decoding.methods import METHODS, find_method
from csd.models import catalog
from csd.paths import ASSETS
from csd.plots import race as figures
from csd.record import metrics
from csd.record import recording as record
from csd.record.race import Race
from csd.record.recording import Recording
from csd.record.trace import Trace
from csd.request import form, link
from csd.request.defaults import Preset, defaults_for
from csd.request.request import RULES
from csd.run import LaneAdvanced, LaneFinished, RaceStarted
from csd.stage import bundle, export
from csd.stage import log as stage
from csd.theme import display_name
from csd.theory import figures as theory_figures
from csd.theory import what_if
from csd.theory.comparison import compare_with_theory
from csd.theory.prediction import CostModel
from csd.web import compare, tour
from csd.web.studio import Batch, Choice, Finished, Past, Refused, Shelf, Studio, Waiting
from csd.web.theory_view import ASSUMPTIONS, comparison_table

CSS = bundle.CSS + (ASSETS / "page.css").read_text(encoding="utf-8")
TITLE = "Cascade Speculative Drafting"
CUSTOM = "custom…"
RECORDED = "Recorded: "
DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("auto", *catalog.BYTES)
DEVICE = {"concurrency_id": "device", "concurrency_limit": 1}  # everything that touches the device
FILES = 100  # files kept for download; Gradio serves its own copies
PRIVATE = {"api_visibility": "private"}
PLAIN = {**PRIVATE, "queue": False, "show_progress": "hidden"}  # touches no device and waits for nobody
TINY = (
    "These models are tiny, trained for this demo: good at their own kinds of text (stories, word problems, edits, "
    "lists, code in their manner) and at nothing else."
)
# Functions of assets/page.js, loaded in the head of the page.
SCRIPT = f"<script>{(ASSETS / 'page.js').read_text(encoding='utf-8')}</script>"
WITHDRAW = "(status) => CascadePage.leaveQueue(status)"
MEASURE = "(status) => CascadePage.raceIfMeasuring(status)"
UNFOLD = "() => CascadePage.toggleAdvanced()"
COPY = "(query, omitted) => CascadePage.copyLink(query, omitted)"
PICTURES = "() => CascadePage.downloadFigures('FORMAT')"
SLOTS = len(what_if.pairs(("",) * what_if.MOST_DRAFTS))  # sliders of alpha
KEEP = "all levels"
FIGURES = (figures.speedup, figures.acceptance_by_level, figures.acceptance_by_position, figures.time_per_level)


def build(studio: Studio) -> gr.Blocks:
    """The page over a studio. Theme and CSS belong to launch(), see `launch_settings`."""
    home = studio.home
    names = [spec.name for spec in catalog.READY] + [CUSTOM]
    drafts = _drafts(home)
    options = _presets(home)
    preset = options[0]
    first = next(iter(_examples().values()))[0]
    folder = tempfile.TemporaryDirectory(prefix="csd-")  # goes with the page
    recorded = {past.id: past for past in (_recorded(*item) for item in record.bundled_recordings().items())}
    shown = next(iter(recorded.values()), None)

    with gr.Blocks(title=TITLE, fill_width=True, analytics_enabled=False, delete_cache=(3600, 7200)) as page:
        with gr.Row(elem_id="top"):
            gr.HTML(f"<h1>{TITLE}</h1>", elem_id="title", min_width=320)
            gr.HTML(html_template=tour.template(), js_on_load=tour.JS_ON_LOAD, apply_default_css=False, elem_id="tour")
            shelf = gr.HTML(_shelf(studio.shelf(home)), elem_id="shelf", min_width=320)
        with gr.Tabs(elem_id="tabs") as tabs, gr.Tab("Race", id="race"):
            with gr.Row(elem_id="ask", equal_height=True):
                prompt = gr.Textbox(
                    first["prompt"],
                    label="Prompt",
                    show_label=False,
                    container=False,
                    lines=3,
                    max_lines=3,
                    scale=3,
                    min_width=420,
                    elem_id="prompt",
                    placeholder="Prompt: a text for the models to continue",
                )
                with gr.Column(scale=2, min_width=260, elem_id="examples"):
                    kinds = {kind: gr.Button(kind, size="sm", min_width=90) for kind in _examples()}
                    with gr.Row(elem_id="replays", equal_height=True):
                        earlier = gr.Dropdown(
                            [(past.title, past.id) for past in recorded.values()],
                            value=shown.id if shown else None,
                            label="Races to replay",
                            show_label=False,
                            container=False,
                            min_width=160,
                            elem_id="earlier",
                        )
                        bring = gr.UploadButton(
                            "Open a file",
                            file_types=[".json", ".gz"],
                            type="binary",
                            size="sm",
                            min_width=90,
                            scale=0,
                            elem_id="bring",
                        )
                        copy = gr.Button("Copy link", size="sm", min_width=90, scale=0, elem_id="copy")
            with gr.Row(elem_id="go"):
                race = gr.Button("Race", variant="primary", min_width=110, scale=0, elem_id="race")
                stop = gr.Button("Stop", variant="stop", min_width=90, scale=0, elem_id="stop")
                family = gr.Dropdown(
                    names, value=home.spec.name, label="Family", scale=2, min_width=150, elem_id="family"
                )
                chosen = gr.Dropdown(
                    [option.name for option in options],
                    value=preset.name,
                    label="Preset",
                    scale=2,
                    min_width=230,
                    elem_id="preset",
                )
                max_new = gr.Number(first["max_new"], label="New tokens", precision=0, min_width=100, elem_id="max-new")
                temperature = gr.Number(
                    first["temperature"], label="Temperature", step=0.1, min_width=100, elem_id="temperature"
                )
                seed = gr.Number(first["seed"], label="Seed", precision=0, min_width=90, elem_id="seed")
                always = gr.Checkbox(False, label="Always N tokens", min_width=140, elem_id="always", container=True)
                more = gr.Button("Advanced", min_width=110, scale=0, elem_id="more")
            with gr.Column(elem_id="advanced"):  # hidden until asked for; an accordion would cost a line of the stage
                lanes = gr.CheckboxGroup(
                    list(METHODS), value=list(preset.lanes), label="Lanes, 2 to 4", elem_id="lanes"
                )
                with gr.Row():
                    # Custom values: Gradio would break off a race that was pressed just before the choices changed.
                    draft = gr.Dropdown(
                        list(drafts),
                        value=preset.draft,
                        label="Speculative: draft",
                        min_width=130,
                        elem_id="draft",
                        allow_custom_value=True,
                    )
                    k = gr.Number(preset.k, label="Speculative: k", precision=0, min_width=90, elem_id="k")
                    lookup = gr.Number(preset.lookup, label="Prompt lookup: k", precision=0, min_width=90)
                    K = gr.Textbox(format_K(preset.K), label="Cascade: K, cumulative", min_width=260, elem_id="K")
                    lenience = gr.Number(preset.lenience, label="Lenience of inner reviews", step=0.5, min_width=90)
                with gr.Row():
                    rule = gr.Dropdown(list(RULES), value="coupled", label="Rule above temperature 0", min_width=150)
                    top_k = gr.Number(0, label="Top-k, 0: all", precision=0, min_width=90)
                    top_p = gr.Number(1.0, label="Top-p, 1: all", step=0.05, min_width=90)
                    dtype = gr.Dropdown(list(DTYPES), value=home.dtype, label="Numbers (dtype)", min_width=110)
                    device = gr.Dropdown(_devices(home), value=home.device, label="Device", min_width=100)
                with gr.Row(equal_height=True):
                    target = gr.Textbox(
                        label="Custom target: Hub id or folder, id@revision for a revision",
                        min_width=300,
                        max_lines=1,
                        elem_id="target",
                    )
                    others = gr.Textbox(
                        label="Custom drafts, strongest first, with commas",
                        min_width=300,
                        max_lines=1,
                        elem_id="others",
                    )
                    load = gr.Button("Load this family", size="sm", min_width=140, scale=0)
                gr.Markdown(_table(), elem_id="families")
            with gr.Row(elem_id="lines"):
                status = gr.HTML(
                    _status("Press Race, pick an example, or type a prompt of your own."), elem_id="status"
                )
                about = gr.HTML(_about(home), elem_id="about", min_width=320)
            show = gr.HTML(
                {"race": shown.id, "log": _replay(shown, play=True)} if shown else {"race": "", "log": ""},
                html_template=bundle.HTML_TEMPLATE,
                js_on_load=bundle.gradio_script(),
                apply_default_css=False,
                elem_id="stage",
            )
            with gr.Row(elem_id="downloads"):
                files = _saved(Path(folder.name), shown) if shown else (None, None)
                save = gr.DownloadButton("Traces as JSON", files[0], size="sm", scale=0, min_width=160, elem_id="save")
                replay = gr.DownloadButton(
                    "Replay as HTML", files[1], size="sm", scale=0, min_width=160, elem_id="replay"
                )
            with gr.Column(visible=False, elem_id="after") as after:
                with gr.Row():
                    plots = [gr.Plot(show_label=False, min_width=420) for _ in FIGURES[:2]]
                with gr.Row():
                    plots += [gr.Plot(show_label=False, min_width=420) for _ in FIGURES[2:]]
                beside = gr.HTML(elem_id="beside")
                predicted = gr.Plot(show_label=False, min_width=420)
                with gr.Row():
                    pictures = {
                        kind: gr.Button(f"Figures as {kind.upper()}", size="sm", scale=0, min_width=160, elem_id=kind)
                        for kind in ("png", "svg")
                    }
        with tabs:
            guessing = _theory_tab(drafts, preset)
            comparing = _compare_tab(preset)
        withdraw = gr.Button("Leave the queue", visible="hidden", elem_id="withdraw")
        query = gr.Textbox(visible="hidden", elem_id="query")
        left = gr.Textbox(visible="hidden")

        fields = [prompt, lanes, draft, k, lookup, K, lenience, temperature, top_k, top_p, seed, rule, max_new, always]
        which = [family, target, others, dtype, device]
        results = [after, *plots, beside, predicted, *guessing.knobs, earlier, save, replay]
        linked = dict(zip((*link.NAMES, *link.FAMILY), (*fields, *which)))
        own = {name: field.value for name, field in linked.items()}

        def choose(values: tuple[Any, ...]) -> Choice:
            return _choice(home, *values)

        def standing(asked: tuple[Any, ...]) -> dict:
            """The lines on the chosen family."""
            try:
                choice = choose(asked)
            except ValueError as error:
                return {shelf: _shelf(Shelf("failed", str(error)))}
            return {shelf: _shelf(studio.shelf(choice)), about: _about(choice, studio.shelf(choice))}

        def run(request: gr.Request, *values: Any) -> Iterator[dict]:
            """One race of this visitor, 10 times a second: status, family and stage; the figures once, at the end."""
            race_id, log = "", ""
            visitor, asked = _visitor(request), values[len(fields) :]
            for news in _news(studio, visitor, values[: len(fields)], asked):
                if isinstance(news, Waiting):
                    yield {status: _status(news.sentence), **standing(asked)}
                elif isinstance(news, Refused):
                    yield {status: _status(news.sentence, "refused"), **standing(asked)}
                elif isinstance(news, Batch):
                    log += "".join(_line(event, news.id) for event in news.events)
                    first = not race_id and log
                    race_id = news.id if log else ""
                    begun = {**standing(asked), status: _status("Racing.")} if first else {}
                    yield {show: {"race": news.id, "log": log}, **begun} if log else {status: gr.skip()}
                else:
                    log += stage.closed(news.past.traces)
                    yield {
                        show: {"race": news.past.id, "log": log},
                        status: _status(_ending(news.past), "ended"),
                        **_results(news.past, studio.visit(visitor).races),
                    }

        def _results(past: Past, races: Any) -> dict:
            choices = [(one.title, one.id) for one in (*reversed(races), *recorded.values())]
            return {
                after: gr.Column(visible=True),
                **{plot: figure(Race(past.traces)) for plot, figure in zip(plots, FIGURES)},
                **_theory(past, races),
                earlier: gr.Dropdown(choices, value=past.id),
                **dict(zip((save, replay), _saved(Path(folder.name), past))),
            }

        def _theory(past: Past, races: Any) -> dict:
            """What the paper predicts for this race, and the what-if knobs where the race left them."""
            lanes = compare_with_theory(Race(past.traces), [Race(one.traces) for one in races if one.id != past.id])
            return {
                beside: comparison_table(lanes),
                predicted: theory_figures.prediction(lanes),
                **dict(zip(guessing.knobs, _knobs_after(past.traces))),
            }

        def compete(request: gr.Request, what: str, n: Any, one: str, other: str, *values: Any) -> Iterator[dict]:
            """Races of this visitor one after another; the table grows with each, and stays where it is stopped."""
            visitor, done, asked = _visitor(request), [], values[: len(fields)]
            try:
                choice = choose(values[len(fields) :])
                heats = _heats(choice, asked, what, n, one, other)
            except ValueError as error:
                yield {comparing.status: _status(str(error), "refused")}
                return
            for place, heat in enumerate(heats, 1):
                said = f"Race {place} of {len(heats)}: {heat.label}."
                yield {comparing.status: _status(said)}
                for news in studio.race(visitor, choice, heat.settings):
                    if isinstance(news, (Waiting, Refused)):
                        yield {comparing.status: _status(news.sentence, "refused" * isinstance(news, Refused))}
                    elif isinstance(news, Batch):
                        yield {comparing.status: _status(said)}
                if isinstance(news, Refused):
                    return
                done.append((heat.label, news.past.traces))
                yield {
                    comparing.table: compare.rows(done),
                    comparing.save: gr.DownloadButton(value=_written(Path(folder.name), done)),
                }
                if news.past.stopped:
                    yield {comparing.status: _status(f"Stopped in race {place} of {len(heats)}. What was raced stays.")}
                    return
            yield {comparing.status: _status(f"Done: {len(heats)} races.", "ended")}

        def _again(past: Past, visitor: str) -> dict:
            return {
                show: {"race": past.id, "log": _replay(past, play=bool(past.label))},
                status: _status(_ending(past), "ended"),
                **_results(past, studio.visit(visitor).races),
            }

        def again(race_id: str | None, request: gr.Request) -> dict:
            """An earlier race of this visit, or a recorded one, on the stage and in the figures."""
            visitor = _visitor(request)
            past = recorded.get(race_id or "") or studio.past(visitor, race_id or "")
            if past is None:
                return {status: _status("That race is no longer kept. Race again.", "refused")}
            return _again(past, visitor)

        def opened(data: bytes | None, request: gr.Request) -> dict:
            """A race from a file that the visitor brings."""
            try:
                past = _brought(Recording.from_bytes(data or b""))
            except ValueError as error:
                return {status: _status(str(error), "refused")}
            studio.keep(_visitor(request), past)
            return _again(past, _visitor(request))

        def standard(choice: Choice) -> dict[str, Any]:
            """What the fields hold by themselves with this family."""
            return {**own, **_presets(choice)[0].fields()}

        def written(*values: Any) -> tuple[str, str]:
            """The form as a query, and what it leaves out."""
            try:
                usual = standard(choose(values[len(fields) :]))
            except ValueError:
                usual = own
            return link.to_query(dict(zip(linked, values)), usual)

        def arrive(request: gr.Request) -> dict:
            """Fills the form as the page's address says; nothing runs by itself."""
            options = {"family": names, "dtype": DTYPES, "device": _devices(home), "rule": RULES, "lanes": METHODS}
            found, faults = link.from_query(dict(request.query_params), own, options)
            if not found and not faults:
                return {status: gr.skip()}
            models = {name: value for name, value in found.items() if name in link.FAMILY}
            try:
                choice = choose(tuple({**own, **models}[name] for name in link.FAMILY))
            except ValueError as error:
                choice, models = home, {}
                faults.append(f"The link's models were left out. {error}")
            usual, have, presets = standard(choice), _drafts(choice), _presets(choice)
            knobs = {name: value for name, value in found.items() if name not in link.FAMILY}
            kept, more_faults = link.check_values(knobs, defaults_for(choice.spec, choice.device))
            values = {**usual, **models, **kept}
            same = (one.name for one in presets if one.fields().items() <= values.items())
            sentence = "The link filled the form. Press Race." if models or kept else ""
            return {
                **{linked[name]: value for name, value in values.items()},
                draft: gr.Dropdown(list(have), value=values["draft"]),
                chosen: gr.Dropdown([one.name for one in presets], value=next(same, presets[0].name)),
                status: _status(" ".join(filter(None, (sentence, *faults, *more_faults)))),
            }

        def halt(request: gr.Request) -> str:
            """Stops the visitor's own run; one that has not begun leaves the queue, see WITHDRAW."""
            if studio.stop(_visitor(request)):
                return _status("Stopping.")
            return _status("Stopped. Nothing of yours runs or waits.", "withdrawn")

        async def follow(*values: Any) -> AsyncIterator[tuple[str, str]]:
            """What the chosen family is doing, until it is ready or has failed; loads nothing by itself."""
            studio.seen.set()
            try:
                choice = choose(values)
            except ValueError as error:
                yield _shelf(Shelf("failed", str(error))), ""
                return
            while True:
                now = studio.shelf(choice)
                yield _shelf(now), _about(choice, now)
                if now.settled or (now.state == "waiting" and choice != home):
                    return
                await asyncio.sleep(0.25)

        def fetch(*values: Any) -> None:
            try:
                studio.want(choose(values))
            except ValueError:
                pass  # `follow` says why

        def suit(*values: Any) -> dict:
            """Presets, drafts and K that suit the chosen family."""
            try:
                have = _drafts(choose(values))
            except ValueError:  # a custom family that is not filled in yet
                return {chosen: gr.skip()}
            options = _presets(choose(values))
            return {
                chosen: gr.Dropdown([option.name for option in options], value=options[0].name),
                **_preset_fields(options[0]),
                draft: gr.Dropdown(list(have), value=options[0].draft),
            }

        def _preset_fields(preset: Preset) -> dict:
            return {linked[name]: value for name, value in preset.fields().items()}

        def apply(name: str, *values: Any) -> dict:
            choice = choose(values)
            return _preset_fields(defaults_for(choice.spec, choice.device).find_preset(name))

        def by_K(text: str, name: str, lanes: list[str], *values: Any) -> Any:
            """Whoever changes K gets the cascade that follows it, in place of the adaptive one."""
            try:
                own = next((one.K for one in _presets(choose(values)) if one.name == name), ())
            except ValueError:  # a custom family that is not filled in yet
                return gr.skip()
            if text == format_K(own) or any("K" in find_method(lane).uses for lane in lanes):
                return gr.skip()
            return ["cascade" if lane == "adaptive cascade" else lane for lane in lanes]

        def leave(request: gr.Request) -> None:
            studio.leave(_visitor(request))

        quiet = {**PRIVATE, "concurrency_limit": None, "show_progress": "hidden"}
        more.click(None, js=UNFOLD, **PRIVATE)
        page.load(arrive, None, [*linked.values(), chosen, status], **PLAIN).then(
            follow, which, [shelf, about], **quiet
        )
        family.input(suit, which, [chosen, draft, k, lookup, K, lenience, lanes], **PLAIN).then(
            follow, which, [shelf, about], **quiet
        )
        others.blur(suit, which, [chosen, draft, k, lookup, K, lenience, lanes], **PLAIN)
        load.click(suit, which, [chosen, draft, k, lookup, K, lenience, lanes], **PLAIN).then(
            fetch, which, None, **PLAIN
        ).then(follow, which, [shelf, about], **quiet)
        chosen.input(apply, [chosen, *which], [draft, k, lookup, K, lenience, lanes], **PLAIN)
        # A paste is no input, but the field is left some time.
        gr.on([K.input, K.blur], by_K, [K, chosen, lanes, *which], [lanes], trigger_mode="always_last", **PLAIN)
        for kind, button in kinds.items():
            button.click(
                partial(_next, kind),
                [prompt],
                [prompt, temperature, seed, max_new, status],
                trigger_mode="multiple",
                **PLAIN,
            )
        racing = gr.on(
            [race.click, prompt.submit],
            run,
            [*fields, *which],
            [status, shelf, about, show, *results],
            trigger_mode="once",
            show_progress_on=[status],
            **PRIVATE,
            **DEVICE,
        )
        stop.click(halt, None, [status], trigger_mode="multiple", **PLAIN).then(None, [status], js=WITHDRAW, **PRIVATE)
        competing = comparing.go.click(
            compete,
            [comparing.what, comparing.repeats, comparing.one, comparing.other, *fields, *which],
            [comparing.status, comparing.table, comparing.save],
            trigger_mode="once",
            show_progress="hidden",
            **PRIVATE,
            **DEVICE,
        )
        comparing.stop.click(halt, None, [comparing.status], trigger_mode="multiple", **PLAIN).then(
            None, [comparing.status], js=WITHDRAW, **PRIVATE
        )
        guessing.measure.click(
            _measured, [guessing.asked, *guessing.wanted], [draft, k, K, lanes, tabs, guessing.words], **PLAIN
        ).then(None, [guessing.words], js=MEASURE, **PRIVATE)
        withdraw.click(None, cancels=[racing, competing], **PRIVATE)
        earlier.input(again, [earlier], [show, status, *results], **PLAIN)
        bring.upload(opened, [bring], [show, status, *results], **PLAIN)
        copy.click(written, list(linked.values()), [query, left], **PLAIN).then(
            None, [query, left], [status], js=COPY, **PRIVATE
        )
        for kind, button in pictures.items():
            button.click(None, js=PICTURES.replace("FORMAT", kind), **PRIVATE)
        page.unload(leave)
        gr.api(_endpoint(studio), api_name="race", **DEVICE)
    return page


# ---- the other tabs


def _theory_tab(drafts: tuple[str, ...], preset: Preset) -> SimpleNamespace:
    """The paper's curves and the what-if panel; needs no model. `knobs` are set after each race, see _knobs_after."""
    with gr.Tab("Theory", id="theory", elem_id="theory") as tab:
        asked = gr.State(drafts)
        gr.HTML("<h2>What if? The speed-up that the paper's model predicts</h2>")
        with gr.Row():
            with gr.Column(scale=3, min_width=420):
                plot = gr.Plot(show_label=False)
                words = gr.HTML(_status(""), elem_id="what-if-words")
                measure = gr.Button("Measure it: race with this k and K", variant="primary", elem_id="measure")
            with gr.Column(scale=2, min_width=420):
                with gr.Row():
                    draft = gr.Dropdown(
                        list(drafts),
                        value=preset.draft,
                        label="Speculative: draft",
                        min_width=120,
                        allow_custom_value=True,
                    )
                    k = gr.Number(preset.k, label="Speculative: k", precision=0, min_width=100, elem_id="what-if-k")
                    K = gr.Textbox(
                        format_K(preset.K), label="Cascade: K, cumulative", min_width=200, elem_id="what-if-K"
                    )
                drop = gr.Radio(_drops(drafts), value=KEEP, label="Levels of the cascade", elem_id="what-if-drop")
                with gr.Row(elem_id="what-if-sliders"):
                    sliders = _sliders(drafts, CostModel())
                    width = gr.Slider(0, 0.2, step=0.001, value=0, label="c of a reviewed token", min_width=180)
        gr.HTML("<h2>The paper's curves</h2>")
        with gr.Row():
            c = gr.Slider(0.01, 1, value=0.2, step=0.01, label="c of the draft", min_width=200)
            copies = gr.Slider(0, 0.95, value=0.5, step=0.05, label="Copied tokens that are right", min_width=200)
        with gr.Row():
            curves = [gr.Plot(show_label=False, min_width=420) for _ in range(2)]
        with gr.Row():
            curves.append(gr.Plot(show_label=False, min_width=420))
            gr.HTML(ASSUMPTIONS, elem_id="laws", min_width=420)
        with gr.Accordion("Words", open=False):
            gr.HTML(tour.glossary_html())
        wanted = [draft, k, K, drop]
        every = [asked, *wanted, width, *sliders]
        gr.on(
            [tab.select, K.change, *(knob.input for knob in every[1:] if knob is not K)],  # a paste is no input
            _guess,
            every,
            [plot, words],
            trigger_mode="always_last",
            **PLAIN,
        )
        gr.on([tab.select, c.input, copies.input], _curves, [c, copies], curves, trigger_mode="always_last", **PLAIN)
    knobs = [asked, *wanted, width, *sliders]
    return SimpleNamespace(asked=asked, wanted=wanted, knobs=knobs, words=words, measure=measure)


def _sliders(drafts: tuple[str, ...], model: CostModel) -> list[gr.Slider]:
    """alpha of every pair, then c of every draft; as many as two drafts need, those of a smaller family hidden."""
    values = what_if.SliderValues.of_model(drafts, model)
    pairs = [f"α {reviewer} ← {display_name(drafter)}" for reviewer, drafter in what_if.pairs(drafts)]
    costs = [f"c {name}" for name in drafts]
    rows = [(1, *row) for row in zip(pairs, values.alphas)] + [(0, "", 0.5)] * (SLOTS - len(pairs))
    rows += [(2, *row) for row in zip(costs, values.costs)] + [(0, "", 0.5)] * (what_if.MOST_DRAFTS - len(costs))
    return [
        gr.Slider(
            0,
            1 if kind < 2 else max(1, 2 * value),
            value=value,
            step=0.001,
            label=label,
            visible=bool(kind),
            min_width=180,
        )
        for kind, label, value in rows[: SLOTS + what_if.MOST_DRAFTS]
    ]


def _drops(drafts: tuple[str, ...]) -> list[str]:
    return [KEEP, *(f"without {name}" for name in (*drafts, "Max-Gram"))]


def _knobs_after(traces: tuple[Trace, ...]) -> list:
    """The what-if knobs as a race leaves them: its drafts, k and K, and what it measured."""
    found = what_if.settings_of_race(Race(traces))
    drafts, K = found.drafts, found.K
    if not 0 < len(drafts) <= what_if.MOST_DRAFTS:
        return [drafts, *[gr.skip()] * (5 + SLOTS + what_if.MOST_DRAFTS)]
    return [
        drafts,
        gr.Dropdown(list(drafts), value=found.draft),
        found.k or gr.skip(),
        format_K(K) if K else gr.skip(),
        gr.Radio(_drops(drafts), value=KEEP),
        what_if.SliderValues.of_model(drafts, found.model).per_reviewed_token,
        *_sliders(drafts, found.model),
    ]


def _wanted(drafts: tuple[str, ...], K: str, drop: str) -> Any:
    """The what-if panel's K without the level that is dropped. Raises Refusal."""
    if not 0 < len(drafts) <= what_if.MOST_DRAFTS:
        raise Refusal(f"This panel takes families with one or two drafts; this one has {len(drafts)}.")
    checked = check_K(parse_K(K), len(drafts))
    options = _drops(drafts)
    return (
        checked
        if drop not in options[1:]
        else check_K(from_budgets(what_if.without_level(to_budgets(checked), options.index(drop) - 1)), len(drafts))
    )


def _guess(drafts: Any, draft: str, k: Any, K: str, drop: str, width: float, *knobs: float) -> tuple:
    """The what-if curves and a sentence; a K that cannot be leaves the figure and says why."""
    try:
        fixed = _wanted(tuple(drafts), K, drop)
        if not isinstance(k, (int, float)) or k != int(k):
            raise Refusal("k is empty or no whole number. Write one there.")
        n = len(drafts)
        values = what_if.SliderValues(knobs[: len(what_if.pairs(drafts))], knobs[SLOTS : SLOTS + n], width)
        curves = what_if.predict_curves(tuple(drafts), draft, int(k), fixed, values.to_model(drafts))
    except ValueError as error:
        return gr.skip(), _status(str(error), "refused")
    return theory_figures.what_if(curves), _status(what_if.describe_curves(curves))


def _curves(c: float, copies: float) -> tuple:
    return (
        theory_figures.speedup_over_k(c),
        theory_figures.speedup_over_alpha(),
        theory_figures.cascades_over_alpha(c, copies),
    )


def _measured(drafts: Any, draft: str, k: Any, K: str, drop: str) -> tuple:
    """Puts the what-if panel's k and K into the form; MEASURE then presses Race."""
    try:
        fixed = _wanted(tuple(drafts), K, drop)
    except ValueError as error:
        return *[gr.skip()] * 5, _status(str(error), "refused")
    told = _status("The race with these numbers runs in the Race tab.", "measuring")
    return draft, k, format_K(fixed), ["autoregressive", "speculative", "cascade"], gr.Tabs(selected="race"), told


def _compare_tab(preset: Preset) -> SimpleNamespace:
    with gr.Tab("Compare", id="compare", elem_id="compare-tab"):
        gr.HTML(
            "<p>Several races, one after another, in one table. Model, lanes and all else are those of the Race tab.</p>"
        )
        with gr.Row(elem_id="compare-go"):
            go = gr.Button("Compare", variant="primary", min_width=110, scale=0, elem_id="compare")
            stop = gr.Button("Stop", variant="stop", min_width=90, scale=0, elem_id="compare-stop")
            what = gr.Radio(
                [compare.KINDS, compare.PAIR], value=compare.KINDS, label="Compare", scale=3, elem_id="compare-what"
            )
            repeats = gr.Slider(
                1, compare.REPEATS, value=1, step=1, label="Repeats", min_width=160, elem_id="compare-repeats"
            )
        with gr.Row(visible=False) as two:
            one = gr.Textbox(format_K(preset.K), label="First cascade: K, cumulative", elem_id="compare-one")
            other = gr.Textbox("", label="Second cascade: K, cumulative", elem_id="compare-other")
        status = gr.HTML(_status("Press Compare."), elem_id="compare-status")
        table = gr.Dataframe(
            headers=list(compare.COLUMNS),
            datatype=list(compare.TYPES),
            column_count=len(compare.COLUMNS),
            column_widths=compare.WIDTHS,
            type="array",
            interactive=False,
            label="Medians over the repeats; slowest, fastest, lowest and highest are the extremes",
            wrap=True,
            elem_id="comparison",
        )
        save = gr.DownloadButton("Table as CSV", size="sm", scale=0, min_width=160, elem_id="compare-save")
        what.input(lambda chosen: gr.Row(visible=chosen == compare.PAIR), [what], [two], **PLAIN)
    return SimpleNamespace(
        go=go, stop=stop, what=what, repeats=repeats, one=one, other=other, status=status, table=table, save=save
    )


def _heats(choice: Choice, values: tuple, what: str, n: Any, one: str, other: str) -> tuple[compare.Heat, ...]:
    """The races of a comparison. Raises ValueError with a sentence."""
    prompt, lanes, *knobs = values
    asked, defaults = form.Form(prompt, form.in_order(lanes), *knobs), defaults_for(choice.spec, choice.device)

    def settings(asked: form.Form) -> Any:
        return form.to_request(asked, defaults)

    if what == compare.KINDS:
        return compare.kinds(settings(asked), _examples(), n)
    first, second = (settings(replace(asked, lanes=("autoregressive", "cascade"), K=K)) for K in (one, other))
    return compare.pair(first, second, compare.label_of(prompt), n)


def _written(folder: Path, done: list) -> str:
    """The comparison's table as a file for download; returns its path."""
    path = folder / f"comparison-{uuid.uuid4().hex[:8]}.csv"
    path.write_text(compare.csv_text(compare.rows(done)), encoding="utf-8")
    return str(path)


def launch_settings() -> dict[str, Any]:
    """What Gradio 6 wants at launch rather than in the page. Fonts are the system's: nothing is fetched."""
    theme = gr.themes.Default(
        spacing_size=gr.themes.sizes.spacing_sm,
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )
    compact = {"layout_gap": "6px", "block_padding": "4px 8px", "input_padding": "4px 8px", "block_label_margin": "0"}
    readable = {  # white text on these has at least 4.5:1
        "button_primary_background_fill": "#c2410c",
        "button_primary_background_fill_hover": "#9a3412",
        "button_primary_background_fill_dark": "#c2410c",
        "button_cancel_background_fill": "#b91c1c",
        "button_cancel_background_fill_hover": "#991b1b",
        "button_cancel_background_fill_dark": "#b91c1c",
    }
    return {
        "theme": theme.set(**compact, **readable),
        "css": CSS,
        "head": SCRIPT,
        "ssr_mode": False,
        "max_file_size": 2 * record.LARGEST,  # what is between gets a sentence
        "run_history": False,
        "enable_monitoring": False,
        "state_session_capacity": 200,
        "footer_links": ["api"],
    }


# ---- the API


def _endpoint(studio: Studio):
    home = studio.home
    default = _presets(home)[0]

    def race(
        prompt: str,
        methods: list[str] = list(default.lanes),  # noqa: B006
        family: str = home.spec.name,
        draft: str = "",
        k: int = default.k,
        lookup: int = default.lookup,
        K: str = "",
        lenience: float = 1.0,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        rule: str = "coupled",
        max_new: int = 128,
        always: bool = False,
        request: gr.Request = None,
    ) -> dict:
        """Race 1 to 4 methods on a prompt and return their traces.

        methods: autoregressive, speculative, prompt lookup, cascade, adaptive cascade, vertical cascade, horizontal
        cascade. draft, k: of speculative. K: the cascade's, as text in the paper's cumulative form; empty: the
        family's preset. Returns {"summary": [...], "traces": [...]}, one entry per method.
        """
        try:
            choice = Choice(catalog.find(family), home.device, home.dtype)
            asked = form.Form(
                prompt, methods, draft, k, lookup, K, lenience, temperature, top_k, top_p, seed, rule, max_new, always
            )
            settings = form.to_request(asked, defaults_for(choice.spec, choice.device), least=1)
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from error
        for news in studio.race(_visitor(request), choice, settings):
            if isinstance(news, Refused):
                raise gr.Error(news.sentence, print_exception=False)
        return {
            "summary": [_numbers(trace) for trace in news.past.traces],
            "traces": [t.to_dict() for t in news.past.traces],
        }

    return race


def _numbers(trace: Trace) -> dict[str, Any]:
    """One lane in a few numbers; None where there is nothing to count."""
    numbers = {
        "tokens_per_second": metrics.speed(trace),
        "tokens_per_second_with_prefill": metrics.speed_with_prefill(trace),
        "tokens_per_target_run": metrics.mat(trace),
        "repeated_8_grams": metrics.repeated(trace),
    }
    plain = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
    return {"method": trace.header.title, "tokens": len(trace.tokens), "end": trace.end, "text": trace.answer, **plain}


# ---- from the page's fields


def _news(studio: Studio, visitor: str, fields: tuple, which: tuple) -> Iterator[Waiting | Batch | Refused | Finished]:
    try:
        choice = _choice(studio.home, *which)
        prompt, lanes, *knobs = fields
        asked = form.Form(prompt, form.in_order(lanes), *knobs)
        settings = form.to_request(asked, defaults_for(choice.spec, choice.device))
    except ValueError as error:
        yield Refused(str(error))
        return
    yield from studio.race(visitor, choice, settings)


def _choice(home: Choice, family: str, target: str, others: str, dtype: str, device: str) -> Choice:
    """Raises catalog.FamilyError, a ValueError with a sentence."""
    if family != CUSTOM:
        return Choice(catalog.find(family), device, dtype)
    drafts = [part for part in (others or "").replace("\n", ",").split(",") if part.strip()]
    return Choice(catalog.custom(target or "", drafts, dtype), device, dtype)


def _drafts(choice: Choice) -> tuple[str, ...]:
    return choice.spec.draft_names


def _presets(choice: Choice) -> tuple[Preset, ...]:
    return defaults_for(choice.spec, choice.device).presets


def _devices(home: Choice) -> list[str]:
    return list(dict.fromkeys((home.device, *DEVICES)))


def _visitor(request: gr.Request | None) -> str:
    """Who asks: Gradio's session, or nobody twice."""
    return (request and request.session_hash) or uuid.uuid4().hex


def _examples() -> dict[str, list[dict[str, Any]]]:
    """Example prompts by kind, in the order of the file."""
    kinds: dict[str, list] = {}
    for example in json.loads((ASSETS / "prompts.json").read_text(encoding="utf-8")):
        kinds.setdefault(example["kind"], []).append(example)
    return kinds


def _next(kind: str, prompt: str | None) -> tuple[str, float, int, int, str]:
    """The example of this kind that follows the one in the prompt box, and a sentence that names it."""
    rows = _examples()[kind]
    place = (next((i for i, row in enumerate(rows) if row["prompt"] == prompt), -1) + 1) % len(rows)
    row = rows[place]
    sentence = f"Example {place + 1} of {len(rows)} of its kind: {row['title']}. The same button shows the next one."
    return row["prompt"], row["temperature"], row["seed"], row["max_new"], _status(sentence)


def _title(prompt: str) -> str:
    """The title of the example with this prompt; empty where it is none."""
    return next((row["title"] for rows in _examples().values() for row in rows if row["prompt"] == prompt), "")


# ---- what is shown


def _line(event: RaceStarted | LaneAdvanced | LaneFinished, race: str) -> str:
    if isinstance(event, RaceStarted):
        return stage.opened(event, race, _title(event.headers[0].text))
    return stage.moved(event) if isinstance(event, LaneAdvanced) else stage.ended(event)


def _status(sentence: str, state: str = "") -> str:
    return f'<p data-state="{state}">{escape(sentence)}</p>'


def _shelf(shelf: Shelf) -> str:
    return f'<p data-state="{shelf.state}"><i></i>family: {escape(shelf.sentence)}</p>'


def _about(choice: Choice, shelf: Shelf | None = None) -> str:
    """What the chosen models are, and what holds of them on this device."""
    notes = shelf.family.notes if shelf and shelf.family else ()
    about = TINY if choice.spec.name == "embedded" else choice.spec.about
    return f"<p>{escape(' '.join((about, *notes)))}</p>"


def _ending(past: Past) -> str:
    traces = past.traces
    counts = ", ".join(f"{trace.header.method} {len(trace.tokens)} tokens" for trace in traces)
    return " ".join((f"{'Stopped' if past.stopped else 'Done'}: {counts}.", *past.notes))


def _saved(folder: Path, past: Past) -> tuple[str, str]:
    """Writes a race for download, as JSON and as a page, beside the latest others; returns the files' paths."""
    for old in sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)[:-FILES]:
        old.unlink(missing_ok=True)
    title = past.title.removeprefix(RECORDED) if past.label else _title(past.traces[0].header.text)
    recording = Recording(past.traces, title, machine=past.machine, date=past.date)
    paths = folder / f"race-{past.id}.json", folder / f"race-{past.id}.html"
    paths[0].write_text(json.dumps(recording.to_dict()), encoding="utf-8")
    paths[1].write_text(export.page(recording), encoding="utf-8")
    return str(paths[0]), str(paths[1])


def _replay(past: Past, play: bool) -> str:
    """The log of a race that ended, under a line that says where it ran if that was not here."""
    log = stage.log_of(past.traces, past.id, _title(past.traces[0].header.text), play)
    return (stage.message(past.label) if past.label else "") + log


def _recorded(name: str, found: Recording) -> Past:
    """A race that comes with the project."""
    label = f"Recorded on {found.date}, on {found.machine}. {found.note}"
    title = f"{RECORDED}{found.kind}, {found.title}"
    return Past(f"recorded-{name}", title, found.traces, (), found.machine, found.date, label)


def _brought(found: Recording) -> Past:
    """A race out of a visitor's file."""
    title = found.title or export.title_of(found.traces[0].header.text)
    where = "".join(
        (f", recorded on {found.date}" if found.date else "", f", on {found.machine}" if found.machine else "")
    )
    label = f"Out of a file{where}. {found.note}".strip()
    return Past(uuid.uuid4().hex[:12], f"From a file: {title}", found.traces, (), found.machine, found.date, label)


def _table() -> str:
    """The ready families with sizes and the memory that they need."""
    rows = ["| family | target | drafts | memory, fp32 | memory, bf16 | |", "| --- | --- | --- | --- | --- | --- |"]
    for spec in catalog.READY:
        models = [f"{model.id.split('/')[-1]}, {_millions(model.parameters)}" for model in spec.models]
        needs = [catalog.memory_needed(spec, dtype) for dtype in ("float32", "bfloat16")]
        sizes = [catalog.size(need) if need else "?" for need in needs]
        rows.append(f"| {spec.name} | {models[0]} | {'; '.join(models[1:])} | {sizes[0]} | {sizes[1]} | {spec.about} |")
    return "\n".join(rows)


def _millions(parameters: int) -> str:
    return f"{parameters / 1e9:.1f} B" if parameters >= 1e9 else f"{parameters / 1e6:.1f} M"
