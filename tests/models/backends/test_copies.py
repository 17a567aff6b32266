"""A quantised copy of a target: near it, sharing what is not a linear map, and harmless as a draft under three rules."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from graph_models import CONTEXT, VOCAB, model, plain
from tiny_family import byte_level, save
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from csd.decoding.methods import AdaptiveCascade, Autoregressive, Cascade, Speculative, VerticalCascade
from csd.models.backends import prepare
from csd.models.backends.copies import lean_copy, quantised_model
from csd.models.backends.eager import EagerBackend
from csd.models.backends.linear import Kernel
from csd.models.backends.llama_cpu import Llama
from csd.models.backends.quantised import KERNELS
from csd.models.loading import load_family
from csd.models.spec import custom
from csd.record.verdict import judge
from csd.request.request import Request
from csd.run import LaneFinished, run_race


def rounded(bits: int) -> Kernel:
    """Weights rounded to as many steps per output as `bits` have: what any kernel does, in plain arithmetic."""

    def pack(weight):
        scale = weight.float().abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)
        codes = (weight.float() / scale).round() * scale
        return lambda x: x @ codes.t()

    return Kernel(f"rounded to {bits} bits", pack)


@pytest.fixture(autouse=True)
def on_any_machine(monkeypatch):
    """Kernels that every machine has: which ones are fast here is test_quantised's business."""
    monkeypatch.setattr("csd.models.backends.quantised.find_kernels", lambda bits, device: (rounded(bits),))


def text(step: int) -> list[int]:
    return [step * i % VOCAB for i in range(40)]


