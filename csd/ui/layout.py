"""The page: components and their wiring. The only file that imports gradio."""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from csd.analysis import metrics
from csd.models import catalog
from csd.run import RULES, Ended, Moved, Opened
from csd.trace import Trace
from csd.ui import figures, form, stage
from csd.ui.studio import Batch, Choice, Finished, Past, Refused, Shelf, Studio, Waiting

ASSETS = Path(__file__).resolve().parents[2] / "assets"
CSS = stage.CSS + (ASSETS / "page.css").read_text(encoding="utf-8")
TITLE = "Cascade Speculative Drafting"
CUSTOM = "custom…"
DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("auto", *catalog.BYTES)
DEVICE = {"concurrency_id": "device", "concurrency_limit": 1}  # everything that touches the device
FILES = 50  # trace files kept for download; Gradio serves its own copies
PRIVATE = {"api_visibility": "private"}
PLAIN = {**PRIVATE, "queue": False, "show_progress": "hidden"}  # touches no device and waits for nobody
TINY = (
    "These models are tiny, trained for this demo: good at their own kinds of text (stories, word problems, edits, "
    "lists, code in their manner) and at nothing else."
)
# Cancelling would cost a race that has begun its last words, so only one that has not begun is cancelled.
WITHDRAW = (
    """(status) => { if (status.includes('data-state="withdrawn"')) document.getElementById("withdraw").click(); }"""
)
UNFOLD = """() => {
    const open = document.getElementById("advanced").toggleAttribute("data-open");
    document.getElementById("more").setAttribute("aria-expanded", open);
}"""
FIGURES = (figures.speedup, figures.acceptance_by_level, figures.acceptance_by_position, figures.time_per_level)


