"""Which models are refused because of their config, and in which words."""

from __future__ import annotations

import json

import pytest
import torch
from tiny_family import refusal
from tiny_t5 import flan_t5
from transformers import T5ForConditionalGeneration

from csd.models.architecture import fill_sizes
from csd.models.catalog import find


def test_a_damaged_config(tmp_path):
    (tmp_path / "config.json").write_text("{")
    assert "config of" in refusal(str(tmp_path))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "bart", "architectures": ["BartForConditionalGeneration"]}, "only T5 and mT5"),
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "is not a causal language model"),
        ({"model_type": "vit", "architectures": ["ViTModel"]}, "is not a causal language model"),
        ({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 64}, "cannot be rewound"),
        ({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"]}, "cannot be rewound"),
        ({"model_type": "mamba", "architectures": ["MambaForCausalLM"]}, "is recurrent"),
        ({"model_type": "nobody-knows"}, "transformers does not know"),
    ],
)
def test_models_of_the_wrong_kind(tmp_path, config, said):
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert said in refusal(str(tmp_path))


@pytest.mark.parametrize("name", ["small", "base", "large", "xl", "xxl"])
def test_the_table_has_the_sizes_of_flan_t5(name):
    """Without weights: a model on the device "meta" has shapes only. Separate output heads are counted too."""
    with torch.device("meta"):
        made = T5ForConditionalGeneration(flan_t5(name))
    tied = made.lm_head.weight is made.shared.weight
    parameters = made.num_parameters() + (made.lm_head.weight.numel() if tied else 0)
    families = [find(f"FLAN-T5 {size}") for size in ("XXL", "XL", "large")]
    listed = {model.id: model for spec in families for model in spec.models}[f"google/flan-t5-{name}"]
    assert fill_sizes(listed, flan_t5(name), parameters) == listed


def test_a_window_that_is_switched_off_is_none(tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "use_sliding_window": False})
    )
    assert "tokenizer" in refusal(str(tmp_path))  # the config passes, the next thing is missing
