"""A family of models, opened: fetched, checked, loaded, and ready to give sessions."""

from __future__ import annotations

import gc
import json
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from csd.models import bigram as bigrams
from csd.models.catalog import (
    BYTES,
    LANES,
    LONGEST,
    READY,
    FamilyError,
    FamilySpec,
    ModelSpec,
    custom,
    find,
    memory_needed,
    size,
)
from csd.models.pieces import Speller, speller
from csd.paths import ROOT
from csd.record.trace import Level

if TYPE_CHECKING:
    from csd.models.session import Run, Session

__all__ = [
    "READY", "Family", "FamilyError", "FamilySpec", "ModelSpec", "custom", "find", "memory_free", "memory_needed",
    "open_family",
]  # fmt: skip

SAMPLE = "The quick brown fox paid 3.14 coins.\n    def jump(x): return 'über' + x  # \u00e9\u20ac\U0001f600"
NO_BIGRAM = "Max-Gram runs without its bigram end: on a CPU that table is not built by itself; `python -m csd bigram` builds it."
SMALL = ("*.json", "*.model", "*.txt", "*.jinja")  # what a repository holds besides weights


@dataclass(frozen=True)
class Family:
    """Loaded models over one tokenizer, for as many lanes as one likes.

    `levels` and `models` run from the weakest draft to the target. `vocab` is the shared size of the vocabulary, `eos` the
    set of ids that end a text, `context` the tokens that the target reads; `lanes` gives a model over an empty cache,
    called with the lane's capacity, `costs` the measured seconds of its runs by width. `notes` are sentences for the page.
    """

    spec: FamilySpec
    tokenizer: Any
    levels: tuple[Level, ...]
    models: dict[str, Any]
    lanes: dict[str, Callable[[int], Run]]
    costs: dict[str, tuple[float, ...]]
    contexts: dict[str, int]
    device: str
    dtype: str
    eos: frozenset[int]
    vocab: int
    bigram: Sequence[int] | None
    chat: bool
    speller: Speller
    commit: str = ""
    opening: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def context(self) -> int:
        return self.contexts["target"]

    @property
    def draft_names(self) -> tuple[str, ...]:
        """The drafts, strongest first."""
        return tuple(level.name for level in reversed(self.levels[:-1]))

    def encode(self, text: str) -> tuple[int, ...]:
        """The ids of a prompt: a user's turn where the family chats, else the plain text; special tokens as usual."""
        if self.chat and not self.spec.turn:
            turn = [{"role": "user", "content": text}]
            return tuple(
                self.tokenizer.apply_chat_template(
                    turn, add_generation_prompt=True, tokenize=True, return_dict=False, enable_thinking=False
                )
            )
        if self.chat:
            text = self.spec.turn.replace("{}", text)
        return tuple(self.tokenizer(text)["input_ids"])

    def encode_plain(self, text: str) -> tuple[int, ...]:
        """The ids of a piece of text by itself, without special tokens and without a chat turn."""
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def pieces(self, ids: Iterable[int]) -> dict[int, str | tuple[int, ...]]:
        """The text of each id, or the bytes of an id that is only a part of a character."""
        return self.speller.pieces(ids)

    def session(self, name: str, capacity: int) -> Session:
        """A fresh, empty session over one of the models: one lane's view of it, for texts of up to `capacity` tokens."""
        from csd.models.session import Session

        return Session(name, self.lanes[name](capacity), self.vocab, self.contexts[name], self.costs[name])


