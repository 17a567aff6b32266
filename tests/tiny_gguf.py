"""Tiny Llamas as GGUF files, written with the format's own package, and tokenizers as the models' own tokenizer.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter
from tokenizers import Tokenizer, decoders, models, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
REST = "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"


def _byte_level(regex: bool = True) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": regex}


def _split(numbers: str) -> dict[str, Any]:
    pattern = {"Regex": CONTRACTIONS + numbers + REST}
    parts = [{"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}, _byte_level(regex=False)]
    return {"type": "Sequence", "pretokenizers": parts}


# What the Hub's tokenizer.json of GPT-2, SmolLM2, Qwen2.5 and Llama 3 say: pre-tokenizer, normalizer, ignore_merges.
HUB_RULES: dict[str, tuple[dict[str, Any], dict[str, str] | None, bool]] = {
    "gpt-2": (_byte_level(), None, False),
    "smollm": (
        {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, _byte_level()]},
        None,
        False,
    ),
    "qwen2": (_split("\\p{N}"), {"type": "NFC"}, False),
    "llama-bpe": (_split("\\p{N}{1,3}"), None, True),
}
WORDS = "the fox paid 1234 coins, 12 34 and 567\n\n1. don't  stop\r\n\n2. it's  caf\u00e9 100 \n  x = 42\n\n\n"


def hub_tokenizer(pre: str, size: int = 300) -> PreTrainedTokenizerFast:
    """A small tokenizer with the rules of a model on the Hub."""
    splitter, normalizer, whole = HUB_RULES[pre]
    alphabet = sorted(_alphabet())
    made = Tokenizer(models.BPE())
    made.decoder = decoders.ByteLevel()
    blank = json.loads(made.to_str())
    made = Tokenizer.from_str(json.dumps({**blank, "pre_tokenizer": splitter, "normalizer": normalizer}))
    special = ["<|end|>", "<|start|>"]
    made.train_from_iterator(
        [WORDS] * 3, trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=alphabet)
    )
    described = json.loads(made.to_str())
    described["model"]["ignore_merges"] = whole
    made = Tokenizer.from_str(json.dumps(described))
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>", bos_token="<|start|>")


def _alphabet() -> list[str]:
    from tokenizers import pre_tokenizers

    return pre_tokenizers.ByteLevel.alphabet()


def tiny_llama(vocab: int = 320, **config: Any) -> LlamaForCausalLM:
    """Random weights far from zero; rows of 32 numbers, so that they can be quantised."""
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    given = {"num_key_value_heads": 2, "max_position_embeddings": 64, "tie_word_embeddings": True, "eos_token_id": 0}
    torch.manual_seed(3)
    model = LlamaForCausalLM(LlamaConfig(**{**shape, **given, "vocab_size": vocab, **config})).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, 1.0 if weights.dim() == 1 else 0.0, 0.2)
    return model


def write_gguf(
    path: Path,
    llama: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    pre: str = "gpt-2",
    quantised: GGMLQuantizationType | None = None,
    tensors: dict[str, np.ndarray] | None = None,
    **metadata: Any,
) -> str:
    """Writes a model as llama.cpp's converter does: rows of q and k interleaved, tied embeddings once.

    `metadata` overrides entries of `tokenizer.ggml`, None removes one; `tensors` are added. Returns the path.
    """
    config = llama.config
    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    entries = {**tokenizer_entries(tokenizer, config.vocab_size, pre), **metadata}
    for key, value in entries.items():
        _add(writer, key if key.startswith("tokenizer.") else f"tokenizer.ggml.{key}", value)
    for name, weights in llama.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        data = interleaved(name, weights, config).numpy()
        if quantised is not None and data.ndim == 2:
            writer.add_tensor(gguf_name(name), gguf.quantize(data, quantised), raw_dtype=quantised)
        else:
            writer.add_tensor(gguf_name(name), data)
    for name, data in (tensors or {}).items():
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)


def tokenizer_entries(tokenizer: PreTrainedTokenizerFast, size: int, pre: str) -> dict[str, Any]:
    """The metadata of a byte-level tokenizer; the vocabulary is padded with unused tokens as llama.cpp does it."""
    described = json.loads(tokenizer.backend_tokenizer.to_str())
    names = {id: token for token, id in tokenizer.get_vocab().items()}
    special = set(tokenizer.all_special_ids)
    kinds = {**dict.fromkeys(names, 1), **dict.fromkeys(special, 3)}
    return {
        "model": "gpt2",
        "pre": pre,
        "tokens": [names.get(id, f"[PAD{id}]") for id in range(size)],
        "token_type": [kinds.get(id, 5) for id in range(size)],
        "merges": [" ".join(pair) for pair in described["model"]["merges"]],
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "add_bos_token": False,
    }


def gguf_name(name: str) -> str:
    stem, suffix = name.rsplit(".", 1)
    if stem.startswith("model.layers."):
        _, _, layer, part = stem.split(".", 3)
        return f"blk.{layer}.{NAMES[part]}.{suffix}"
    return f"{NAMES[stem]}.{suffix}"


def interleaved(name: str, weights: torch.Tensor, config: LlamaConfig) -> torch.Tensor:
    """Rows of q and k: transformers keeps both halves of a head apart, llama.cpp puts their pairs together."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}.get(name.split(".")[-2])
    if heads is None:
        return weights
    return weights.reshape(heads, 2, -1, weights.shape[1]).swapaxes(1, 2).reshape(weights.shape).contiguous()


def _add(writer: GGUFWriter, key: str, value: Any) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    elif value is not None:
        writer.add_array(key, value)
