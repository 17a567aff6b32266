"""Which models are refused because of their config, and in which words."""

from __future__ import annotations

import json

import pytest
from tiny_family import refusal


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
        ({"model_type": "nobody-knows"}, "config of"),
    ],
)
def test_models_of_the_wrong_kind(tmp_path, config, said):
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert said in refusal(str(tmp_path))


def test_a_window_that_is_switched_off_is_none(tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "use_sliding_window": False})
    )
    assert "tokenizer" in refusal(str(tmp_path))  # the config passes, the next thing is missing