def load_family(
    spec: FamilySpec,
    device: str = "auto",
    dtype: str = "auto",
    progress: Callable[[str], None] = lambda sentence: None,
) -> Family:
    """Fetches, checks and loads a family. `progress` is told in sentences what happens.

    device: "cpu", "cuda", "cuda:1", or "auto"; dtype: a key of BYTES, or "auto" (float32 on a CPU, bfloat16 on a GPU), for
    all models whose spec leaves it open. Raises FamilyError.
    """
    started = perf_counter()
    gc.unfreeze()
    progress("starting PyTorch")
    # Read by OpenMP when torch is imported: threads that wait for each other soon sleep instead of spinning. Where a
    # browser draws on the same cores, spinning threads starve each other (measured: a tenth of the speed).
    os.environ.setdefault("GOMP_SPINCOUNT", "20000")
    device = device_named(device)
    dtype = dtype_named(dtype, device)
    for model in spec.models:
        if model.dtype != "auto":
            dtype_named(model.dtype, device)
    fits(spec, dtype, device)
    folders = [_folder(model) for model in spec.models]
    configs = [_config(model, folder) for model, folder in zip(spec.models, folders)]
    sized = tuple(map(_measured, spec.models, folders, configs))
    spec = replace(spec, target=sized[0], drafts=sized[1:])
    notes = fits(spec, dtype, device)
    tokenizer, remarks = _tokenizer(spec, folders)
    vocab = _vocab(spec, configs, tokenizer)
    chat = _chats(spec, tokenizer)
    loaded = []
    for number, (model, folder) in enumerate(zip(spec.models, folders), 1):
        of = f"{model.name} ({number} of {len(folders)})"
        _fetch_weights(model, folder, lambda sentence, of=of: progress(f"downloading {of}: {sentence}"))
        progress(f"loading {of}")
        loaded.append(_load(model, folder, device, _own(model, dtype)))
    models = {model.name: weights for model, weights in zip(reversed(spec.models), reversed(loaded))}
    contexts = {model.name: min(model.context, LONGEST) for model in spec.models}
    lanes, said = runners(models, contexts, progress)
    progress("measuring what a run costs")
    family = Family(
        spec=spec,
        tokenizer=tokenizer,
        levels=_levels(spec, loaded, dtype),
        models=models,
        lanes=lanes,
        costs=measured(lanes, contexts, device),
        contexts=contexts,
        device=device,
        dtype=_own(spec.target, dtype),
        eos=_eos(loaded[0], tokenizer, vocab),
        vocab=vocab,
        bigram=None,
        chat=chat,
        speller=speller(tokenizer),
        commit=_commit(folders[0], spec.target),
        opening=tuple(tokenizer("")["input_ids"]),
    )
    table = _bigram(family, progress)
    if table is None:
        remarks += (NO_BIGRAM,)
    # What was imported and loaded stays: a collector that looked through it would stop a lane for many milliseconds.
    gc.collect()
    gc.freeze()
    progress(f"ready in {perf_counter() - started:.0f} s")
    return replace(family, bigram=table, notes=notes + remarks + said + _context_notes(family.contexts))


def runners(
    models: dict[str, Any], contexts: dict[str, int], progress: Callable[[str], None] = lambda sentence: None
) -> tuple[dict[str, Callable[[int], Run]], tuple[str, ...]]:
    """What runs each model, called with a lane's capacity; and sentences about what did not work."""
    lanes, notes = {}, ()
    for name, weights in models.items():
        progress(f"preparing {name}")
        lanes[name], said = _lane(name, weights, contexts[name])
        notes += said
    return lanes, notes


def measured(
    lanes: dict[str, Callable[[int], Run]], contexts: dict[str, int], device: str
) -> dict[str, tuple[float, ...]]:
    """What each model's runs cost by width, in seconds; before that, on a CPU, the number of threads is chosen.

    It also warms them up: kernels are chosen at a width's first run, and that belongs before the clocks.
    """
    import torch

    from csd.models.backends import costs

    if device == "cpu":
        allowed = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        most = int(allowed) if allowed.isdigit() and int(allowed) else os.cpu_count() or 1
        torch.set_num_threads(costs.best_threads(lanes["target"], contexts["target"], most))
    return costs.measured(lanes, contexts)


def _lane(name: str, weights: Any, context: int) -> tuple[Callable[[int], Run], tuple[str, ...]]:
    """On a GPU recorded graphs, on a CPU the lean forward where it fits, else transformers' own."""
    from csd.models.backends import cuda_graphs as graphs
    from csd.models.backends import eager
    from csd.models.backends import llama_cpu as llama

    if weights.device.type == "cuda":
        return graphs.ready(name, weights, context, LANES)
    lean = llama.lean(weights)
    return (lean.lane if lean else partial(eager.lane, weights)), ()


# --- device and memory -------------------------------------------------------------------------------------------------


