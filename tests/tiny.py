"""The measures of the tiny models that these tests make."""

from __future__ import annotations

VOCAB, CONTEXT = 37, 48
SMALL = {
    "vocab_size": VOCAB, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": CONTEXT,
}  # fmt: skip
