"""Load a model family: download, check, load weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

from csd.models import bigram as bigrams
from csd.models import hub
from csd.models.architecture import check_together, fill_sizes, read_config, start_token
from csd.models.backends.prepare import Prepared, prepare_models
from csd.models.backends.process import freeze_loaded_objects, prepare_process, weights_in_own_pages
from csd.models.checksums import check_shipped
from csd.models.device import memory_notes, resolve_dtype
from csd.models.family import Family
from csd.models.faults import memory_for_family
from csd.models.files import ModelFiles
from csd.models.gguf_reuse import reuse_last
from csd.models.memory import MAX_CONTEXT
from csd.models.messages import Progress, ignore
from csd.models.placement import Placement, check_room, place, resolve_home
from csd.models.reference import make_reference
from csd.models.spec import FamilySpec, ModelSpec
from csd.models.tokenizer import eos_ids, load_tokenizer, shared_vocab_size, spelling_notes, token_texts, uses_chat
from csd.record.trace import Level


@memory_for_family()
@weights_in_own_pages()
def load_family(
    spec: FamilySpec,
    device: str = "auto",
    dtype: str = "auto",
    progress: Progress = ignore,
    prepare: Callable[..., Prepared] = prepare_models,
    unknown_size: bool = True,
) -> Family:
    """Download, check and load a family. `progress` receives sentences about what is happening.

    device: "cpu", "cuda", "cuda:1", "auto", or "split" for a target over all GPUs. dtype: a key of `memory.BYTES`, or
    "auto" (float32 on a CPU, bfloat16 on a GPU), for all models whose spec leaves it open. `prepare` chooses the
    backends. Without `unknown_size`, weights whose size the Hub does not tell are not downloaded. Raises FamilyError.
    """
    started = perf_counter()
    progress("starting PyTorch")
    prepare_process()
    home = resolve_home(device)
    dtype = resolve_dtype(dtype, home)
    for model in spec.models:
        resolve_dtype(model.dtype, home)
    check_room(spec, dtype, device)  # for known sizes even before anything is downloaded
    own = spec.without_copies()
    with reuse_last("GGUFReader"):
        files = [hub.find_files(model) for model in own.models]
        check_shipped(its.folder for its in files)
        configs = [read_config(model, its) for model, its in zip(own.models, files, strict=True)]
        check_together(own.models, configs, dtype)
        own = _with_sizes(own, files, configs)
        placement = place(own.with_copies(*spec.copies), configs[0], dtype, device)
        tokenizer, tokenizer_notes = load_tokenizer(own, files)
        vocab, chat = shared_vocab_size(own, configs, tokenizer), uses_chat(own, tokenizer)
        load = partial(_load_model, own, files, configs, placement, dtype)
        models = _load_models(own, files, load, progress, unknown_size)
    counts, eos = _count_parameters(models), eos_ids(models["target"], tokenizer, vocab)
    start, reference = start_token(models["target"]), make_reference(models, load)
    contexts = {model.name: min(model.context, MAX_CONTEXT) for model in own.with_copies(*spec.copies).models}
    prepared = prepare(models, contexts, home, progress, placement.copies)
    spec = own.with_copies(*(name for name in spec.copies if name in prepared.backends))
    family = Family(
        spec=spec,
        tokenizer=tokenizer,
        levels=make_levels(spec, counts, dtype),
        backends=prepared.backends,
        costs=prepared.costs,
        contexts={model.name: contexts[model.name] for model in spec.models},
        device=home,
        dtype=spec.target.dtype_or(dtype),
        eos=eos,
        vocab=vocab,
        bigram=None,
        chat=chat,
        token_texts=token_texts(tokenizer),
        reference=reference,
        commit=files[0].version,
        start=start,
        placed=placement.words,
    )
    table, table_notes = _load_bigram(family, progress)
    notes = (
        *memory_notes(spec, dtype),
        *_quantised_notes(own, files),
        *tokenizer_notes,
        *spelling_notes(spec, tokenizer),
        *table_notes,
        *placement.notes,
        *prepared.notes,
    )
    freeze_loaded_objects()
    progress(f"ready in {perf_counter() - started:.0f} s")
    return replace(family, bigram=table, notes=(*notes, *_context_notes(contexts)))


def _with_sizes(spec: FamilySpec, files: Sequence[ModelFiles], configs: Sequence[Any]) -> FamilySpec:
    target, *drafts = (
        fill_sizes(model, config, model.parameters or hub.count_parameters(model, its))
        for model, its, config in zip(spec.models, files, configs, strict=True)
    )
    return replace(spec, target=target, drafts=tuple(drafts))


def _load_models(
    spec: FamilySpec,
    files: Sequence[ModelFiles],
    load: Callable[[str], Any],
    progress: Progress,
    unknown_size: bool,
) -> dict[str, Any]:
    """The models by name, from the weakest draft to the target. The target is loaded first."""
    loaded = {}
    for number, (model, its) in enumerate(zip(spec.models, files, strict=True), 1):
        which = f"{model.name} ({number} of {len(files)})"
        report = partial(_report_download, progress, which)
        hub.fetch_weights(model, its, report, unknown_size)
        progress(f"loading {which}")
        loaded[model.name] = load(model.name)
    return dict(reversed(loaded.items()))


def _report_download(progress: Progress, which: str, sentence: str) -> None:
    progress(f"downloading {which}: {sentence}")


def _load_model(
    spec: FamilySpec, files: Sequence[ModelFiles], configs: Sequence[Any], placement: Placement, dtype: str, name: str
) -> Any:
    """transformers' model of this name; its files must be there."""
    of_name = ((m, its, config) for m, its, config in zip(spec.models, files, configs, strict=True) if m.name == name)
    model, its, config = next(of_name)
    return hub.load_weights(model, its, config, placement.modules(name), model.dtype_or(dtype))


def _count_parameters(models: Mapping[str, Any]) -> dict[str, int]:
    return {name: model.num_parameters() for name, model in models.items()}


def make_levels(spec: FamilySpec, parameters: Mapping[str, int], dtype: str) -> tuple[Level, ...]:
    """Level 1 is the weakest draft, the target the highest level. A quantised copy has the target's `parameters`."""

    def level(number: int, model: ModelSpec) -> Level:
        count = parameters["target" if model.bits else model.name]
        return Level(model.name, number, model.id, count, model.format_or(dtype))

    return tuple(level(number, model) for number, model in enumerate(reversed(spec.models), 1))


def _load_bigram(family: Family, progress: Progress) -> tuple[Sequence[int] | None, tuple[str, ...]]:
    """The stored table; without one, on a GPU, a new one. With notes for the user."""

    def build() -> Sequence[int]:
        progress("building the bigram table (once)")
        return bigrams.build(family.reference("target"), family.vocab, opening=family.opening)

    builds = not family.spec.bigram and family.device.startswith("cuda")
    return bigrams.find_table(family.bigram_path, family.vocab, build if builds else None)


def _quantised_notes(spec: FamilySpec, files: Sequence[ModelFiles]) -> tuple[str, ...]:
    read = [(model, its.gguf) for model, its in zip(spec.models, files, strict=True) if its.gguf]
    return tuple(note for model, gguf in read if (note := gguf.note(model.name)))


def _context_notes(contexts: Mapping[str, int]) -> tuple[str, ...]:
    target = contexts["target"]
    return tuple(
        f"{name} reads {context:,} tokens and the target {target:,}; in longer texts it is skipped."
        for name, context in contexts.items()
        if context < target
    )
