"""The command line: python -m csd race | bench | record | export | families | bigram. Imports torch only when models are needed."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from csd.bench.baselines import Baseline
    from csd.bench.plan import Plan
    from csd.bench.report import Report
    from csd.bench.timed_run import TimedRun
    from csd.models.catalog import FamilySpec
    from csd.models.family import Family
    from csd.run import Request

REFUSED, DIFFERS, INTERRUPTED = 2, 1, 130

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Cascade Speculative Drafting: race decoding methods on one prompt, with real models.",
)

FamilyName = Annotated[
    str, typer.Option("--family", metavar="NAME", help="A ready-made family; `families` lists them.")
]
Target = Annotated[str, typer.Option(metavar="ID", help="Use this Hub id or folder as the target instead of a family.")]
Drafts = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="A draft for --target. Repeat it, strongest first.")
]
Drafter = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The draft that speculative uses. Default: as tuned, else the strongest.",
        show_default=False,
    ),
]
DraftLength = Annotated[
    int | None,
    typer.Option(
        "--k", metavar="N", help="Tokens per draft of speculative. Default: as tuned, else 4.", show_default=False
    ),
]
CopyLength = Annotated[
    int | None,
    typer.Option(metavar="N", help="Tokens that prompt-lookup copies. Default: as tuned, else 8.", show_default=False),
]
CascadeK = Annotated[
    str,
    typer.Option(
        "--K",
        metavar="MATRIX",
        help="The cascade's K, cumulative, e.g. [[2,6,10],[0,4,8],[0,0,8]].",
        show_default=False,
    ),
]
Lenience = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Of inner reviewers, 1 or more. The target is always strict. Default: as tuned, else 1.",
        show_default=False,
    ),
]
MaxNew = Annotated[
    int | None,
    typer.Option(
        "--max-new", min=1, metavar="N", help="New tokens at most. Default: each prompt's own.", show_default=False
    ),
]
Device = Annotated[str, typer.Option(metavar="DEVICE", help="auto, cpu, cuda or cuda:N.")]
Dtype = Annotated[
    str, typer.Option(metavar="DTYPE", help="auto, float32, bfloat16, float16 or float64. Auto: float32 on a CPU.")
]


@app.command()
def race(
    prompt: Annotated[
        str,
        typer.Argument(
            metavar="PROMPT", help="The text to continue. - reads it from standard input.", show_default=False
        ),
    ],
    family: FamilyName = "embedded",
    target: Target = "",
    draft: Drafts = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="autoregressive, speculative, prompt-lookup, vertical, horizontal, cascade or adaptive. Repeat it, one per lane. "
            "Default: autoregressive, speculative and adaptive; with --K cascade instead of adaptive.",
            show_default=False,
        ),
    ] = None,
    max_new: Annotated[int, typer.Option("--max-new", metavar="N", help="New tokens at most.")] = 128,
    always: Annotated[
        bool, typer.Option("--always", help="Go on after the end of the text, to --max-new tokens.")
    ] = False,
    temperature: Annotated[float, typer.Option(metavar="X", help="0 is greedy.")] = 0.0,
    top_k: Annotated[int, typer.Option("--top-k", metavar="N", help="0 switches it off.")] = 0,
    top_p: Annotated[float, typer.Option("--top-p", metavar="X", help="1 switches it off.")] = 1.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Of all random choices.")] = 0,
    rule: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="For a temperature above 0: coupled (same text in every lane) or rejection (the paper's).",
        ),
    ] = "coupled",
    drafter: Drafter = "",
    k: DraftLength = None,
    lookup: CopyLength = None,
    matrix: CascadeK = "",
    lenience: Lenience = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the traces of all lanes here. - prints them, and nothing else, to standard output.",
        ),
    ] = None,
) -> None:
    """Race several decoding methods on one prompt.

    \b
    Examples:
      python -m csd race "Once upon a time"
      python -m csd race "Once upon a time" --temperature 0.8 --seed 3
      python -m csd race "def mean(values):" --method cascade --method prompt-lookup --json race.json
      python -m csd race - --target Qwen/Qwen3-1.7B --draft Qwen/Qwen3-0.6B < prompt.txt

    \b
    Exit codes:
      0    the race ended, and the texts agree
      1    a text differs from autoregressive decoding's, and not at a near-tie
      2    refused input, or a family that cannot be loaded
      130  interrupted; with --json the traces so far are written
    """
    from csd.bench.run import machine
    from csd.cli import display as terminal
    from csd.decoding.errors import Refusal
    from csd.record.race import Race
    from csd.record.recording import Recording, document, today
    from csd.run import run_race

    console = terminal.console(to_stderr=output == Path("-"))
    _check_writable(output)
    prompt = _prompt(prompt)
    spec = _spec(family, target, draft or [])
    try:
        request = _request(
            spec, device, method or (), prompt=prompt, draft=drafter or None, k=k, lookup=lookup, K=matrix or None,
            lenience=lenience, max_new=max_new, always=always, temperature=temperature, top_k=top_k, top_p=top_p,
            seed=seed, rule=rule,
        )  # fmt: skip
        opened = _open(spec, device, dtype)
        with interruptible() as stopped:
            _say(f"racing {len(request.methods)} lanes")
            traces = terminal.show_race(run_race(opened, request, stopped), console)
            interrupted = stopped()
    except Refusal as refusal:
        _refuse(refusal)
    if output is not None:
        _write(output, document(Recording(tuple(traces), machine=machine(opened), date=today())))
    raced = Race(tuple(traces))
    terminal.show_results(raced, console)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(verdict.is_fault for verdict in raced.verdicts):
        raise typer.Exit(DIFFERS)


@app.command(short_help="Measure methods and transformers' own decoding over prompts.")
def bench(
    prompts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Prompts: a JSON list, GSM8K or Spec-Bench lines, JSON strings or plain lines. Default: the page's examples.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[str, typer.Option(metavar="KIND", help="Only the prompts of this kind.", show_default=False)] = "",
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="Prompts of each kind at most, evenly chosen. 0: all.")
    ] = 0,
    family: FamilyName = "embedded",
    target: Target = "",
    draft: Drafts = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="SIZE", help="Enlarge the embedded family to a target of 1B, 7B or 13B, with the same answers."
        ),
    ] = "",
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="As in `race`; repeat it. Default: autoregressive, speculative, prompt-lookup, cascade and adaptive.",
            show_default=False,
        ),
    ] = None,
    drafter: Drafter = "",
    k: DraftLength = None,
    lookup: CopyLength = None,
    matrix: CascadeK = "",
    lenience: Lenience = None,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Timed runs of each; the median counts.")] = 3,
    max_new: MaxNew = None,
    raced: Annotated[
        bool, typer.Option("--race/--no-race", help="Also run the methods all at once, in a race.")
    ] = True,
    peers: Annotated[
        bool, typer.Option("--peers/--no-peers", help="Also run transformers' own ways to decode.")
    ] = True,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="One more peer: compiled, a loop over the compiled forward.", show_default=False
        ),
    ] = None,
    growth: Annotated[
        bool | None,
        typer.Option(
            "--growth/--no-growth",
            help="Also time forwards against context and width. Default: yes, but not with --quick.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="One prompt of each kind, 64 new tokens, one repeat, nothing that compiles.")
    ] = False,
    device: Device = "auto",
    dtype: Dtype = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where results go; what stands there already is not run again. Default: a new folder bench-DATE-TIME.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Measure decoding methods over prompts, beside transformers' own decoding of the same weights.

    Everything takes turns within each prompt and repeat, after a warm-up. The folder gets traces.jsonl, bench.json, bench.md
    and bench.html; the last line of standard output is all figures as JSON.

    \b
    Examples:
      python -m csd bench --quick
      python -m csd bench --repeats 5 --out results
      python -m csd bench --prompts spec_bench.jsonl --limit 4 --max-new 128 --family Qwen3
      python -m csd bench --scale 7B --device cuda --peer compiled

    \b
    Exit codes:
      0    all done, and the texts agree
      1    a method's text differs from autoregressive decoding's and not at a near-tie, or a text repeats itself
      2    refused input, or a family that cannot be loaded
      130  interrupted; what was measured is kept and printed, the same --out goes on
    """
    from csd.bench.plan import Plan, check_plan
    from csd.bench.run import measure, warm_up
    from csd.bench.store import append_lines, make_config, open_folder, remaining_jobs
    from csd.bench.timed_run import parse_line
    from csd.cli import display as terminal
    from csd.decoding.errors import Refusal
    from csd.decoding.methods import METHODS
    from csd.paths import ROOT
    from csd.request import prompts as tasks
    from csd.request.defaults import defaults_for

    if peer and set(peer) != {"compiled"}:
        _refuse(f"There is no peer called {next(name for name in peer if name != 'compiled')!r}. Choose compiled.")
    try:
        found = tasks.select_prompts(
            tasks.read_prompts(prompts or ROOT / "assets" / "prompts.json"), 1 if quick else limit, only
        )
        new = max_new or (64 if quick else None)
        found = [replace(prompt, max_new=new) for prompt in found] if new else found
        spec = _spec(family, target, draft or [])
        model = _scaled(spec, scale, device, dtype) if scale else _open(spec, device, dtype)
        kept, long = tasks.split_by_context(model, found)
        defaults = defaults_for(spec, model.device)
        lanes = _request(
            spec, model.device, method or defaults.every_lane, most=len(METHODS), draft=drafter or None, k=k,
            lookup=lookup, K=matrix or None, lenience=lenience,
        ).methods  # fmt: skip
        baselines = _baselines(model, peers, bool(peer), quick)
        entries = tuple(baseline.entry for baseline in baselines)
        plan = Plan(tuple(kept), tuple(lanes), entries, 1 if quick else repeats, raced)
        check_plan(model, plan)
        folder = out or Path(f"bench-{datetime.now():%Y%m%d-%H%M%S}")
        config = make_config(model, plan)
        runs = open_folder(folder, config, plan)
    except Refusal as refusal:
        _refuse(refusal)
    notes = [f"{len(long)} prompts are too long for the target and were left out."] if long else []
    todo = remaining_jobs(plan, runs)
    _say(f"{len(todo)} runs to do, {len(runs)} already in {folder}")
    with interruptible() as stopped:
        able = baselines
        if todo:
            able, failed = warm_up(model, plan, baselines, _say, stopped)
            notes += failed
            unable = {baseline.entry.id for baseline in baselines if baseline not in able}
            todo = [job for job in todo if job.entry not in unable]
        with terminal.progress(len(todo)) as advance:
            for job, lines in measure(model, plan, able, todo, stopped, notes.append):
                append_lines(folder, lines)
                runs += map(parse_line, lines)
                advance(f"{plan.prompts[job.prompt].kind}: {plan.prompts[job.prompt].name}")
        interrupted = stopped()
        growing = not interrupted and (not quick if growth is None else growth)
        report = _report(model, plan, runs, config, notes, growing)
    _keep(folder, report)
    terminal.show_bench(report, terminal.console())
    _say(f"results: {folder}")
    typer.echo(json.dumps(report.document(), separators=(",", ":")))
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if report.summary.differing or report.summary.repeating:
        raise typer.Exit(DIFFERS)


