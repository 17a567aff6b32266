"""Which backend each model gets, and that notes and measured costs reach the family."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from graph_models import TEXTS, VOCAB, model, plain

from csd.models.backends import prepare
from csd.models.backends.eager import EagerBackend
from csd.models.backends.llama_cpu import Llama
from csd.models.backends.prepare import choose_backend, prepare_models


class Quiet:
    def open_lane(self, capacity):
        return self

    def run(self, ids, keep, rows):
        return torch.zeros(rows, VOCAB)

    def release(self):
        pass


def test_on_a_cpu_the_lean_forward_where_it_fits():
    lean, notes = choose_backend("target", model("llama"), 200)
    assert isinstance(lean, Llama)
    assert notes == ()
    assert isinstance(choose_backend("draft", model("gpt-neox"), 200)[0], EagerBackend)


def test_notes_and_costs_of_all_models(monkeypatch):
    monkeypatch.setattr(prepare, "choose_backend", lambda name, model, context: (Quiet(), (f"{name}: a note",)))
    said = []
    prepared = prepare_models({"draft": None, "target": None}, {"draft": 9, "target": 9}, "cuda", said.append)
    assert list(prepared.backends) == ["draft", "target"]
    assert prepared.notes == ("draft: a note", "target: a note")
    assert all(len(costs) >= 9 for costs in prepared.costs.values())
    assert said == ["preparing draft", "preparing target", "timing the models"]


def test_only_a_cpu_sets_the_number_of_threads(monkeypatch):
    asked = []
    monkeypatch.setattr(prepare, "choose_backend", lambda name, model, context: (Quiet(), ()))
    monkeypatch.setattr(prepare, "set_best_threads", lambda target, context: asked.append(context))
    for device in ("cuda", "cpu"):
        prepare_models({"target": None}, {"target": 9}, device)
    assert asked == [9]


@pytest.mark.parametrize("kind", ["llama", "llama, tied"])
def test_the_lean_forward_in_bfloat16_is_as_near_as_transformers_own(kind):
    half = deepcopy(model(kind)).to(torch.bfloat16)
    lean, _ = choose_backend("target", half, 200)
    assert isinstance(lean, Llama)
    exact = plain(kind, TEXTS[0][:60])
    with torch.inference_mode():
        theirs = half(input_ids=torch.tensor([TEXTS[0][:60]]), use_cache=False).logits[0]
    ours = lean.open_lane(60).run(TEXTS[0][:60], 0, 60)
    assert ours.dtype == torch.float32
    assert 0 < (ours - exact).norm() < 1.2 * (theirs - exact).norm()