def device_named(device: str) -> str:
    """The device meant by a name, "auto" among them. Raises FamilyError for one that is not there."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind, index = torch.device(device).type, torch.device(device).index or 0
    except RuntimeError:
        kind, index = "", 0
    if kind not in ("cpu", "cuda"):
        raise FamilyError(f"There is no device called {device!r}. Choose cpu, cuda, cuda:0 or auto.")
    if kind == "cuda" and index >= torch.cuda.device_count():
        raise FamilyError(f"This machine has no GPU {device!r} that PyTorch can use. Choose cpu or auto.")
    return device


def dtype_named(dtype: str, device: str) -> str:
    """The number format meant by a name, "auto" among them. Raises FamilyError for an unknown one."""
    if dtype == "auto":
        return "bfloat16" if device.startswith("cuda") else "float32"
    if dtype not in BYTES:
        raise FamilyError(f"There is no number format called {dtype!r}. Choose one of: auto, {', '.join(BYTES)}.")
    return dtype


def _own(model: ModelSpec, dtype: str) -> str:
    return dtype if model.dtype == "auto" else model.dtype


def memory_free(device: str) -> int | None:
    """Bytes that a device still has; on a CPU no more than a container's limit leaves. None where that cannot be read."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.mem_get_info(device)[0]
    left = [figure for figure in (_available(), _container()) if figure is not None]
    return min(left) if left else None


def _available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What a control group's limit leaves; file caches count as free."""
    try:
        limit, used = int((root / "memory.max").read_text()), int((root / "memory.current").read_text())
        stat = dict(line.split() for line in (root / "memory.stat").read_text().splitlines())
        return limit - used + int(stat.get("inactive_file", 0))
    except (OSError, ValueError):  # no limit reads "max"
        return None


def fits(spec: FamilySpec, dtype: str, device: str) -> tuple[str, ...]:
    """Refuses a family that the device cannot hold; returns a note where that is not known."""
    needed, free = memory_needed(spec, dtype), memory_free(device)
    if needed is None:
        return ("How much memory this family needs is not known; loading goes on without that check.",)
    if free is not None and needed > free:
        raise FamilyError(
            f"{spec.name} needs about {size(needed)} in {dtype}, and {device} has {size(free)} free. "
            "Choose a smaller family or a smaller number format, or free some memory."
        )
    return ()


# --- what a model is, before its weights -------------------------------------------------------------------------------


@contextmanager
def _hub(model: ModelSpec) -> Iterator[None]:
    """Turns what the Hub answers into sentences."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise FamilyError(
            f"{model.id} is gated. Accept its licence at https://huggingface.co/{model.id}, log in with `hf auth login`, "
            "and try again."
        ) from error
    except errors.RevisionNotFoundError as error:
        raise FamilyError(
            f"{model.id} has no revision called {model.revision!r}. Leave it out, or name another."
        ) from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise FamilyError(
            f"There is no model {model.id!r}: it is no folder here, and the Hugging Face Hub does not know it or keeps it "
            "private. Check the spelling, or log in with `hf auth login`."
        ) from error
    except Exception as error:  # the HTTP client's own errors differ between versions of huggingface_hub
        raise FamilyError(
            f"{model.id} could not be fetched: the Hugging Face Hub cannot be reached, and the model is not in the local "
            "cache. Check the network, or choose the embedded family."
        ) from error


def _local(id: str) -> Path | None:
    """A folder as given, or one that comes with this project."""
    return next((path for path in (Path(id).expanduser(), ROOT / id) if path.is_dir()), None)


def _folder(model: ModelSpec) -> Path:
    """The folder with a model's config and tokenizer, fetched from the Hub unless it is here; weights come later."""
    folder = _local(model.id)
    if folder is None:
        from huggingface_hub import snapshot_download

        with _hub(model):
            folder = Path(
                snapshot_download(model.id, revision=model.revision, allow_patterns=SMALL, ignore_patterns=["*/*"])
            )
    if not (folder / "config.json").is_file():
        raise FamilyError(
            f"{model.id} holds no model: config.json is missing. Give a folder or an id of a language model."
        )
    return folder


def _commit(folder: Path, model: ModelSpec) -> str:
    """What tells one state of a model from another: the Hub's commit, else when its files changed last."""
    if _local(model.id) is None:
        return folder.name  # snapshots are kept under their commit
    return str(max(path.stat().st_mtime_ns for path in folder.iterdir()))


def _config(model: ModelSpec, folder: Path) -> Any:
    """The model's config; refuses what cannot draft or be drafted for."""
    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FamilyError(f"The config of {model.id} cannot be read: {_line(error)}") from error
    if config.is_encoder_decoder:
        raise FamilyError(f"{model.id} is an encoder-decoder model. Choose a decoder-only one.")
    heads = getattr(config, "architectures", None) or ["ForCausalLM"]
    causal = any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in heads)
    if not causal or config.model_type not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        raise FamilyError(
            f"{model.id} ({heads[0]}) does not write text from left to right. Choose a causal language model."
        )
    kinds = set(getattr(config, "layer_types", None) or ()) - {"full_attention"}
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    recurrent = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]._is_stateful
    if kinds or window or recurrent:
        reason = "is recurrent" if recurrent else "attends to a window that slides or keeps a state"
        raise FamilyError(
            f"{model.id} {reason}: its cache cannot be rewound when a draft is rejected. "
            "Choose a model with full attention in every layer."
        )
    return config