def _baselines(family: Family, usual: bool, loop: bool, quick: bool) -> tuple[Baseline, ...]:
    """transformers' ways to decode; with `quick` none that compiles, but for the loop where it is asked for."""
    from csd.bench.baselines import COMPILED_LOOP, make_baselines

    if not usual and not loop:
        return ()
    found = make_baselines(family, loop)
    return tuple(one for one in found if one.entry.id == COMPILED_LOOP or (usual and not (quick and one.compiles)))


def _scaled(spec: FamilySpec, size: str, device: str, dtype: str) -> Family:
    """The family at the cost of a big one; says on standard error what there is to know about it."""
    from csd.bench.scale import load_scaled
    from csd.models.catalog import FamilyError

    try:
        family = load_scaled(spec, size, device, dtype, _say)
    except FamilyError as error:
        _refuse(error)
    for note in family.notes:
        _say(note)
    return family


def _report(
    family: Family,
    plan: Plan,
    runs: Sequence[TimedRun],
    config: dict[str, Any],
    notes: Sequence[str],
    growing: bool,
) -> Report:
    """The figures of what was run, with the device's limits measured now."""
    from csd.bench.forward_times import measure_forward_times
    from csd.bench.limits import measure_limits
    from csd.bench.memory import measure_memory
    from csd.bench.report import Report
    from csd.bench.run import machine
    from csd.bench.summary import summarize

    _say("measuring the device")
    limits = measure_limits(family)
    longest = max(len(family.encode(prompt.prompt)) + prompt.max_new for prompt in plan.prompts)
    memory = measure_memory(family, longest)
    times = measure_forward_times(family, _say) if growing else ()
    sampled = sum(prompt.temperature > 0 for prompt in plan.prompts)
    if plan.baselines and sampled:
        notes = [*notes, f"{sampled} sampled prompts: transformers' methods decode greedily and were not run on them."]
    summary = summarize(family, plan, runs, limits)
    return Report(family.spec.name, machine(family), config, plan.prompts, summary, limits, memory, times, tuple(notes))


