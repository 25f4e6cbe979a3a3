"""Converts BERT checkpoints to our `Encoder`.

BERT is a post-norm encoder with learned positions, two segment embeddings and a LayerNorm after
the embeddings (Devlin et al. 2019).
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from models.encoder import EncoderConfig
from models.loading.convert.names import activation, in_blocks, number, renamed, sizes_of, whole

SIZES = {
    "vocab_size": "vocab",
    "hidden_size": "dim",
    "num_hidden_layers": "depth",
    "num_attention_heads": "heads",
    "intermediate_size": "mlp",
    "max_position_embeddings": "max_tokens",
}
MUST_BE = {"model_type": "bert", "position_embedding_type": "absolute"}
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
    known = ("hidden_act", "layer_norm_eps", "type_vocab_size")
    return EncoderConfig(
        **sizes_of(settings, SIZES, MUST_BE, known),
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
    """Our names for BERT's weights, and the names of what was left out.

    Raises:
        ValueError: for a weight that is missing or that has no place in the encoder.
    """
    table = EMBEDDINGS | in_blocks(config.depth, "encoder.layer", BLOCK)
    return renamed(state, table, _plain, LEFT_OUT, "a BERT encoder")


def _plain(name: str) -> str:
    """Without the leading "bert." and with the new names of LayerNorm's weights."""
    name = name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight")
    return name.replace("LayerNorm.beta", "LayerNorm.bias")
