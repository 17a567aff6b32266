"""The benchmark: who runs when, what is run again, the figures computed by hand, the report, and the command itself."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
import toy
from plotly.offline import get_plotlyjs

import csd.models.family
import csd.run
from csd.bench import baselines as peers
from csd.bench import limits
from csd.bench import report as reports
from csd.bench import run as bench
from csd.bench.baselines import Decoded, Peer, buckets
from csd.bench.run import Plan, Report
from csd.bench.summary import (
    ALONE,
    AUTOREGRESSIVE,
    BEST,
    CALM,
    EVERY,
    PEER,
    RACE,
    SPECULATIVE,
    Contestant,
    Run,
    Summary,
    spread,
)  # fmt: skip
from csd.decoding.methods import AdaptiveCascade, Autoregressive, PromptLookup, Refusal, Speculative
from csd.record.trace import Trace
from csd.request.prompts import Prompt

METHODS = Autoregressive(), PromptLookup(3)
AR, LOOKUP = (method.title for method in METHODS)


@dataclass(frozen=True)
class Family(toy.ToyFamily):
    """A toy without backends: its sessions are tables, so nothing is spent inside models."""

    backends: dict = field(default_factory=dict)


def family(**more) -> Family:
    return Family(**vars(toy.family(**more)))


def counting_peer(title="peer", wrong=False) -> tuple[Peer, list[int]]:
    """A peer that writes what the toy's target writes, two tokens a block and 0.5 s a block; and its calls."""
    calls: list[int] = []

    def decode(ids, max_new, eos):
        calls.append(max_new)
        tokens = toy.text_of(toy.steps_of(toy.family(), Autoregressive(), tuple(ids), max_new))
        tokens = (*tokens[:-1], (tokens[-1] + 1) % 7) if wrong else tokens
        times = range(0, max_new, 2)
        return Decoded(tokens, tuple((min(2, max_new - at), 0.25 + at / 4) for at in times))

    return Peer(title, True, False, decode), calls


PROMPTS = Prompt("story", "abcab", max_new=8), Prompt("code", "gfgf", temperature=0.5, seed=2, max_new=6)


def done(plan: Plan, peers=(), todo=None) -> list[tuple[bench.Job, list[bench.Line]]]:
    return list(bench.measure(family(), plan, peers, list(bench.jobs(plan)) if todo is None else todo))


# ---- order


def test_contestants_take_turns_and_the_first_rotates():
    plan = Plan(PROMPTS, METHODS, ("peer",), 2)
    order = [(job.prompt, job.repeat, job.title or RACE) for job in bench.jobs(plan)]
    assert order == [
        (0, 0, AR), (0, 0, LOOKUP), (0, 0, "peer"), (0, 0, RACE),
        (0, 1, LOOKUP), (0, 1, "peer"), (0, 1, RACE), (0, 1, AR),
        (1, 0, AR), (1, 0, LOOKUP), (1, 0, RACE),
        (1, 1, LOOKUP), (1, 1, RACE), (1, 1, AR),
    ]  # fmt: skip


def test_no_race_of_one_and_none_where_it_is_switched_off():
    assert [job.mode for job in bench.jobs(Plan(PROMPTS[:1], METHODS[:1], (), 1))] == [ALONE]
    assert [job.mode for job in bench.jobs(Plan(PROMPTS[:1], METHODS, (), 1, raced=False))] == [ALONE, ALONE]


def test_every_job_gives_its_lines():
    peer, calls = counting_peer()
    plan = Plan(PROMPTS, METHODS, ("peer",), 1)
    found = done(plan, [peer])
    assert [job for job, _ in found] == list(bench.jobs(plan))
    assert [len(lines) for _, lines in found] == [1, 1, 1, 2, 1, 1, 2]
    assert calls == [8]  # not on the sampled prompt
    runs = [bench.run_of(json.loads(json.dumps(line))) for _, lines in found for line in lines]
    assert len({run.tokens for run in runs if run.prompt == 0}) == 1
    assert len({run.tokens for run in runs if run.prompt == 1}) == 1
    own = next(run for run in runs if run.mode == ALONE)
    assert own.counted == own.runs == 8 and len(own.margins) == 8 and own.seconds > 0 and own.forwards == 0
    theirs = next(run for run in runs if run.mode == PEER)
    assert (theirs.counted, theirs.runs, theirs.seconds, theirs.prefill) == (6, 3, 1.5, 0.25)
    assert theirs.speed == 4 and theirs.with_prefill == pytest.approx(8 / 1.75)