def _measured(model: ModelSpec, folder: Path, config: Any) -> ModelSpec:
    """The spec with its sizes filled in from the config and from what the safetensors headers say."""
    heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", 0)
    head = getattr(config, "head_dim", None) or config.hidden_size // (getattr(config, "num_attention_heads", 0) or 1)
    return replace(
        model,
        parameters=model.parameters or _stored(model, folder),
        cache=2 * getattr(config, "num_hidden_layers", 0) * heads * head,
        context=getattr(config, "max_position_embeddings", None) or LONGEST,
    )


def _stored(model: ModelSpec, folder: Path) -> int:
    """How many numbers the weight files hold; 0 where nobody says so."""
    if _local(model.id) is not None:
        return sum(map(_numbers, folder.glob("*.safetensors")))
    from huggingface_hub import get_safetensors_metadata

    try:
        with _hub(model):
            return sum(get_safetensors_metadata(model.id, revision=folder.name).parameter_count.values())
    except FamilyError:  # no safetensors, no network: the size stays unknown, and a note says so
        return 0


def _numbers(file: Path) -> int:
    """The size of a safetensors file in numbers: its header is 8 bytes of length, then JSON."""
    with file.open("rb") as stream:
        head = stream.read(8)
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
        try:
            tensors = json.loads(stream.read(min(length, 100 * 2**20)))
        except ValueError:
            return 0
    total = 0
    for name, tensor in tensors.items():
        if name != "__metadata__":
            count = 1
            for width in tensor["shape"]:
                count *= width
            total += count
    return total


# --- tokenizer ---------------------------------------------------------------------------------------------------------


def _tokenizer(spec: FamilySpec, folders: Sequence[Path]) -> tuple[Any, tuple[str, ...]]:
    """The target's tokenizer, compared with those of the drafts; and notes."""
    if spec.tokenizer:
        return _read_tokenizer(spec.tokenizer, _local(spec.tokenizer)), ()
    tokenizer = _read_tokenizer(spec.target.id, folders[0])
    notes = []
    for draft, folder in zip(spec.drafts, folders[1:]):
        other = _read_tokenizer(draft.id, folder)
        if not _same_vocabulary(tokenizer, other):
            raise FamilyError(
                f"{draft.id} and {spec.target.id} have different tokenizers, so one cannot draft for the other. "
                "Choose drafts of the target's own family."
            )
        if _plain(tokenizer, SAMPLE) != _plain(other, SAMPLE):
            notes.append(f"{draft.name} splits text otherwise than the target; fewer of its tokens may be accepted.")
    return tokenizer, tuple(notes)


def _read_tokenizer(id: str, folder: Path | None) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # missing files and damaged ones fail in many ways
        raise FamilyError(f"The tokenizer of {id} cannot be read: {_line(error)}") from error
    if not _plain(tokenizer, SAMPLE):  # what transformers makes of some folders without tokenizer files
        raise FamilyError(f"The tokenizer of {id} is empty: its files, such as tokenizer.json, are missing.")
    return tokenizer


def _same_vocabulary(one: Any, other: Any) -> bool:
    """Equal ids for all ordinary tokens, and for those added tokens that both have."""
    first, second = one.get_vocab(), other.get_vocab()
    added = one.get_added_vocab().keys() | other.get_added_vocab().keys()
    ordinary = all(second.get(token) == id for token, id in first.items() if token not in added)
    ordinary = ordinary and all(token in first for token in second if token not in added)
    return ordinary and all(first[token] == second[token] for token in added if token in first and token in second)


