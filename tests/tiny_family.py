"""Tiny Llamas with tokenizers, saved as folders, and what is said when a family of them is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from csd.models.loading import load_family
from csd.models.spec import FamilyError, custom


def byte_level(
    size: int = 280, words: str = "the fox and the owl said that they had seen the moon"
) -> PreTrainedTokenizerFast:
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tok.train_from_iterator(
        [words] * 3, trainers.BpeTrainer(vocab_size=size, special_tokens=["<|end|>"], initial_alphabet=alphabet)
    )
    return PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<|end|>")


def byte_fallback() -> PreTrainedTokenizerFast:
    """Like Llama's first tokenizer: marks for spaces, bytes for what is unknown, <s> in front."""
    tokens = [
        "<unk>",
        "<s>",
        "</s>",
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "\u2581",
        *"abcdefghijklmnopqrstuvwxyz",
    ]
    merges = [("\u2581", "t"), ("h", "e"), ("\u2581t", "he"), ("o", "x"), ("f", "ox"), ("\u2581", "fox")]
    vocab = {token: id for id, token in enumerate([*tokens, *("".join(pair) for pair in merges)])}
    tok = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tok.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tok.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def save(folder: Path, tok: PreTrainedTokenizerFast, vocab: int = 320, eos: int | list[int] = 0, **config) -> str:
    """A tiny Llama with random weights and a tokenizer, as a folder."""
    shape = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(**{**shape, "vocab_size": vocab, "max_position_embeddings": 64, "eos_token_id": 0, **config})
    )
    model.generation_config.eos_token_id = eos
    model.save_pretrained(folder)
    tok.save_pretrained(folder)
    return str(folder)


def refusal(*ids: str, **options) -> str:
    with pytest.raises(FamilyError) as caught:
        load_family(custom(ids[0], ids[1:]), "cpu", **options)
    return str(caught.value)