def test_a_peer_that_fails_midway_is_named():
    def decode(*_):
        raise RuntimeError("out of memory\nand more")

    said: list[str] = []
    plan = Plan(PROMPTS[:1], METHODS[:1], ("broken",), 1)
    peer = Peer("broken", False, False, decode)
    found = list(bench.measure(family(), plan, [peer], list(bench.jobs(plan)), failed=said.append))
    assert [len(lines) for _, lines in found] == [1, 0]
    assert said == ["broken failed on story: abcab: out of memory"]
    able, notes = bench.warmed(family(), plan, [peer])
    assert able == () and notes == ("broken cannot run here: out of memory",)


def test_an_adaptive_method_takes_part():
    plan = Plan(PROMPTS[:1], (Autoregressive(), AdaptiveCascade(toy.DRAFTS)), (), 1)
    assert json.loads(json.dumps(bench.config(family(), plan)))["methods"][1]["name"] == "adaptive"
    runs = [bench.run_of(line) for _, lines in done(bench.checked(family(), plan)) for line in lines]
    assert len(runs) == 4 and len({run.tokens for run in runs}) == 1


def test_a_job_that_is_stopped_midway_is_not_kept():
    plan = Plan(PROMPTS, METHODS, (), 1)
    asked = iter(range(10**6))
    found = list(bench.measure(family(), plan, [], list(bench.jobs(plan)), stopped=lambda: next(asked) > 14))
    assert [job.title for job, _ in found] == [AR]
    assert all(line["trace"]["end"] == "budget" for _, lines in found for line in lines)


def test_forwards_are_counted_without_prefill():
    watch = bench.Stopwatch("cpu")
    released = []

    class Lane:
        def __init__(self, capacity):
            self.capacity = capacity

        def run(self, *arguments):
            return self.capacity, arguments

        def release(self):
            released.append(self.capacity)

    lane = bench.TimedBackend(SimpleNamespace(open_lane=Lane), watch).open_lane(7)
    assert lane.run([1], 0, 1) == (7, ([1], 0, 1))
    assert watch.seconds > 0
    lane.release()
    assert released == [7]
    watch.reset()
    assert watch.seconds == 0


# ---- the file


def test_what_stands_in_the_file_is_not_run_again(tmp_path):
    """A process stopped between jobs, and one killed in the middle of a line, go on where they were."""
    toys, folder = family(), tmp_path / "results"
    plan = Plan(PROMPTS, METHODS, (), 2)
    settings = bench.config(toys, plan)
    assert bench.opened(folder, settings, plan) == []
    todo = bench.left(plan, [])
    for _, lines in done(plan, todo=todo[:3]):
        bench.append(folder, lines)
    runs = bench.opened(folder, settings, plan)
    assert len(runs) == 4  # two alone, and a race of two
    assert bench.left(plan, runs) == todo[3:]
    file = folder / bench.TRACES
    whole = file.read_text()
    file.write_text(whole.rsplit("\n", 2)[0] + '\n{"prompt":0,"repe')
    runs = bench.opened(folder, settings, plan)
    assert bench.left(plan, runs) == todo[2:]  # half of the race is gone, so the race is run again
    assert len(file.read_text().splitlines()) == len(runs) == 2
    assert all(isinstance(Trace.from_dict(json.loads(line)["trace"]), Trace) for line in file.read_text().splitlines())


