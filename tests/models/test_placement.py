"""A target over several devices: what is planned for GPUs that are made up, and races over a CPU and a disk.

No machine with two GPUs was at hand. Layers on a disk go through accelerate's hooks too, but compute on the CPU: only
the test over two GPUs shows that activations, keys and values are on the right device.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import GPT2Config, LlamaConfig, T5Config

from csd.decoding.methods import Autoregressive, Cascade, Speculative
from csd.models import loading, placement
from csd.models.backends import prepare
from csd.models.backends.eager import EagerBackend, EagerLane
from csd.models.device import describe_machine
from csd.models.family import Family
from csd.models.loading import load_family
from csd.models.memory import MARGIN, memory_needed, models_need
from csd.models.placement import Placement, map_layers, place, resolve_home, target_room
from csd.models.spec import FamilyError, FamilySpec, ModelSpec, custom
from csd.request.request import Request
from csd.run import LaneFinished, RaceStarted, run_race
from csd.web.families import ready_sentence

GB = 2**30
LARGE = ModelSpec("target", "big", parameters=70 * 10**9, cache=2 * 80 * 8 * 128, context=8192)
SMALL = ModelSpec("draft", "small", parameters=10**9, cache=2 * 16 * 8 * 64, context=8192)
SPEC = FamilySpec("Big", LARGE, (SMALL,))
SHAPE: dict[str, Any] = {
    "vocab_size": 320, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2,
    "max_position_embeddings": 64,
}  # fmt: skip
LAYERS = LlamaConfig(**SHAPE)
KB = 10**3


def test_the_target_gets_what_the_drafts_leave():
    room = target_room(SPEC, "bfloat16", {0: 80 * GB, 1: 80 * GB, 2: 24 * GB})
    assert room == {0: 80 * GB - (models_need((SMALL,), "bfloat16") or 0), 1: 80 * GB - MARGIN, 2: 24 * GB - MARGIN}
    alone = target_room(replace(SPEC, drafts=()), "bfloat16", {0: 80 * GB, 1: 80 * GB})
    assert alone == {0: 80 * GB - MARGIN, 1: 80 * GB - MARGIN}


def test_a_family_that_fits_the_first_gpu_needs_no_room_elsewhere():
    whole = memory_needed(SPEC, "bfloat16") or 0
    assert target_room(SPEC, "bfloat16", {0: whole, 1: 0}) == {}
    assert target_room(SPEC, "bfloat16", {0: whole - 1, 1: GB})[1] == GB - MARGIN


def test_too_little_on_all_gpus_has_the_figures():
    with pytest.raises(FamilyError) as caught:
        target_room(SPEC, "bfloat16", {0: 79 * GB, 1: 70 * GB})
    said = str(caught.value)
    assert "its target needs about 150.3 GiB, its drafts 3.2 GiB on cuda:0, and 512 MiB of every other" in said
    assert "There are 79.0 GiB on cuda:0 and 70.0 GiB on cuda:1 free." in said


def test_an_unknown_size_cannot_be_planned():
    with pytest.raises(FamilyError, match="cannot be split, because its size is unknown"):
        target_room(custom("someone/something"), "bfloat16", {0: GB, 1: GB})
    placement.check_room(custom("someone/something"), "bfloat16", "split")  # it is not yet known before the download


@pytest.mark.parametrize("tied", [True, False])
def test_whole_layers_in_order_with_their_caches(tied):
    placed = map_layers(
        LlamaConfig(**SHAPE, tie_word_embeddings=tied), 400 * KB, "float32", {0: 300 * KB, 1: 280 * KB, 2: 280 * KB}
    )
    layers = [placed[f"model.layers.{number}"] for number in range(4)]
    assert layers == sorted(layers)
    assert placed["model.embed_tokens"] == 0
    assert set(placed.values()) == {0, 1, 2}
    assert layers.count(1) == 2  # each takes 100 KB of caches besides its weights


def test_caches_count_as_much_as_weights():
    room = {0: 300 * KB, 1: 300 * KB}
    assert "disk" not in map_layers(LAYERS, 0, "float32", room).values()
    assert "disk" in map_layers(LAYERS, 800 * KB, "float32", room).values()
    assert "disk" not in map_layers(LAYERS, 800 * KB, "float32", {0: 800 * KB, 1: 800 * KB}).values()


def test_another_architecture_is_divided_at_its_own_layers():
    config = GPT2Config(vocab_size=320, n_positions=64, n_embd=16, n_layer=4, n_head=2)
    placed = map_layers(config, 400 * KB, "float32", {0: 400 * KB, 1: 600 * KB})
    assert placed["transformer.wte"] == placed["lm_head"] == 0  # tied
    assert {placed[f"transformer.h.{number}"] for number in range(4)} == {0, 1}


def pretend(monkeypatch, *free: int) -> None:
    """GPUs with so many bytes free."""
    monkeypatch.setattr(placement, "free_gpus", lambda: dict(enumerate(free)))


@pytest.mark.parametrize(("gpus", "found"), [(0, "no GPU"), (1, "one GPU")])
def test_without_two_gpus_there_is_nothing_to_split_over(monkeypatch, gpus, found):
    pretend(monkeypatch, *[GB] * gpus)
    with pytest.raises(FamilyError, match=f"two GPUs or more, and PyTorch finds {found} here"):
        resolve_home("split")
    assert resolve_home("cpu") == "cpu"


def tiny(**more) -> FamilySpec:
    """A family of the size of `LAYERS` whose drafts are free of charge."""
    model = ModelSpec("target", "tiny", parameters=15_000, cache=2 * 4 * 16, context=64, **more)
    return FamilySpec("Tiny", model)


def test_the_plan_says_where_everything_is(monkeypatch):
    pretend(monkeypatch, MARGIN + 150 * KB, MARGIN + 250 * KB)
    planned = place(tiny(), LAYERS, "float32", "split")
    assert planned.home == "cuda:0"
    assert planned.words == "target over cuda:0 and cuda:1, drafts on cuda:0"
    assert planned.modules("target") == planned.target
    assert planned.modules("draft") == {"": "cuda:0"}


def test_a_family_that_fits_is_not_split_and_says_so(monkeypatch):
    pretend(monkeypatch, GB, GB)
    planned = place(tiny(), LAYERS, "float32", "split")
    assert (planned.modules("target"), planned.words) == ({"": "cuda:0"}, "")
    assert planned.notes == ("Tiny fits cuda:0 as a whole, so it is not split.",)


def test_copies_are_left_out_with_a_note(monkeypatch):
    pretend(monkeypatch, MARGIN + 150 * KB, MARGIN + 250 * KB)
    planned = place(tiny().with_copies("self-8bit"), LAYERS, "float32", "split")
    assert (planned.copies, len(set(planned.target.values()))) == ((), 2)
    assert planned.notes == ("self-8bit is left out: on the device split no quantised copies are made.",)


def test_layers_that_do_not_fit_as_a_whole_are_refused(monkeypatch):
    pretend(monkeypatch, *[MARGIN + 40 * KB] * 8)  # enough in all, and on each less than the embedding and a layer
    with pytest.raises(FamilyError, match=r"cannot be split in whole layers.* has 0 MiB on cuda:0, 0 MiB on cuda:1"):
        place(tiny(), LAYERS, "float32", "split")


def test_an_encoder_decoder_is_refused(monkeypatch):
    pretend(monkeypatch, MARGIN + 150 * KB, MARGIN + 250 * KB)
    with pytest.raises(FamilyError, match="encoder-decoder, which cannot be split"):
        place(tiny(), T5Config(), "float32", "split")


def test_the_machine_and_the_page_say_it():
    planned = Placement("cuda:0", {"a": 0, "b": 1, "c": 2, "d": 0})
    assert planned.words == "target over cuda:0, cuda:1 and cuda:2, drafts on cuda:0"
    assert f"; {planned.words}; bfloat16; " in describe_machine("cpu", "bfloat16", planned.words)


HALVES = {"model.embed_tokens": 0, "model.layers.0": 0, "model.layers.1": 1, "model.norm": 1, "model.rotary_emb": 0,
          "lm_head": 1}  # fmt: skip


def over(home: str, *devices: int | str) -> Placement:
    return Placement(home, {name: devices[half] for name, half in HALVES.items()})


SPLITS = [
    pytest.param(over("cpu", "cpu", "disk"), id="a CPU and a disk"),
    pytest.param(
        over("cuda:0", 0, 1),
        id="two GPUs",
        marks=[pytest.mark.gpu, pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")],
    ),
]


def texts(family: Family, temperature: float) -> list[tuple[int, ...]]:
    """What the lanes write after two prompts."""
    methods = (Autoregressive(), Speculative("small", 3), Cascade(("small",), ((2, 5), (0, 4))))
    written = []
    for prompt in ("the fox", "moon and owl said"):
        request = Request(prompt, methods, max_new=10, temperature=temperature, seed=3)
        for event in run_race(family, request):
            if isinstance(event, RaceStarted):
                assert all(header.device.startswith(family.device) for header in event.headers)
            if isinstance(event, LaneFinished):
                assert not event.fault
                written.append(event.trace.tokens)
    return written


@pytest.mark.parametrize("planned", SPLITS)
def test_a_split_target_writes_what_the_whole_one_writes(pair, monkeypatch, tmp_path, planned):
    """Tokens of races, greedy and coupled, and rows of logits after rewinds, all in float64."""
    monkeypatch.setenv("CSD_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(prepare, "measure_costs", lambda backends, contexts: dict.fromkeys(backends, (0.001,) * 65))
    monkeypatch.setattr(prepare, "set_best_threads", lambda target, context: None)
    whole = load_family(custom(pair[0], pair[1:]), "cpu", "float64")
    monkeypatch.setattr(loading, "resolve_home", lambda device: planned.home)
    monkeypatch.setattr(loading, "check_room", lambda *sizes: None)
    monkeypatch.setattr(loading, "place", lambda *sizes: planned)
    split = load_family(custom(pair[0], pair[1:]), "split", "float64")

    assert isinstance(split.backends["target"], EagerBackend)
    assert "target runs without CUDA graphs, because it is on several devices." in split.notes
    assert f", {planned.words}, fp64" in ready_sentence(split)
    for temperature in (0.0, 1.0):
        written = texts(split, temperature)
        assert written == texts(whole, temperature)
        assert min(map(len, written)) > 4

    parted, together = split.backends["target"].open_lane(40), EagerLane(whole.reference("target"), 40)
    for ids, keep, rows in (([5, 9, 60, 7, 8], 0, 5), ([3, 4], 2, 2), ([11], 4, 1), ([7, 2, 1, 9], 1, 3)):
        found = parted.run(ids, keep, rows)
        assert found.device == torch.device(planned.home)
        torch.testing.assert_close(found.cpu(), together.run(ids, keep, rows), rtol=0, atol=1e-12)