def _keep(folder: Path, report: Report) -> None:
    """Writes the figures, the table and the page next to the traces."""
    from csd.bench.markdown import to_markdown
    from csd.bench.page import to_page

    texts = {
        "bench.json": json.dumps(report.document(), indent=1) + "\n",
        "bench.md": to_markdown(report) + "\n",
        "bench.html": to_page(report),
    }
    for name, text in texts.items():
        try:
            (folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            _say(f"{folder / name} could not be written: {error.strerror}.")


@app.command(short_help="Choose k, K and what the adaptive cascade expects, by measuring.")
def tune(
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Prompts as for bench. Default: the page's examples.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Prompts of each kind; 0: all.")] = 0,
    family: FamilyName = "embedded",
    target: Target = "",
    draft: Drafts = None,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Timed runs of each finalist.")] = 3,
    max_new: MaxNew = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the record here instead of where the family looks for it."),
    ] = None,
) -> None:
    """Choose how to decode on this machine: k of speculative decoding, K and lenience of the cascade, and the prior of the
    adaptive one.

    What a run costs at every width and what each model would say along the target's own texts is measured; trees are
    played on that, and the best few are run and timed. The page and the other commands use the record from then on.
    """
    from csd.bench.run import machine
    from csd.cli import display as terminal
    from csd.decoding.errors import Refusal
    from csd.paths import ROOT
    from csd.request import prompts as tasks
    from csd.request import tuned
    from csd.tuning.tune import tune as choose

    _check_writable(out)
    try:
        found = tasks.select_prompts(tasks.read_prompts(prompts or ROOT / "assets" / "prompts.json"), limit)
        found = [replace(prompt, max_new=max_new) for prompt in found] if max_new else found
        spec = _spec(family, target, draft or [])
        model = _open(spec, device, dtype)
        kept, long = tasks.split_by_context(model, found)
        if long:
            _say(f"{len(long)} prompts are too long for the target and were left out.")
        record, ran = choose(model, kept, repeats, _say)
    except Refusal as refusal:
        _refuse(refusal)
    record = replace(record, machine=machine(model))
    terminal.show_tuned(record, ran, model.costs, terminal.console())
    place = out or tuned.tuned_path(spec, record.device)
    try:
        tuned.save_tuned(record, place)
    except OSError as error:
        _refuse(f"The record could not be written: {error}.")
    _say(f"written: {place}")