def build(studio: Studio) -> gr.Blocks:
    """The page over a studio. Theme and CSS belong to launch(), see `launch_settings`."""
    home = studio.home
    names = [spec.name for spec in catalog.READY] + [CUSTOM]
    drafts = _drafts(home)
    preset = form.presets(drafts)[0]
    first = next(iter(_examples().values()))[0]
    folder = tempfile.TemporaryDirectory(prefix="csd-")  # goes with the page

    with gr.Blocks(title=TITLE, fill_width=True, analytics_enabled=False, delete_cache=(3600, 7200)) as page:
        with gr.Row(elem_id="top"):
            gr.HTML(f"<h1>{TITLE}</h1>", elem_id="title", min_width=320)
            about = gr.HTML(_about(home), elem_id="about", scale=2, min_width=320)
            shelf = gr.HTML(_shelf(studio.shelf(home)), elem_id="shelf", min_width=320)
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
        with gr.Row(elem_id="go"):
            race = gr.Button("Race", variant="primary", min_width=110, scale=0, elem_id="race")
            stop = gr.Button("Stop", variant="stop", min_width=90, scale=0, elem_id="stop")
            family = gr.Dropdown(names, value=home.spec.name, label="Family", scale=2, min_width=150, elem_id="family")
            chosen = gr.Dropdown(
                [p.name for p in form.presets(drafts)],
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
                list(form.LANES), value=list(form.DEFAULT_LANES), label="Lanes, 2 to 4", elem_id="lanes"
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
                lookup = gr.Number(8, label="Prompt lookup: k", precision=0, min_width=90)
                K = gr.Textbox(form.matrix_text(preset.K), label="Cascade: K, cumulative", min_width=260, elem_id="K")
                lenience = gr.Number(1.0, label="Lenience of inner reviews", step=0.5, min_width=90)
            with gr.Row():
                rule = gr.Dropdown(list(RULES), value="coupled", label="Rule above temperature 0", min_width=150)
                top_k = gr.Number(0, label="Top-k, 0: all", precision=0, min_width=90)
                top_p = gr.Number(1.0, label="Top-p, 1: all", step=0.05, min_width=90)
                dtype = gr.Dropdown(list(DTYPES), value=home.dtype, label="Numbers (dtype)", min_width=110)
                device = gr.Dropdown(
                    list(dict.fromkeys((home.device, *DEVICES))), value=home.device, label="Device", min_width=100
                )
            with gr.Row(equal_height=True):
                target = gr.Textbox(
                    label="Custom target: Hub id or folder, id@revision for a revision",
                    min_width=300,
                    max_lines=1,
                    elem_id="target",
                )
                others = gr.Textbox(
                    label="Custom drafts, strongest first, with commas", min_width=300, max_lines=1, elem_id="others"
                )
                load = gr.Button("Load this family", size="sm", min_width=140, scale=0)
            gr.Markdown(_table(), elem_id="families")
        status = gr.HTML(_status("Press Race, pick an example, or type a prompt of your own."), elem_id="status")
        show = gr.HTML(
            {"race": "", "log": ""},
            html_template=stage.HTML_TEMPLATE,
            js_on_load=stage.JS_ON_LOAD,
            apply_default_css=False,
            elem_id="stage",
        )
        with gr.Column(visible=False, elem_id="after") as after:
            with gr.Row(equal_height=True):
                earlier = gr.Dropdown([], label="Races of this visit", scale=4, elem_id="earlier")
                save = gr.DownloadButton("Traces as JSON", size="sm", scale=0, min_width=160, elem_id="save")
            with gr.Row():
                plots = [gr.Plot(show_label=False, min_width=420) for _ in FIGURES[:2]]
            with gr.Row():
                plots += [gr.Plot(show_label=False, min_width=420) for _ in FIGURES[2:]]
        withdraw = gr.Button("Leave the queue", visible="hidden", elem_id="withdraw")

        fields = [prompt, lanes, draft, k, lookup, K, lenience, temperature, top_k, top_p, seed, rule, max_new, always]
        which = [family, target, others, dtype, device]
        results = [after, *plots, earlier, save]

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
            choices = [(one.title, one.id) for one in reversed(races)]
            return {
                after: gr.Column(visible=True),
                **{plot: figure(past.traces) for plot, figure in zip(plots, FIGURES)},
                earlier: gr.Dropdown(choices, value=past.id),
                save: _saved(Path(folder.name), past),
            }

        def again(race_id: str | None, request: gr.Request) -> dict:
            """An earlier race of this visit, on the stage and in the figures."""
            past = studio.past(_visitor(request), race_id or "")
            if past is None:
                return {status: _status("That race is no longer kept. Race again.", "refused")}
            return {
                show: {"race": past.id, "log": stage.log_of(past.traces, past.id, _title(past.traces[0].header.text))},
                status: _status(_ending(past), "ended"),
                **{plot: figure(past.traces) for plot, figure in zip(plots, FIGURES)},
                save: _saved(Path(folder.name), past),
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
            options = form.presets(have)
            return {
                chosen: gr.Dropdown([option.name for option in options], value=options[0].name),
                draft: gr.Dropdown(list(have), value=options[0].draft),
                **dict(zip((k, K), (options[0].k, form.matrix_text(options[0].K)))),
            }

        def apply(name: str, *values: Any) -> tuple:
            options = form.presets(_drafts(choose(values)))
            option = next((option for option in options if option.name == name), options[0])
            return option.draft, option.k, form.matrix_text(option.K)

        def leave(request: gr.Request) -> None:
            studio.leave(_visitor(request))

        quiet = {**PRIVATE, "concurrency_limit": None, "show_progress": "hidden"}
        more.click(None, js=UNFOLD, **PRIVATE)
        page.load(follow, which, [shelf, about], **quiet)
        family.change(suit, which, [chosen, draft, k, K], **PLAIN).then(follow, which, [shelf, about], **quiet)
        others.blur(suit, which, [chosen, draft, k, K], **PLAIN)
        load.click(suit, which, [chosen, draft, k, K], **PLAIN).then(fetch, which, None, **PLAIN).then(
            follow, which, [shelf, about], **quiet
        )
        chosen.input(apply, [chosen, *which], [draft, k, K], **PLAIN)
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
        withdraw.click(None, cancels=[racing], **PRIVATE)
        earlier.input(again, [earlier], [show, status, *plots, save], **PLAIN)
        page.unload(leave)
        gr.api(_endpoint(studio), api_name="race", **DEVICE)
    return page


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
        "ssr_mode": False,
        "run_history": False,
        "enable_monitoring": False,
        "state_session_capacity": 200,
        "footer_links": ["api"],
    }


# ---- the API


def _endpoint(studio: Studio):
    home = studio.home
    default = form.presets(_drafts(home))[0]

    def race(
        prompt: str,
        methods: list[str] = form.DEFAULT_LANES,  # type: ignore[assignment]
        family: str = home.spec.name,
        draft: str = "",
        k: int = default.k,
        lookup: int = 8,
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

        methods: autoregressive, speculative, prompt lookup, cascade, "cascade, vertical only", "cascade, horizontal only".
        draft, k: of speculative. K: the cascade's, as text in the paper's cumulative form; empty: the family's preset.
        Returns {"summary": [...], "traces": [...]}, one entry per method.
        """
        try:
            choice = Choice(catalog.find(family), home.device, home.dtype)
            K = K or form.matrix_text(form.presets(_drafts(choice))[0].K)
            asked = form.Form(
                prompt, methods, draft, k, lookup, K, lenience, temperature, top_k, top_p, seed, rule, max_new, always
            )
            settings = form.settings(asked, _drafts(choice), least=1)
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
        settings = form.settings(form.Form(prompt, sorted(lanes, key=list(form.LANES).index), *knobs), _drafts(choice))
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
    return tuple(model.name for model in choice.spec.drafts)


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


def _line(event: Opened | Moved | Ended, race: str) -> str:
    if isinstance(event, Opened):
        return stage.opened(event, race, _title(event.headers[0].text))
    return stage.moved(event) if isinstance(event, Moved) else stage.ended(event)


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


def _saved(folder: Path, past: Past) -> str:
    """Writes the traces of a race for download, beside the latest others; returns the file's path."""
    for old in sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)[:-FILES]:
        old.unlink(missing_ok=True)
    path = folder / f"race-{past.id}.json"
    path.write_text(json.dumps({"traces": [trace.to_dict() for trace in past.traces]}), encoding="utf-8")
    return str(path)


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
