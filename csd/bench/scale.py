"""A family that costs what a larger one costs: its models, enlarged without changing what they compute."""

from __future__ import annotations

from dataclasses import replace

import torch
from transformers import PreTrainedModel

from csd.bench.enlarge import SHAPES, Shape, check_shape, enlarge_model
from csd.models.backends.prepare import prepare_models
from csd.models.device import check_memory, memory_notes, resolve_device, resolve_dtype
from csd.models.family import Family
from csd.models.loading import load_family, make_levels
from csd.models.messages import Progress, ignore
from csd.models.placement import SPLIT
from csd.models.reference import make_reference
from csd.models.spec import FamilyError, FamilySpec, ModelSpec


def load_scaled(
    spec: FamilySpec,
    size: str,
    device: str = "auto",
    dtype: str = "auto",
    progress: Progress = ignore,
) -> Family:
    """Load a family and enlarge it to a size of SHAPES. Raises FamilyError."""
    if size not in SHAPES:
        raise FamilyError(f"Unknown size {size!r}. Choose one of: {', '.join(SHAPES)}.")
    absent = [model.name for model in spec.without_copies().models if model.name not in SHAPES[size]]
    if absent:
        raise FamilyError(
            f"There is no {size} shape for {absent[0]} of {spec.name}. Choose the embedded family for this measurement."
        )
    if device == SPLIT:
        raise FamilyError("An enlarged family is on one device. Choose cuda.")
    device = resolve_device(device)
    dtype = resolve_dtype(dtype, device)
    return enlarge_family(
        load_family(spec, "cpu", "float32", progress), SHAPES[size], f"{size} shape", device, dtype, progress
    )


def enlarge_family(
    family: Family,
    shapes: dict[str, Shape],
    label: str,
    device: str,
    dtype: str,
    progress: Progress = ignore,
) -> Family:
    """Enlarge each model of a loaded family to the shape of its name, on one device and in one number format.

    Tokenizer, bigram table and contexts remain. Raises FamilyError where a model does not fit its shape or the memory.
    """
    own, copies = family.spec.without_copies(), family.spec.copies
    try:
        specs = {model.name: _spec(model, family.reference(model.name), shapes[model.name]) for model in own.models}
    except ValueError as error:
        raise FamilyError(f"{family.spec.name} cannot be enlarged: {error}") from error
    spec = replace(
        family.spec,
        name=f"{family.spec.name}, {label}",
        target=specs["target"],
        drafts=tuple(specs[draft.name] for draft in own.drafts),
        about=f"The {family.spec.name} family, enlarged with the same output: a measure of cost, not of quality.",
    ).with_copies(*copies)
    check_memory(spec, dtype, device)

    def enlarge(name: str) -> PreTrainedModel:
        progress(f"enlarging {name} to {shapes[name].name}")
        return enlarge_model(family.reference(name), shapes[name], device, getattr(torch, dtype))

    names = {model.name for model in own.models}
    models = {name: enlarge(name) for name in family.backends if name in names}
    counts = {name: model.num_parameters() for name, model in models.items()}
    reference = make_reference(models, enlarge)
    prepared = prepare_models(models, family.contexts, device, progress, copies)
    spec = spec.with_copies(*(name for name in copies if name in prepared.backends))
    return replace(
        family,
        spec=spec,
        levels=make_levels(spec, counts, dtype),
        reference=reference,
        backends=prepared.backends,
        costs=prepared.costs,
        device=device,
        dtype=dtype,
        notes=(spec.about, *memory_notes(spec, dtype), *family.notes, *prepared.notes),
    )


def _spec(model: ModelSpec, small: PreTrainedModel, shape: Shape) -> ModelSpec:
    check_shape(small, shape)
    config = small.config
    return replace(
        model,
        id=f"{model.id} in a {shape.name} shape",
        dtype="auto",
        parameters=shape.parameters(config.head_dim, config.vocab_size, config.tie_word_embeddings),
        cache=2 * shape.layers * shape.kv_heads * config.head_dim,
    )