@app.command(short_help="Record example races, as files that the page replays without a model.")
def record(
    family: FamilyName = "embedded",
    max_new: MaxNew = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write here instead of where the page reads.", show_default=False),
    ] = None,
) -> None:
    """Record races of autoregressive, speculative and cascade on example prompts, each once and warm.

    The recordings that stood in the folder are replaced. One race has the paper's K, with which the embedded cascade may lose.
    """
    from csd.bench.run import machine
    from csd.cli import recorder
    from csd.decoding.errors import Refusal
    from csd.paths import ROOT
    from csd.record import recording as takes
    from csd.request import prompts as tasks

    folder = out or takes.FOLDER
    spec = _spec(family, "", [])
    try:
        examples = {(one.kind, one.title): one for one in tasks.read_prompts(ROOT / "assets" / "prompts.json")}
        model = _open(spec, device, dtype)
        with interruptible() as stopped:
            files = {}
            for number, take in enumerate(recorder.TAKES, 1):
                prompt = examples[take.kind, take.title]
                request = _request(
                    spec, device, prompt=prompt.prompt, k=take.k, K=take.K or None, max_new=max_new or prompt.max_new,
                    temperature=float(prompt.temperature), seed=prompt.seed,
                )  # fmt: skip
                traces = recorder.record(model, request, stopped)
                if stopped():
                    raise typer.Exit(INTERRUPTED)
                title = take.title + (", with the paper's K" if take.K else "")
                found = takes.Recording(
                    traces, title, take.kind, recorder.note_of(traces), machine(model), takes.today()
                )
                files[takes.file_name(number, found)] = takes.packed(found)
                _say(f"{take.kind}: {title}. {found.note}")
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"*{takes.SUFFIX}"):
            old.unlink()
        for name, data in files.items():
            (folder / name).write_bytes(data)
    except Refusal as refusal:
        _refuse(refusal)
    except OSError as error:
        _refuse(f"The recordings could not be written: {error}.")
    _say(f"written: {len(files)} races, {sum(map(len, files.values())) / 1000:.0f} KB, in {folder}")


