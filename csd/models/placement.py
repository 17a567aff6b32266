"""Where the models of a family are: all on one device, or the target's layers spread over all GPUs (device "split").

A layer is never divided, and its KV cache is where its weights are. Drafts are whole on the first GPU, which is the
fastest one unless CUDA_DEVICE_ORDER says otherwise; ids, logits and acceptance are there too.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from csd.models.device import check_memory, memory_free, resolve_device
from csd.models.memory import MARGIN, SLACK, cache_bytes, memory_needed, models_need, size
from csd.models.spec import FamilyError, FamilySpec
from csd.sentences import listed

SPLIT = "split"
FIRST = 0  # the GPU of the drafts

Modules = Mapping[str, Any]
"""The device of each part of a model, by the part's name in it, as accelerate writes it; "" is the whole model."""


@dataclass(frozen=True)
class Placement:
    """`home` is the device of drafts, ids and logits. `target` is empty where the target is on `home` as a whole.

    `copies` are the quantised copies of the target that can be made, `notes` sentences for the user.
    """

    home: str
    target: Modules = field(default_factory=dict)
    copies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def modules(self, name: str) -> Modules:
        """The devices of the model of this name."""
        return self.target if name == "target" and self.target else {"": self.home}

    @property
    def words(self) -> str:
        """Such as "target over cuda:0 and cuda:1, drafts on cuda:0"; empty where nothing is split."""
        gpus = [gpu_name(gpu) for gpu in dict.fromkeys(self.target.values())]
        return f"target over {listed(gpus)}, drafts on {self.home}" if gpus else ""


def resolve_home(device: str) -> str:
    """The device of ids and logits for the name of a device, "split" among them. Raises FamilyError."""
    if device != SPLIT:
        return resolve_device(device)
    gpus = len(free_gpus())
    if gpus < 2:
        found = "no GPU" if gpus == 0 else "one GPU"
        raise FamilyError(f"A target is split over two GPUs or more, and PyTorch finds {found} here. Choose auto.")
    return gpu_name(FIRST)


def free_gpus() -> dict[int, int]:
    """Free bytes of each GPU."""
    import torch

    return {gpu: memory_free(gpu_name(gpu)) for gpu in range(torch.cuda.device_count())}


def gpu_name(gpu: int | str) -> str:
    return f"cuda:{gpu}" if isinstance(gpu, int) else gpu


def check_room(spec: FamilySpec, dtype: str, device: str) -> None:
    """Raises FamilyError if the family needs more memory than there is. Unknown sizes pass."""
    if device != SPLIT:
        check_memory(spec, dtype, device)
    elif memory_needed(spec, dtype) is not None:
        target_room(spec.without_copies(), dtype, free_gpus())


def place(spec: FamilySpec, config: Any, dtype: str, device: str) -> Placement:
    """Where the models are to be loaded. `config` is the target's. Raises FamilyError if there is no room for them."""
    if device != SPLIT:
        check_memory(spec, dtype, device)
        return Placement(resolve_device(device), copies=spec.copies)
    notes = tuple(f"{name} is left out: on the device split no quantised copies are made." for name in spec.copies)
    spec, home = spec.without_copies(), resolve_home(device)
    room = target_room(spec, dtype, free_gpus())
    if not room:
        return Placement(home, notes=(*notes, f"{spec.name} fits {home} as a whole, so it is not split."))
    if config.is_encoder_decoder:
        raise FamilyError(f"{spec.name} is an encoder-decoder, which cannot be split. Choose a smaller one, and cuda.")
    target = map_layers(config, cache_bytes(spec.target, dtype), spec.target.dtype_or(dtype), room)
    if "disk" in target.values() or next(iter(target.values())) != FIRST:
        raise FamilyError(
            f"{spec.name} cannot be split in whole layers: beside the drafts its target, with its KV caches, has "
            f"{_sizes(room)}. Choose a smaller family or number format, or free some memory."
        )
    return Placement(home, target, notes=notes)


def target_room(spec: FamilySpec, dtype: str, free: Mapping[int, int]) -> dict[int, int]:
    """Bytes of each GPU for the target and its KV caches, beside the drafts; empty if GPU 0 holds the whole family.

    Raises FamilyError if that is not enough, or if a size is unknown.
    """
    whole, drafts = memory_needed(spec, dtype), models_need(spec.drafts, dtype)
    target = models_need((spec.target,), dtype)
    if whole is None or drafts is None or target is None:
        raise FamilyError(
            f"{spec.name} cannot be split, because its size is unknown. Choose models in the safetensors format."
        )
    if whole <= free[FIRST]:
        return {}
    room = {gpu: max(0, count - (drafts if gpu == FIRST else MARGIN)) for gpu, count in free.items()}
    if target - MARGIN > sum(room.values()):
        raise FamilyError(
            f"{spec.name} does not fit the GPUs in {dtype}: its target needs about {size(target - MARGIN)}, its drafts "
            f"{size(drafts)} on {gpu_name(FIRST)}, and {size(MARGIN)} of every other GPU stay free. There are "
            f"{_sizes(free)} free. Choose a smaller family or number format, or free some memory."
        )
    return room


def map_layers(config: Any, cache: int, dtype: str, room: Mapping[int, int]) -> Modules:
    """The GPU of each part of a model: whole layers in order, each with its share of `cache` bytes of KV caches.

    Parts for which the room is too small are on "disk".
    """
    import torch
    from accelerate import infer_auto_device_map
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(deepcopy(config), dtype=getattr(torch, dtype))
    undivided: list[str] = sorted(model._no_split_modules or ())
    layers = [module for module in model.modules() if type(module).__name__ in undivided]
    for layer in layers:  # counted as a part of it
        layer.register_buffer("kv_caches", torch.empty(-(-cache // len(layers)), dtype=torch.uint8, device="meta"))
    limits: Any = {gpu: int(count / SLACK) for gpu, count in room.items()}
    return infer_auto_device_map(model, limits, undivided, offload_buffers=True)


def where(device: str, placed: str) -> str:
    """The device of a family in a record; for a split family with `Placement.words`."""
    return f"{device} ({placed})" if placed else device


def is_split(model: Any) -> bool:
    """Whether transformers' model is on several devices."""
    return len(set(getattr(model, "hf_device_map", {}).values())) > 1


def _sizes(counts: Mapping[int, int]) -> str:
    return listed([f"{size(count)} on {gpu_name(gpu)}" for gpu, count in counts.items()])
