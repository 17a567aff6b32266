"""Tiny T5 models with random weights and a tokenizer, as folders: a family of encoder-decoders."""

from __future__ import annotations

import string
from pathlib import Path

import torch
from transformers import MT5Config, MT5ForConditionalGeneration, T5Config, T5ForConditionalGeneration, T5Tokenizer

ROWS = 96  # of the models' vocabularies; the tokenizer has 82, the rest is padding
SHAPE = {"d_model": 24, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2}
WORDS = ("the", "fox", "and", "owl", "said", "moon")


def t5_tokenizer() -> T5Tokenizer:
    """Letters, digits and some words, like T5's own: no line break, no braces."""
    pieces = ["\u2581", *(f"\u2581{word}" for word in WORDS), *string.ascii_letters, *string.digits, *".,?:()"]
    vocab = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((piece, -1.0 - i) for i, piece in enumerate(pieces))]
    return T5Tokenizer(vocab=vocab, extra_ids=4)


def make_t5(seed: int = 0, kind: str = "t5", dtype: torch.dtype = torch.float64, padding: float = 4.0, **config):
    """A model whose rows all differ. The padding of its vocabulary has the highest logits, so that it must be masked;
    with `padding` 0 it has none, and need not be."""
    torch.manual_seed(seed)
    made, of = (T5Config, T5ForConditionalGeneration) if kind == "t5" else (MT5Config, MT5ForConditionalGeneration)
    shape = {**SHAPE, "vocab_size": ROWS, "decoder_start_token_id": 0, "tie_word_embeddings": False, **config}
    chosen = made(**shape, feed_forward_proj="gated-gelu")
    chosen._attn_implementation = "sdpa"
    model = of(chosen).to(dtype).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, 0.2 if weights.dim() == 1 else 0.0, 0.4)
    with torch.no_grad():
        model.lm_head.weight[len(t5_tokenizer()) :] *= padding
    return model


def save_t5(folder: Path, seed: int = 0, blur: float = 0.0, **config) -> str:
    """A tiny T5 and its tokenizer. `blur` adds noise to the weights of the model with this seed: a draft of that one."""
    model = make_t5(seed, dtype=torch.float32, **config)
    torch.manual_seed(seed + 1)
    with torch.no_grad():
        for weights in model.parameters():
            weights += blur * torch.randn_like(weights)
    model.save_pretrained(folder)
    t5_tokenizer().save_pretrained(folder)
    return str(folder)


def flan_t5(name: str) -> T5Config:
    """The config of a published FLAN-T5: width, feed-forward width, layers, heads."""
    shapes = {
        "small": (512, 1024, 8, 6), "base": (768, 2048, 12, 12), "large": (1024, 2816, 24, 16),
        "xl": (2048, 5120, 24, 32), "xxl": (4096, 10240, 24, 64),
    }  # fmt: skip
    wide, between, layers, heads = shapes[name]
    return T5Config(
        vocab_size=32128, d_model=wide, d_ff=between, d_kv=64, num_layers=layers, num_heads=heads,
        feed_forward_proj="gated-gelu", tie_word_embeddings=False, decoder_start_token_id=0, n_positions=512,
    )  # fmt: skip
