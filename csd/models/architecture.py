"""What a model must be to take part in a cascade: checked on its config, before any weights are loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from csd.models.damage import config_fault
from csd.models.files import ModelFiles
from csd.models.gguf_file import complete_config
from csd.models.memory import MAX_CONTEXT
from csd.models.spec import FamilyError, ModelSpec

ENCODER_DECODERS = {"t5": "T5ForConditionalGeneration", "mt5": "MT5ForConditionalGeneration"}
RELATIVE_CONTEXT = 2048  # tokens: relative positions have no end, but the bias of n tokens takes heads x n² numbers


def read_config(model: ModelSpec, files: ModelFiles) -> Any:
    """A model's config. Raises FamilyError unless it is a language model, causal or T5, whose cache can be rewound."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(**files.source)
        _check_values(config)
    except Exception as error:  # damaged ones fail in many ways
        raise FamilyError(config_fault(model, files, error)) from error
    if config.is_encoder_decoder:
        _check_encoder_decoder(model, config)
    else:
        _check_causal(model, config)
        _check_rewindable(model, config)
    return complete_config(files.gguf, config) if files.gguf else config


def _check_values(config: Any) -> None:
    """Raise ValueError for what transformers takes, and nothing can be computed with."""
    for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"):
        if getattr(config, name, None) is not None and getattr(config, name) < 1:
            raise ValueError(f"{name} is {getattr(config, name)}")
    if not all(isinstance(name, str) for name in config.architectures or ()):
        raise ValueError("architectures are not names")


def check_together(models: Sequence[ModelSpec], configs: Sequence[Any], dtype: str) -> None:
    """Raise FamilyError unless all are encoder-decoders or none is, and where T5 would run in float16."""
    target = models[0]
    for model, config in zip(models, configs, strict=True):
        if config.is_encoder_decoder != configs[0].is_encoder_decoder:
            raise FamilyError(
                f"Of {model.id} and {target.id} one is an encoder-decoder model and the other is not, so one cannot "
                "draft for the other. Choose drafts of the target's own family."
            )
        if config.is_encoder_decoder and model.dtype_or(dtype) == "float16":
            raise FamilyError(
                f"{model.id} overflows in float16, as T5 models do. Choose bfloat16 on a GPU, or float32."
            )


def _check_encoder_decoder(model: ModelSpec, config: Any) -> None:
    classes = getattr(config, "architectures", None) or [ENCODER_DECODERS.get(config.model_type)]
    if config.model_type not in ENCODER_DECODERS:
        raise FamilyError(
            f"{model.id} is an encoder-decoder model of the kind {config.model_type}. Of these only T5 and mT5 are "
            "supported. Choose one of them, or a decoder-only model."
        )
    if ENCODER_DECODERS[config.model_type] not in classes:
        raise FamilyError(f"{model.id} ({classes[0]}) does not generate text. Choose a model that does.")


def _check_causal(model: ModelSpec, config: Any) -> None:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    classes = getattr(config, "architectures", None) or ["ForCausalLM"]
    causal = any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in classes)
    if not causal or config.model_type not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        raise FamilyError(f"{model.id} ({classes[0]}) is not a causal language model. Choose one that is.")


def _check_rewindable(model: ModelSpec, config: Any) -> None:
    """Full attention in every layer: after a rejected draft the cache must be cut back to an earlier length."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    layer_types = set(getattr(config, "layer_types", None) or ()) - {"full_attention"}
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    model_class: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    recurrent = model_class._is_stateful
    if layer_types or window or recurrent:
        reason = "is recurrent" if recurrent else "has sliding-window or stateful attention"
        raise FamilyError(
            f"{model.id} {reason}: its cache cannot be rewound when a draft is rejected. "
            "Choose a model with full attention in every layer."
        )


def fill_sizes(model: ModelSpec, config: Any, parameters: int) -> ModelSpec:
    """The spec with its number of parameters, and with cache and context sizes from the config."""
    if config.is_encoder_decoder:  # a token is either in the prompt, which is cached for the decoder, or in its text
        cache = 2 * config.num_decoder_layers * config.num_heads * config.d_kv
        return replace(model, parameters=parameters, cache=cache, context=RELATIVE_CONTEXT)
    heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", 0)
    head = getattr(config, "head_dim", None) or config.hidden_size // (getattr(config, "num_attention_heads", 0) or 1)
    return replace(
        model,
        parameters=parameters,
        cache=2 * getattr(config, "num_hidden_layers", 0) * heads * head,
        context=getattr(config, "max_position_embeddings", None) or MAX_CONTEXT,
    )


def start_token(model: Any) -> int | None:
    """The id that an encoder-decoder's answer begins with; None for a decoder-only model."""
    if not model.config.is_encoder_decoder:
        return None
    start = getattr(model.generation_config, "decoder_start_token_id", None)
    return model.config.pad_token_id if start is None else start  # T5 starts with padding
