"""Compiling a loaded family in steps, on a CPU: graph lanes run uncaptured, and compilers are played."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from graph_models import CONTEXT, TEXTS, check, every_width, model

from csd.models import compiling
from csd.models.backends import costs, graph_compile
from csd.models.backends.capture import CaptureError, Uncaptured
from csd.models.backends.cuda_graphs import WIDTHS, forward
from csd.models.backends.eager import EagerBackend
from csd.models.backends.graph_compile import ORDER
from csd.models.backends.graph_pool import RESTART, GraphPool
from csd.models.compiling import compile_kernels, compile_steps


@dataclass(frozen=True)
class Family:
    backends: dict[str, Any]
    costs: dict[str, tuple[float, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ("A note.",)
    device: str = "cuda"

    @property
    def contexts(self) -> dict[str, int]:
        return dict.fromkeys(self.backends, CONTEXT)


@pytest.fixture
def family() -> Family:
    pools = {name: GraphPool(model("llama"), CONTEXT, 1, Uncaptured()) for name in ("draft", "target")}
    for pool in pools.values():
        pool.add_lane()
    return Family(pools)


@pytest.fixture(autouse=True)
def even_costs(monkeypatch):
    """Every pass takes the same time, so that no width is left out."""
    monkeypatch.setattr(
        costs, "measure_passes", lambda backends, contexts: {name: dict.fromkeys(WIDTHS, 1.0) for name in backends}
    )


class Compiler:
    """Compiles by doing nothing; fails at some widths of the first model while it compiles."""

    def __init__(self, *bad: int):
        self.bad, self.widths = bad, []

    def __call__(self, plain):
        def compiled(model, fed, *buffers):
            width = len(fed) - 1
            self.widths.append(width)
            if len(self.widths) <= len(WIDTHS) and width in self.bad:
                raise RuntimeError("Triton is missing\nmore")
            return plain(model, fed, *buffers)

        return compiled


def plain_widths(pool: GraphPool) -> list[int]:
    (lane,) = pool._free[512]
    return [width for width in WIDTHS if lane.passes[width].args[0] is forward]


def test_each_step_says_what_comes_next(family):
    sentences = [step.sentence for step in compile_steps(family, Compiler())]
    assert sentences[:2] == [
        "compiling kernels for target, 0 of 8 widths; later races will be faster",
        "compiling kernels for target, 1 of 8 widths; later races will be faster",
    ]
    assert sentences[8].startswith("compiling kernels for draft, 0 of 8")
    assert sentences[-2:] == ["taking the compiled kernels into use", ""]
    assert len(sentences) == 2 * len(WIDTHS) + 2


def test_widths_of_decoding_are_compiled_first(family):
    compiler = Compiler()
    for step in compile_steps(family, compiler):
        if step.sentence.startswith("taking"):
            break
    assert tuple(compiler.widths) == ORDER * 2
    assert ORDER[:4] == (1, 8, 16, 2)


def test_compiled_kernels_take_over_in_all_models_at_once(family):
    """Until then a race runs as before: one between compiled and other models would say nothing about methods."""
    steps = compile_steps(family, Compiler())
    for step in steps:
        assert all(plain_widths(pool) == list(WIDTHS) for pool in family.backends.values()) or not step.sentence
        assert (step.family is family) == bool(step.sentence)
        lane = family.backends["target"].open_lane(CONTEXT)  # a race between two steps
        check(lane, "llama", TEXTS[0][:20], 0, 20)
        lane.release()
    assert all(plain_widths(pool) == [] for pool in family.backends.values())
    for pool in family.backends.values():
        every_width(pool.open_lane(CONTEXT), "llama")


def test_costs_are_measured_again_and_notes_stay(family):
    last = list(compile_steps(family, Compiler()))[-1].family
    assert last.costs == dict.fromkeys(("draft", "target"), (1.0,) * costs.WIDEST)
    assert last.notes == family.notes


def test_a_width_that_does_not_compile_stays_captured_and_a_note_says_so(family):
    last = list(compile_steps(family, Compiler(8, 64)))[-1].family
    assert plain_widths(family.backends["target"]) == [8, 64]
    assert plain_widths(family.backends["draft"]) == []
    assert last.notes == (
        "A note.",
        "target has no compiled kernels for 8 or 64 tokens, so such a pass takes about 1.4 times as long "
        "(7B on an H200): Triton is missing",
    )
    every_width(family.backends["target"].open_lane(CONTEXT), "llama")


@pytest.mark.parametrize("at_once", [True, False])
def test_without_a_compiler_everything_stays_as_it_was(family, at_once):
    def compiler(plain):
        if at_once:
            raise RuntimeError("torch.compile is not supported here")
        return lambda *_: torch.ops.missing.triton()

    last = list(compile_steps(family, compiler))[-1].family
    assert [note.split(":")[0] for note in last.notes[1:]] == [
        f"{name} has no compiled kernels for 1, 2, 4, 8, 16, 32, 64 or 80 tokens, so such a pass takes about "
        "1.4 times as long (7B on an H200)"
        for name in ("target", "draft")
    ]
    every_width(family.backends["target"].open_lane(CONTEXT), "llama")


def test_there_is_an_end_to_compiling(family, monkeypatch):
    monkeypatch.setattr(compiling, "COMPILE_SECONDS", 0.0)
    last = list(compile_steps(family, Compiler()))[-1].family
    assert plain_widths(family.backends["target"]) == [width for width in WIDTHS if width != 1]
    assert "no compiled kernels for 2, 4, 8, 16, 32, 64 or 80 tokens" in last.notes[1]


def test_a_width_is_left_out_where_a_wider_compiled_one_is_faster(family, monkeypatch):
    times = {1: 5.0, 2: 7.0, 4: 7.0, 8: 5.0, 16: 5.1, 32: 7.0, 64: 7.1, 80: 7.1}
    monkeypatch.setattr(costs, "measure_passes", lambda backends, contexts: {name: dict(times) for name in backends})
    last = list(compile_steps(family, Compiler()))[-1].family
    assert family.backends["target"].widths == (1, 8, 16, 32, 64, 80)
    assert last.costs["target"][:9] == (5.0,) * 8 + (5.1,)
    every_width(family.backends["target"].open_lane(CONTEXT), "llama")


def test_drafts_get_chains_and_a_note_says_where_they_do_not(family, monkeypatch):
    last = list(compile_steps(family, Compiler()))[-1].family
    chained = {name: bool(pool._free[512][0].chains) for name, pool in family.backends.items()}
    assert chained == {"draft": True, "target": False}  # the target only reviews
    assert last.notes == family.notes
    error = CaptureError("operation not permitted")
    monkeypatch.setattr(GraphPool, "record_chains", lambda pool: error)
    last = list(compile_steps(family, Compiler()))[-1].family
    assert last.notes[1:] == (
        "draft writes its tokens with one launch for each, as no graph for several works: operation not permitted",
        RESTART,
    )


def test_a_family_without_graphs_has_no_steps(family):
    for other in (Family({"target": EagerBackend(model("llama"))}), replace(family, device="cpu")):
        assert list(compile_steps(other)) == []
        assert compile_kernels(other) is other


def test_all_steps_at_once(family, monkeypatch):
    said = []
    monkeypatch.setattr(graph_compile, "inductor", Compiler())
    done = compile_kernels(family, said.append)
    assert said[0].startswith("compiling kernels for target, 0") and said[-1].startswith("taking") and "" not in said
    assert done.costs and all(plain_widths(pool) == [] for pool in family.backends.values())