@app.command(short_help="Make one HTML file that replays a race, without network or server.")
def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A race: from `race --json`, from the page, or a recorded one.")
    ],
    title: Annotated[str, typer.Option(metavar="TEXT", help="What the page is called.", show_default=False)] = "",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it here. Default: beside FILE, as .html.", show_default=False),
    ] = None,
) -> None:
    """Make one HTML file that replays a race.

    \b
    Example:
      python -m csd race "Once upon a time" --json race.json
      python -m csd export race.json --out race.html
    """
    from csd.record.recording import SUFFIX, parsed
    from csd.stage.export import page

    place = out or file.with_name(file.name.removesuffix(SUFFIX).removesuffix(".json") + ".html")
    _check_writable(place)
    try:
        found = parsed(file.read_bytes())
        place.write_text(page(replace(found, title=title) if title else found), encoding="utf-8", newline="\n")
    except OSError as error:
        _refuse(f"{error.filename} cannot be used: {error.strerror}.")
    except ValueError as error:
        _refuse(error)
    _say(f"written: {place}, {place.stat().st_size / 1000:.0f} KB")


@app.command(short_help="List the ready-made families and the memory they need.")
def families() -> None:
    """List the ready-made families, the memory they need, and what this machine has."""
    import torch

    from csd.cli import display as terminal
    from csd.models.catalog import READY
    from csd.models.family import memory_free

    device, dtype = ("cuda", "bfloat16") if torch.cuda.is_available() else ("cpu", "float32")
    terminal.show_families(READY, dtype, memory_free(device), device, terminal.console())


@app.command(short_help="Build the table that Max-Gram ends in.")
def bigram(
    family: FamilyName = "embedded",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it here instead of where the family looks for it.")
    ] = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
) -> None:
    """Build a family's bigram table: the target's most likely token after each token alone."""
    from csd.models.bigram import write

    opened = _open(_spec(family, "", []), device, dtype)
    try:
        typer.echo(f"written: {write(opened, out)}")
    except OSError as error:
        _refuse(f"The table could not be written: {error}.")


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Gives a function that turns true at the first Ctrl-C; the second one interrupts at once."""
    pressed = Event()

    def press(signum: int, frame: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _prompt(text: str) -> str:
    """The prompt as given, or standard input without its last line break (a code prompt goes on better without)."""
    try:
        text = sys.stdin.read().removesuffix("\n") if text == "-" else text
        text.encode()
    except UnicodeError:
        _refuse("The prompt is no valid UTF-8 text.")
    return text


def _spec(name: str, target: str, drafts: list[str]) -> FamilySpec:
    from csd.models.catalog import FamilyError, custom, find

    if drafts and not target:
        _refuse("--draft goes with --target. Name the target too, or choose a --family.")
    try:
        return custom(target, drafts) if target else find(name)
    except FamilyError as error:
        _refuse(error)


def _request(
    spec: FamilySpec, device: str = "auto", lanes: Sequence[str] = (), least: int = 1, most: int = 4, **given: Any
) -> Request:
    """The request that the options make; what is left open comes from the family's defaults. Raises Refusal."""
    from csd.request.defaults import defaults_for
    from csd.request.form import to_request

    defaults = defaults_for(spec, device)
    named = {name: value for name, value in given.items() if value is not None}
    fixed = defaults.presets[1].lanes if named.get("K") else defaults.preset.lanes
    return to_request(defaults.form(**named, lanes=tuple(lanes) or fixed), defaults, least, most)


def _open(spec: FamilySpec, device: str, dtype: str) -> Family:
    """Loads a family and says on standard error what happens, and what there is to know about it."""
    from csd.models.catalog import FamilyError
    from csd.models.family import open_family

    try:
        family = open_family(spec, device, dtype, progress=_say)
    except FamilyError as error:
        _refuse(error)
    for note in family.notes:
        _say(note)
    return family


def _check_writable(output: Path | None) -> None:
    """Refuses a place where nothing can be written before the work is done rather than after it."""
    if output is not None and output != Path("-") and (output.is_dir() or not output.absolute().parent.is_dir()):
        _refuse(f"{output} is no place for a file. Name a file in a folder that exists.")


def _write(output: Path, data: dict[str, Any]) -> None:
    text = json.dumps(data, separators=(",", ":"))
    if output == Path("-"):
        typer.echo(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        _refuse(f"{output} could not be written: {error.strerror}.")


def _say(sentence: str) -> None:
    typer.echo(sentence, err=True)


def _refuse(sentence: object) -> NoReturn:
    _say(str(sentence))
    raise typer.Exit(REFUSED)
