"""Choose the backend of each model, and measure what its passes cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from csd.models.architecture import start_token
from csd.models.backends.costs import measure_costs
from csd.models.backends.interface import Backend
from csd.models.backends.process import give_back_memory, set_best_threads
from csd.models.memory import LANES
from csd.models.messages import Progress, ignore
from csd.models.placement import is_split
from csd.models.spec import COPIES

FEWEST = min(COPIES.values())  # bits


@dataclass(frozen=True)
class Prepared:
    """Models ready to run: their backends, the seconds of a pass by width, and sentences about what did not work."""

    backends: dict[str, Backend]
    costs: dict[str, tuple[float, ...]]
    notes: tuple[str, ...]


def prepare_models(
    models: dict[str, Any],
    contexts: Mapping[str, int],
    device: str,
    progress: Progress = ignore,
    copies: Iterable[str] = (),
) -> Prepared:
    """Choose backends, warm them up and measure them. On a CPU this also sets PyTorch's number of threads.

    `models` is emptied one by one, so that the weights of a model that its backend does not need are given back before
    the next one is prepared. `copies` are names in `spec.COPIES`: quantised copies of the target to make. One that
    this machine cannot run fast is left out, with a note.
    """
    backends: dict[str, Backend] = {}
    notes: tuple[str, ...] = ()
    for name in copies:
        progress(f"making the {COPIES[name]}-bit copy")
        made, new = copy_backend(name, models["target"], contexts["target"])
        backends |= {name: made} if made else {}
        notes += new
    for name in tuple(models):
        progress(f"preparing {name}")
        backends[name], new = choose_backend(name, models.pop(name), contexts[name])
        notes += new
        give_back_memory()
    progress("timing the models")
    if device == "cpu":
        set_best_threads(backends["target"], contexts["target"])
    return Prepared(backends, measure_costs(backends, contexts), notes)


def copy_backend(name: str, target: Any, context: int) -> tuple[Backend | None, tuple[str, ...]]:
    """A quantised copy of the target, run in the same way as other models; None and a note without a fast kernel."""
    from csd.models.backends.copies import lean_copy, quantised_model
    from csd.models.backends.quantised import find_kernels

    kernels = find_kernels(COPIES[name], target.device.type)
    if not kernels:
        return None, (f"{name} is left out: this machine has no fast {COPIES[name]}-bit kernel.",)
    fewer = find_kernels(FEWEST, target.device.type) if COPIES[name] > FEWEST else ()
    lean = lean_copy(target, kernels, fewer)
    return (lean, ()) if lean else choose_backend(name, quantised_model(target, kernels[0]), context)


def choose_backend(name: str, model: Any, context: int) -> tuple[Backend, tuple[str, ...]]:
    """On a GPU captured graphs, on a CPU the lean forward if it supports the model, otherwise transformers' own.

    Encoder-decoders have a backend of their own. A model that is split over devices runs transformers' own.
    """
    from csd.models.backends.eager import EagerBackend
    from csd.models.backends.encoder_decoder import take_apart
    from csd.models.backends.graph_pool import prepare_graphs
    from csd.models.backends.linear import see_few_widths
    from csd.models.backends.llama_cpu import fuse

    if model.device.type == "cpu" and not is_split(model):
        see_few_widths(model)
    start = start_token(model)
    if start is not None:
        notes = (f"{name} runs without CUDA graphs, which makes it slower.",) if model.device.type == "cuda" else ()
        return take_apart(model, start), notes
    if is_split(model):
        return EagerBackend(model), (f"{name} runs without CUDA graphs, because it is on several devices.",)
    if model.device.type == "cuda":
        return prepare_graphs(name, model, context, LANES)
    return (fuse(model) or EagerBackend(model)), ()