def test_a_folder_with_other_settings_is_refused(tmp_path):
    toys, plan = family(), Plan(PROMPTS, METHODS)
    bench.opened(tmp_path / "a", bench.config(toys, plan), plan)
    other = replace(plan, repeats=5, prompts=PROMPTS[:1])
    with pytest.raises(Refusal, match=r"other settings \(repeats, prompts\).*--out"):
        bench.opened(tmp_path / "a", bench.config(toys, other), other)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("mine")
    with pytest.raises(Refusal, match="something else"):
        bench.opened(tmp_path / "b", bench.config(toys, plan), plan)
    with pytest.raises(Refusal, match="cannot be used"):
        bench.opened(tmp_path / "b" / "mine.txt", bench.config(toys, plan), plan)
    (tmp_path / "a" / bench.CONFIG).write_text("{")
    with pytest.raises(Refusal, match="damaged"):
        bench.opened(tmp_path / "a", bench.config(toys, plan), plan)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan((), METHODS), "No prompt"),
        (Plan(PROMPTS, METHODS, repeats=0), "At least one repeat"),
        (Plan(PROMPTS, (*METHODS, Autoregressive())), "there twice"),
        (Plan(PROMPTS, ()), "at least one method"),
        (Plan(PROMPTS, (Speculative("nobody", 3),)), "nobody"),
    ],
)
def test_refusals(plan, words):
    with pytest.raises(Refusal, match=words):
        bench.checked(family(), plan)


# ---- figures, by hand


def run(prompt, title, speed, mode=ALONE, repeat=0, tokens=(1, 2, 3, 4), repeated=0.0, margin=0.5, prefill=1.0) -> Run:
    """A run of these tokens at this speed, in half as many runs of the target, a quarter of the time outside models."""
    seconds = len(tokens) / speed
    margins = (margin,) * len(tokens) if title == AR else None
    return Run(
        prompt, repeat, mode, title, tokens, len(tokens), seconds, prefill, len(tokens) // 2, repeated,
        None if mode != ALONE else 0.75 * seconds, margins,
    )  # fmt: skip


CONTESTANTS = (
    Contestant(AR, "autoregressive", True, True),
    Contestant("spec", "speculative", True, False),
    Contestant("casc", "cascade", True, False),
    Contestant("eager", PEER, False, True),
    Contestant("static", PEER, False, True),
)


def table(**more) -> Summary:
    runs = [
        *(run(0, AR, speed, repeat=i) for i, speed in enumerate((8, 10, 20))), run(1, AR, 10, repeated=0.2),
        run(0, "spec", 20), run(1, "spec", 40),
        run(0, "casc", 40), run(1, "casc", 20), run(0, "casc", 20, RACE),
        run(0, "eager", 5, PEER), run(1, "eager", 5, PEER),
        run(0, "static", 20, PEER), run(1, "static", 20, PEER),
    ]  # fmt: skip
    return replace(Summary(CONTESTANTS, ("story", "code"), (6, 6), "float32", tuple(runs)), **more)


def test_ratios_are_geometric_means_over_prompts_of_medians():
    found = table()
    assert found.best == "static"
    spec = found.ratio("spec", AUTOREGRESSIVE)
    assert (spec.count, spec.mean, spec.lowest) == (2, pytest.approx(math.sqrt(8)), pytest.approx(2))
    casc = found.ratio("casc", SPECULATIVE)
    assert (casc.mean, casc.lowest) == (pytest.approx(1), pytest.approx(0.5))
    assert found.ratio("casc", BEST).mean == pytest.approx(math.sqrt(2))
    assert found.ratio(AR, BEST).mean == pytest.approx(0.5)
    assert found.ratio("spec", AUTOREGRESSIVE, "code").mean == pytest.approx(4)
    assert found.ratio(AR, AUTOREGRESSIVE) is None and found.ratio("spec", SPECULATIVE) is None


def test_ratios_also_without_texts_that_repeat_themselves():
    found = table()
    assert found.repeating == {1}
    calm = found.ratio("spec", AUTOREGRESSIVE, CALM)
    assert (calm.count, calm.mean) == (1, pytest.approx(2))
    assert found.ratio("spec", AUTOREGRESSIVE, EVERY).count == 2
    at_the_limit = table(runs=(run(0, AR, 1, repeated=0.15), run(1, AR, 1)))
    assert not at_the_limit.repeating and at_the_limit.ratio("spec", AUTOREGRESSIVE, CALM) is None