def _plain(tokenizer: Any, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def _vocab(spec: FamilySpec, configs: Sequence[Any], tokenizer: Any) -> int:
    """The smallest vocabulary of the models; models of one family may pad theirs differently."""
    needed = max(tokenizer.get_vocab().values()) + 1
    for model, config in zip(spec.models, configs):
        if config.vocab_size < needed:
            raise FamilyError(
                f"{model.id} knows {config.vocab_size:,} tokens, and the tokenizer has {needed:,}. "
                "Choose models of one family, over one tokenizer."
            )
    return min(config.vocab_size for config in configs)


def _chats(spec: FamilySpec, tokenizer: Any) -> bool:
    template = bool(getattr(tokenizer, "chat_template", None))
    if spec.chat and not (template or spec.turn):
        raise FamilyError(f"{spec.target.id} has no chat template. Open it as a base family, with plain prompts.")
    return template if spec.chat is None else spec.chat


def _eos(model: Any, tokenizer: Any, vocab: int) -> frozenset[int]:
    """The ids that end a text: those of the generation config and the tokenizer's own."""
    ends = getattr(model.generation_config, "eos_token_id", None)
    listed = ends if isinstance(ends, (list, tuple)) else [ends]
    return frozenset(id for id in (*listed, tokenizer.eos_token_id) if id is not None and id < vocab)


# --- weights -----------------------------------------------------------------------------------------------------------


def _weight_files(folder: Path) -> list[str]:
    """The names of a model's weight files, as far as its index tells; safetensors before pickles."""
    for index in ("model.safetensors.index.json", "pytorch_model.bin.index.json"):
        if (folder / index).is_file():
            return sorted(set(json.loads((folder / index).read_text())["weight_map"].values()))
    return []


def _fetch_weights(model: ModelSpec, folder: Path, progress: Callable[[str], None]) -> None:
    """Brings a model's weights next to its config, file by file; nothing to do for a local folder."""
    if _local(model.id) is not None:
        found = any((folder / name).is_file() for name in ("model.safetensors", "pytorch_model.bin"))
        if not found and not all((folder / name).is_file() for name in _weight_files(folder) or ["model.safetensors"]):
            raise FamilyError(f"The folder {model.id} holds no complete weights (model.safetensors or its parts).")
        return
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError, RemoteEntryNotFoundError

    names = _weight_files(folder)
    with _hub(model):
        for number, name in enumerate(names, 1):
            progress(f"file {number} of {len(names)}")
            hf_hub_download(model.id, name, revision=folder.name)
        if names:
            return
        progress("one file")
        try:
            hf_hub_download(model.id, "model.safetensors", revision=folder.name)
        except RemoteEntryNotFoundError:
            hf_hub_download(model.id, "pytorch_model.bin", revision=folder.name)
        except LocalEntryNotFoundError:
            hf_hub_download(model.id, "pytorch_model.bin", revision=folder.name, local_files_only=True)


def _load(model: ModelSpec, folder: Path, device: str, dtype: str) -> Any:
    """One model on one device, for reading only; refuses weights that do not fill it."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_float32_matmul_precision("highest")  # no TF32: fp32 means fp32
    try:
        weights, report = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=getattr(torch, dtype),
            device_map={"": device},
            attn_implementation="sdpa",
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:  # damaged files and full devices fail in many ways
        raise FamilyError(f"{model.id} could not be loaded: {_line(error)}") from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise FamilyError(f"The weights of {model.id} are incomplete: {missing[0]} and perhaps more are missing.")
    return weights.eval().requires_grad_(False)


def _levels(spec: FamilySpec, loaded: Sequence[Any], dtype: str) -> tuple[Level, ...]:
    """Level 1 is the weakest draft, the target stands highest."""
    pairs = list(zip(spec.models, loaded))[::-1]
    return tuple(
        Level(model.name, number, model.id, weights.num_parameters(), _own(model, dtype))
        for number, (model, weights) in enumerate(pairs, 1)
    )


def _bigram(family: Family, progress: Callable[[str], None]) -> Sequence[int] | None:
    """The ready table, else the kept one, else on a GPU a new one, kept for the next time."""
    if family.spec.bigram:
        return bigrams.read(ROOT / family.spec.bigram, family.vocab)
    place = bigrams.cached(family.spec.target, family.commit, family.vocab)
    table = bigrams.read(place, family.vocab)
    if table is None and family.device.startswith("cuda"):
        progress("building the bigram table (once)")
        table = bigrams.build(family.models["target"], family.vocab, before=family.opening)
        try:
            bigrams.save(table, place)
        except OSError:  # a cache folder that cannot be written costs the next start some seconds, no more
            pass
    return table


def _context_notes(contexts: dict[str, int]) -> tuple[str, ...]:
    target = contexts["target"]
    return tuple(
        f"{name} reads {context:,} tokens and the target {target:,}; beyond that it is skipped."
        for name, context in contexts.items()
        if context < target
    )


def _line(error: BaseException) -> str:
    """The first line of an error, short enough for a page."""
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__)[:300]


open_family = load_family
