"""What a model must be to take part in a cascade: checked on its config, before any weights are loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from csd.models.catalog import MAX_CONTEXT, FamilyError, ModelSpec
from csd.models.files import ModelFiles
from csd.models.gguf_file import complete_config
from csd.models.messages import first_line


def read_config(model: ModelSpec, files: ModelFiles) -> Any:
    """A model's config. Raises FamilyError unless it is a causal language model whose KV cache can be rewound."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(**files.source)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FamilyError(f"The config of {model.id} cannot be read: {first_line(error)}") from error
    _check_causal(model, config)
    _check_rewindable(model, config)
    return complete_config(files.gguf, config) if files.gguf else config


def _check_causal(model: ModelSpec, config: Any) -> None:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    if config.is_encoder_decoder:
        raise FamilyError(f"{model.id} is an encoder-decoder model. Choose a decoder-only model.")
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
    heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", 0)
    head = getattr(config, "head_dim", None) or config.hidden_size // (getattr(config, "num_attention_heads", 0) or 1)
    return replace(
        model,
        parameters=parameters,
        cache=2 * getattr(config, "num_hidden_layers", 0) * heads * head,
        context=getattr(config, "max_position_embeddings", None) or MAX_CONTEXT,
    )
