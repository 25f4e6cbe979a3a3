"""Converts BERT checkpoints to our `Encoder`: names of settings and of weights.

BERT is a post-norm encoder with learned positions, two segment embeddings and a LayerNorm after
the embeddings (Devlin et al. 2019). Settings or weights that we would have to ignore, and that
change the attention, are refused by name.
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from models.encoder import EncoderConfig
from models.loading.convert.names import activation, check_settings, number, renamed, whole

SIZES = {
    "vocab_size": "vocab",
    "hidden_size": "dim",
    "num_hidden_layers": "depth",
    "num_attention_heads": "heads",
    "intermediate_size": "mlp",
    "max_position_embeddings": "max_tokens",
}
MUST_BE = {
    "model_type": "bert",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
    "chunk_size_feed_forward": 0,
    "pruned_heads": {},
}
# Settings of training, saving, generating and of heads on top: no trace of them in the encoder.
IGNORED_SETTINGS = re.compile(
    r"_.*|architectures|attention_probs_dropout_prob|hidden_dropout_prob|classifier_dropout"
    r"|initializer_range|gradient_checkpointing|use_cache|.*_token_id|torch_dtype|dtype"
    r"|transformers_version|id2label|label2id|num_labels|problem_type|finetuning_task"
    r"|output_.*|return_dict|torchscript|tie_.*|is_encoder_decoder|directionality|pooler_.*"
    r"|language|name|model_max_length"
)
BLOCK = {
    "attention.self.query": "attention.query",
    "attention.self.key": "attention.key",
    "attention.self.value": "attention.value",
    "attention.output.dense": "attention.out",
    "attention.output.LayerNorm": "after_attention.norm",
    "intermediate.dense": "feed_forward.up",
    "output.dense": "feed_forward.down",
    "output.LayerNorm": "after_feed_forward.norm",
}
EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "tokens.weight",
    "embeddings.position_embeddings.weight": "positions.table",
    "embeddings.token_type_embeddings.weight": "segments.weight",
    "embeddings.LayerNorm.weight": "embed_norm.weight",
    "embeddings.LayerNorm.bias": "embed_norm.bias",
}
# Weights on top of the encoder: left out, and said so.
LEFT_OUT = re.compile(r"(pooler|cls|classifier|qa_outputs|dropout)\..*")


def config(settings: Mapping[str, Any], state: Mapping[str, Tensor]) -> EncoderConfig:
    """Our config for the contents of a BERT config.json; the weights add nothing to it.

    Raises:
        ValueError: for a setting that is missing, unknown, or that asks for another architecture.
    """
    known = {"hidden_act", "layer_norm_eps", "type_vocab_size"}
    check_settings(settings, SIZES, MUST_BE, known, IGNORED_SETTINGS)
    sizes: dict[str, Any] = {
        ours: whole(theirs, settings[theirs]) for theirs, ours in SIZES.items()
    }
    return EncoderConfig(
        **sizes,
        activation=activation(settings.get("hidden_act", "gelu")),
        norm="post",
        positions="learned",
        segments=whole("type_vocab_size", settings.get("type_vocab_size", 2)),
        embed_norm=True,
        eps=number("layer_norm_eps", settings.get("layer_norm_eps", 1e-12)),
    )


def weights(
    state: Mapping[str, Tensor], config: EncoderConfig
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """Our names for BERT's weights.

    Args:
        state: the checkpoint, with or without a leading "bert." and with the old or the new
            names of LayerNorm's weights.
        config: ours, whose depth bounds the layers that are accepted.

    Returns:
        The weights under our names, and the names of what was left out.

    Raises:
        ValueError: for a weight that is missing or that has no place in the encoder.
    """
    table = EMBEDDINGS | {
        f"encoder.layer.{layer}.{theirs}.{kind}": f"blocks.{layer}.{ours}.{kind}"
        for layer in range(config.depth)
        for theirs, ours in BLOCK.items()
        for kind in ("weight", "bias")
    }
    return renamed(state, table, _plain, LEFT_OUT, "a BERT encoder")


def _plain(name: str) -> str:
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
        "LayerNorm.beta", "LayerNorm.bias"
    )