def distance(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Of the rows' shapes: a constant in a row changes no distribution."""
    found, expected = (rows.double() - rows.double().mean(-1, keepdim=True) for rows in (found, expected))
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize("kind", ["llama", "llama, tied"])
def test_a_lean_copy_is_near_the_target(kind):
    near, far = (lean_copy(model(kind), (rounded(bits),)).open_lane(CONTEXT).run(text(7), 0, 40) for bits in (8, 4))
    assert near.dtype == torch.float32 and near.shape == (40, VOCAB)
    assert 0 < distance(near, plain(kind, text(7))) < 0.05
    assert distance(near, plain(kind, text(7))) < distance(far, plain(kind, text(7))) < 0.7


@pytest.fixture
def four_bits():
    """A Llama whose maps have weights as they come from a 4-bit file, but for the head."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
    target = LlamaForCausalLM(LlamaConfig(vocab_size=VOCAB, **sizes, initializer_range=0.3)).eval()
    with torch.no_grad():
        for name, weight in target.named_parameters():
            if "proj" in name:
                weight.copy_((weight / 0.1).round().clamp(-8, 7) * 0.1)
            elif "norm" in name:
                weight.uniform_(0.5, 2)
    return target


def test_maps_of_a_4_bit_file_lose_nothing_in_a_copy(four_bits):
    seen = []

    def pack(weight):
        seen.append(tuple(weight.shape))
        return lambda x: x @ weight.t()

    few = Kernel("all that there is", pack, handicap=1e-9)
    copy = lean_copy(four_bits, (rounded(8),), (few,))
    with torch.inference_mode():
        expected = four_bits(input_ids=torch.tensor([text(7)]), use_cache=False).logits[0]
    found = copy.open_lane(CONTEXT).run(text(7), 0, 40)
    rough = lean_copy(four_bits, (rounded(8),)).open_lane(CONTEXT).run(text(7), 0, 40)
    assert distance(found, expected) < distance(rough, expected), "only its head is rounded"
    assert {*seen} == {(192, 64), (64, 64), (192, 64), (64, 96)} and (VOCAB, 64) not in seen
    assert {copy.kernels[name] for name in ("qkv", "out", "gate_up", "down")} == {"all that there is"}


def test_other_maps_are_rounded_whatever_kernels_of_fewer_bits_there_are():
    few = Kernel("of fewer bits", lambda weight: pytest.fail("it would round more"), handicap=1e-9)
    copy = lean_copy(model("llama"), (rounded(8),), (few,))
    assert {*copy.kernels.values()} == {"rounded to 8 bits"}


@pytest.mark.parametrize("kind", ["qwen2, with biases", "gpt-neox", "gpt2, with learned positions"])
def test_a_copy_of_any_other_model_is_near_the_target(kind):
    target = model(kind)
    assert lean_copy(target, (rounded(8),)) is None
    copy = quantised_model(target, rounded(8))
    found = EagerBackend(copy).open_lane(CONTEXT).run(text(7), 0, 40)
    assert 0 < distance(found, plain(kind, text(7))) < 0.05
    assert copy.get_input_embeddings().weight is target.get_input_embeddings().weight
    assert type(target.get_output_embeddings()) is torch.nn.Linear  # the target is as it was


@pytest.mark.parametrize("kernel", [*KERNELS[8, "cpu"], *KERNELS[4, "cpu"]], ids=lambda k: k.name)
def test_shapes_that_a_kernel_cannot_do_keep_their_weights(kernel):
    """Sixteen and twenty-four inputs: too few for groups, and not always enough for integers."""
    try:
        kernel.pack(torch.ones(32, 64))
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        pytest.skip(f"this build of PyTorch does not have it: {error}")
    found = lean_copy(model("llama"), (kernel,)).open_lane(CONTEXT).run(text(5), 0, 40)
    assert distance(found, plain("llama", text(5))) < 0.2


@pytest.fixture(params=["llama", "gpt2"])
def folder(request, tmp_path):
    if request.param == "llama":
        return save(tmp_path / "llama", byte_level(), hidden_size=64, intermediate_size=96, initializer_range=0.5)
    torch.manual_seed(0)
    sizes = {"vocab_size": 320, "n_embd": 64, "n_layer": 2, "n_head": 2, "n_positions": 64, "initializer_range": 0.3}
    GPT2LMHeadModel(GPT2Config(**sizes, eos_token_id=0, bos_token_id=0)).save_pretrained(tmp_path)
    byte_level().save_pretrained(tmp_path)
    return str(tmp_path)


def test_copies_are_levels_of_the_family(folder):
    family = load_family(custom(folder, ["self-4bit", "self-8bit"]), "cpu", "float64")
    assert family.draft_names == family.spec.draft_names == ("self-8bit", "self-4bit")
    target, sizes = family.levels[-1], {level.name: (level.parameters, level.model) for level in family.levels}
    assert [level.dtype for level in family.levels] == ["int4", "int8", "float64"]
    assert set(sizes.values()) == {(target.parameters, folder)}
    assert set(family.costs) == set(family.contexts) == set(family.backends) == {"target", "self-8bit", "self-4bit"}
    assert isinstance(family.backends["self-8bit"], (Llama, EagerBackend))


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.8}, {"temperature": 0.8, "rule": "rejection"}], ids=str)
def test_every_tree_over_copies_writes_the_targets_text(folder, settings):
    family = load_family(custom(folder, ["self-8bit", "self-4bit"]), "cpu", "float64")
    trees = (
        Speculative("self-8bit", 4),
        VerticalCascade(("self-8bit",), (6, 4)),
        Cascade(("self-8bit", "self-4bit"), ((2, 4, 6), (0, 2, 4), (0, 0, 4))),
        AdaptiveCascade(("self-8bit", "self-4bit")),
    )
    asked = Request("the fox", (Autoregressive(), *trees), max_new=24, seed=3, stop_at_eos=False, **settings)
    ended = [event for event in run_race(family, asked) if isinstance(event, LaneFinished)]
    reference, *others = [event.trace for event in sorted(ended, key=lambda event: event.lane)]
    kind = "same distribution" if "rule" in settings else "identical"
    assert [judge(trace, reference).kind for trace in others] == [kind] * len(trees)
    assert len(others[0].steps) < 20  # most of what a copy drafts is accepted


def test_a_machine_without_fast_kernels_leaves_the_copy_out(folder, monkeypatch):
    monkeypatch.setattr(
        "csd.models.backends.quantised.find_kernels", lambda bits, device: (rounded(8),) if bits == 8 else ()
    )
    family = load_family(custom(folder, ["self-8bit", "self-4bit"]), "cpu")
    assert family.draft_names == family.spec.draft_names == ("self-8bit",)
    assert "self-4bit is left out: this machine has no fast 4-bit kernel." in family.notes


def test_copies_come_before_the_targets_own_backend_is_chosen(monkeypatch):
    """Whoever runs the target may release transformers' weights."""
    order = []
    chosen = prepare.choose_backend
    monkeypatch.setattr(prepare, "copy_backend", lambda name, target, context: (order.append(name), (None, ()))[1])
    monkeypatch.setattr(
        prepare, "choose_backend", lambda name, made, context: (order.append(name), chosen(name, made, context))[1]
    )
    prepare.prepare_models({"target": model("llama")}, {"target": 48}, "cpu", copies=["self-8bit"])
    assert order == ["self-8bit", "target"]


def test_the_memory_of_a_copy_is_that_of_its_bits():
    from csd.models.catalog import find
    from csd.models.memory import memory_needed

    spec = replace(find("embedded"), drafts=())
    alone, eight, four = (
        memory_needed(made, "float32") for made in (spec, spec.with_copies("self-8bit"), spec.with_copies("self-4bit"))
    )
    assert eight - four == pytest.approx(1.1 * spec.target.parameters / 2, rel=1e-3)
    assert eight - alone > 1.1 * spec.target.parameters