def test_rows_and_cells():
    found = table(limit=lambda context: 40.0 if context == 8 else math.nan)
    first, *_ = found.cells
    assert (first.speed.median, first.speed.low, first.speed.high) == (10, 8, 20)
    assert first.verdict == "reference" and first.race is None and first.tokens == 4
    rows = {row.title: row for row in found.rows}
    assert rows[AR].speed.median == pytest.approx(10) and rows[AR].speed.low == pytest.approx(math.sqrt(80))
    assert rows["casc"].race_share == pytest.approx(0.5)
    assert rows["casc"].tokens_per_run == pytest.approx(2) and rows["casc"].overhead == pytest.approx(0.25)
    assert rows["casc"].share == pytest.approx(math.sqrt(1 * 0.5))
    assert rows["casc"].with_prefill == pytest.approx(math.sqrt((4 / 1.1) * (4 / 1.2)))
    assert rows["eager"].race_share is None and rows["eager"].overhead is None


def test_the_best_baseline_is_chosen_where_all_of_them_ran():
    """A peer that ran on the fast prompt only does not win by that."""
    runs = (run(0, AR, 100), run(1, AR, 10), run(0, "eager", 90, PEER))
    assert table(runs=runs).best == AR


@pytest.mark.parametrize(
    ("tokens", "margin", "verdict", "position"),
    [
        ((1, 2, 3, 4), 0.5, "identical", None),
        ((1, 9, 3, 4), 0.5, "differs", 1),
        ((1, 9, 3, 4), 9e-5, "near-tie", 1),
        ((1, 9, 3, 4), None, "differs", 1),
        ((1, 2, 3), 9e-5, "differs", 3),
    ],
)
def test_texts_are_compared_with_autoregressive_ones(tokens, margin, verdict, position):
    runs = (
        run(0, AR, 1, margin=margin),
        run(0, "spec", 2),
        run(0, "spec", 2, RACE, tokens=tokens),
        run(0, "eager", 1, PEER),
    )
    found = table(runs=runs)
    cell = found.cells[1]
    assert (cell.title, cell.verdict, cell.position) == ("spec", verdict, position)
    assert found.differing() == ([cell] if verdict == "differs" else [])
    assert found.cells[2].verdict == "identical"
    alone = table(runs=runs[1:])
    assert {cell.verdict for cell in alone.cells} == {"not compared"} and not alone.ratio("spec", AUTOREGRESSIVE)


def test_a_difference_of_a_peer_is_counted_and_is_no_fault_of_ours():
    found = table(runs=(run(0, AR, 1), run(0, "eager", 1, PEER, tokens=(1, 2, 3, 5))))
    assert [row.differs for row in found.rows] == [0, 1] and found.differing() == []


def test_spread_of_few_and_of_many():
    assert (spread([3, 1, 2]).low, spread([3, 1, 2]).median, spread([3, 1, 2]).high) == (1, 2, 3)
    many = spread(range(11))
    assert (many.low, many.median, many.high) == (1, 5, 9)
    assert spread([math.nan, 2]).low == 2 and math.isnan(spread([math.nan]).median)


def test_a_peer_whose_text_is_one_block_has_no_speed():
    one = replace(run(0, "eager", 1, PEER), counted=0, seconds=0.0, runs=0)
    found = table(runs=(run(0, AR, 1), one))
    assert math.isnan(found.cells[1].speed.median) and found.ratio("eager", AUTOREGRESSIVE) is None
    assert found.best == AR


def test_caches_are_compiled_once_for_each_size():
    assert buckets([10, 256, 257, 512, 100]) == {1: 0, 2: 2}


# ---- limits


def test_limit_of_autoregressive_decoding():
    found = limits.Limits(copy=1000.0, read=None, flops=1.0, weights=80, cached=2)
    assert found.autoregressive(10) == pytest.approx(10)
    assert replace(found, read=2000.0).autoregressive(10) == pytest.approx(20)


@pytest.mark.slow
def test_limits_of_the_embedded_family(embedded):
    """What is read per run and held per lane is what the shapes say."""
    found = limits.limits(embedded)
    assert found.copy > 0 and found.read > 0 and found.flops > 0
    target = embedded.models["target"]
    table_bytes = target.get_input_embeddings().weight.nbytes
    every = sum(weight.nbytes for weight in target.parameters())
    tied = target.get_output_embeddings().weight.data_ptr() == target.get_input_embeddings().weight.data_ptr()
    assert found.weights == every - (0 if tied else table_bytes)
    assert found.cached == 2 * 14 * 5 * 64 * 4
    held = limits.memory(embedded, 96)
    assert [(cache.model, cache.tokens, cache.held) for cache in held.caches] == [
        (name, 96, 2 * layers * heads * 64 * 4 * 96)
        for name, layers, heads in (("target", 14, 5), ("draft-mid", 4, 3), ("draft-small", 1, 2))
    ]
    assert all(cache.held == cache.formula for cache in held.caches) and held.resident > every


