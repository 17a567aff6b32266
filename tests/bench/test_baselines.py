"""transformers' own ways to decode: the same texts, and no traces left in the models."""

from __future__ import annotations

from tiny_t5 import save_t5

from csd.bench.baselines import COMPILED_LOOP, cache_sizes, make_baselines
from csd.bench.plan import Plan
from csd.bench.run import warm_up
from csd.decoding.methods import Autoregressive
from csd.models.loading import load_family
from csd.models.spec import custom
from csd.request.prompts import Prompt
from csd.request.request import Request
from csd.run import finished_traces, run_race


def test_static_caches_are_compiled_once_for_each_size():
    assert cache_sizes([10, 256, 257, 512, 100]) == {1: 0, 2: 2}


def test_ids_are_unique(embedded):
    ids = [baseline.entry.id for baseline in make_baselines(embedded, compiled_loop=True)]
    assert len(set(ids)) == len(ids) and COMPILED_LOOP in ids
    assert COMPILED_LOOP not in [baseline.entry.id for baseline in make_baselines(embedded)]


def test_baselines_write_the_text_of_autoregressive_decoding(embedded):
    """Also those that compile; here nothing is compiled, so that the test is short."""
    ids = embedded.encode("Once upon a time")
    (trace,) = finished_traces(run_race(embedded, Request("Once upon a time", (Autoregressive(),), 12)))
    by_id = {baseline.entry.id: baseline for baseline in make_baselines(embedded, compiled_loop=True)}
    loop, eager = by_id[COMPILED_LOOP], by_id["transformers-eager"]
    loop.decode.forward = loop.decode._next
    for baseline in (loop, eager, by_id["transformers-assisted-small-5"]):
        for _ in range(2):  # caches are used again
            found = baseline.decode(ids, 12, embedded.eos)
            assert found.tokens == trace.tokens, baseline.title
            assert sum(count for count, _ in found.blocks) == 12 and found.timed_tokens < 12 and found.prefill > 0
    end = trace.tokens[4]
    assert loop.decode(ids, 12, frozenset({end})).tokens[-1] == end
    assert eager.decode(ids, 12, frozenset({end})).tokens[-1] == end


def test_baselines_of_an_encoder_decoder(tmp_path):
    """Its prompt ends with the decoder's start token; static caches are not made for it, and the benchmark says so."""
    target, draft = (save_t5(tmp_path / name, blur=blur, padding=0) for name, blur in (("target", 0), ("draft", 0.02)))
    family = load_family(custom(target, [draft]), "cpu", "float64")
    (trace,) = finished_traces(run_race(family, Request("the fox said", (Autoregressive(),), 12)))
    by_id = {baseline.entry.id: baseline for baseline in make_baselines(family, compiled_loop=True)}
    for name in ("transformers-eager", "transformers-assisted-draft-5", "transformers-prompt-lookup-10"):
        found = by_id.pop(name).decode(family.encode("the fox said"), 12, family.eos)
        assert found.tokens == trace.tokens, name
    prompts = (Prompt("any", "the fox said", max_new=4),)
    static = [by_id["transformers-static-cache"], by_id[COMPILED_LOOP]]
    able, notes = warm_up(family, Plan(prompts, (Autoregressive(),)), static)
    assert able == () and all("static caches are for decoder-only models" in note for note in notes) and len(notes) == 2


def test_baselines_leave_the_models_settings_as_they_were(embedded):
    models = [embedded.reference(name) for name in embedded.backends]
    before = [model.generation_config for model in models]
    for baseline in make_baselines(embedded):
        if not baseline.compiles:
            baseline.decode(embedded.encode("Once"), 4, embedded.eos)
    assert all(model.generation_config is one for model, one in zip(models, before))