def test_growth_of_a_toy_stays_within_its_context():
    curves = limits.growth(family(context=200, contexts={"draft-1": 70}))
    assert [curve.model for curve in curves] == ["target", "draft-3", "draft-2", "draft-1"]
    assert [x for x, _ in curves[0].contexts] == [64, 128, 199]
    assert [x for x, _ in curves[-1].contexts] == [64, 69]
    assert [x for x, _ in curves[0].widths] == [1, 2, 4, 8, 16, 24, 32]
    assert all(seconds > 0 for curve in curves for _, seconds in (*curve.contexts, *curve.widths))


# ---- peers


@pytest.mark.slow
def test_peers_write_the_text_of_autoregressive_decoding(embedded):
    """Also those that compile; here nothing is, so that the test is short."""
    ids = embedded.encode("Once upon a time")
    settings = csd.run.Request("Once upon a time", (Autoregressive(),), 12)
    *_, ended = csd.run.race(embedded, settings)
    by_title = {peer.title: peer for peer in peers.peers(embedded, compiled=True)}
    by_title[peers.LOOP].decode.forward = by_title[peers.LOOP].decode._next
    for title in (peers.LOOP, "transformers, eager", "transformers, assisted, draft-mid, 5"):
        for _ in range(2):  # caches are used again
            found = by_title[title].decode(ids, 12, embedded.eos)
            assert found.tokens == ended.trace.tokens, title
            assert sum(count for count, _ in found.blocks) == 12 and found.counted < 12 and found.prefill > 0
    end = ended.trace.tokens[4]
    assert by_title[peers.LOOP].decode(ids, 12, frozenset({end})).tokens[-1] == end
    assert by_title["transformers, eager"].decode(ids, 12, frozenset({end})).tokens[-1] == end


@pytest.mark.slow
def test_peers_leave_the_models_settings_as_they_were(embedded):
    before = [model.generation_config for model in embedded.models.values()]
    for peer in peers.peers(embedded):
        if not peer.compiles:
            peer.decode(embedded.encode("Once"), 4, embedded.eos)
    assert all(model.generation_config is one for model, one in zip(embedded.models.values(), before))


# ---- the report


def report(**more) -> Report:
    prompts = Prompt("story", "Once", "A </script><b>fox"), Prompt("code", "def f():")
    return replace(Report("toy", "a machine", {"repeats": 3}, prompts, table(), notes=("One is missing.",)), **more)


def test_document_is_json_without_nan():
    one = replace(run(0, "eager", 1, PEER), counted=0, seconds=0.0)
    found = report(summary=table(runs=(run(0, AR, 1), one))).document()
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["cells"][1]["speed"]["median"] is None
    assert {row["title"] for row in found["methods"]} == {AR, "eager"}


def test_markdown_has_the_figures():
    text = reports.markdown(report())
    assert "| spec | 2 | 2.83 | 2.00 | 1.41 | 1.00 |  |  |" in text
    assert "| static (best AR) | 2 | 20.0 |" in text
    assert "- One is missing." in text and "Ratios, texts with at most 15% repeated" in text


def test_html_is_whole_and_needs_no_network():
    curve = limits.Curve("target", ((64, 0.001), (128, 0.002)), ((1, 0.001), (8, 0.003)))
    text = reports.page(report(curves=(curve,)))
    script = get_plotlyjs()
    assert text.count(script) == 1
    own = text.replace(script, "")
    assert not re.search(r"https?:|//cdn|@import|<link|<img|src=", own)
    assert own.count("Plotly.newPlot") == 5 and own.count('class="figure"') == 5
    assert "A </script>" not in own and "A &lt;/script&gt;&lt;b&gt;fox" in own
    assert own.count("</script>") == 2
