"""BERT checkpoints as our `Encoder`: names of settings and of weights, and nothing else.

BERT is a post-norm encoder with learned positions, two segment embeddings and a LayerNorm after
the embeddings (Devlin et al. 2019). Settings or weights that we would have to ignore, and that
change the attention, are refused by name.
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from models.encoder import EncoderConfig

ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"} | {
    "relu": "relu"
}
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
BESIDE_THE_POINT = re.compile(
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
# Weights of heads on top of the encoder, and a table of 0, 1, 2, …: left out, and said so.
LEFT_OUT = re.compile(
    r"(pooler|cls|classifier|qa_outputs|dropout)\..*|embeddings\.(position|token_type)_ids"
)


def config(settings: Mapping[str, Any]) -> EncoderConfig:
    """Our config for the contents of a BERT config.json.

    Raises:
        ValueError: for a setting that is missing, unknown, or that asks for another architecture.
    """
    missing = [name for name in SIZES if name not in settings]
    if missing:
        raise ValueError(f"config.json lacks {', '.join(missing)}")
    for name, value in settings.items():
        if name in MUST_BE and value not in (MUST_BE[name], None):
            raise ValueError(f"{name}: expected {MUST_BE[name]!r}, received {value!r}")
    known = {*SIZES, *MUST_BE, "hidden_act", "layer_norm_eps", "type_vocab_size"}
    unknown = [n for n in settings if n not in known and not BESIDE_THE_POINT.fullmatch(n)]
    if unknown:
        raise ValueError(f"config.json has settings this converter does not know: {unknown}")
    segments, eps = settings.get("type_vocab_size", 2), settings.get("layer_norm_eps", 1e-12)
    for name, value in {**{n: settings[n] for n in SIZES}, "type_vocab_size": segments}.items():
        if type(value) is not int or value < 1:
            raise ValueError(f"{name}: expected a whole number from 1, received {value!r}")
    if not isinstance(eps, int | float):
        raise ValueError(f"layer_norm_eps: expected a number, received {eps!r}")
    activation = settings.get("hidden_act", "gelu")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise ValueError(
            f"hidden_act: expected one of {list(ACTIVATIONS)}, received {activation!r}"
        )
    return EncoderConfig(
        **{ours: settings[theirs] for theirs, ours in SIZES.items()},
        activation=ACTIVATIONS[activation],
        norm="post",
        positions="learned",
        segments=segments,
        embed_norm=True,
        eps=eps,
    )


def weights(state: Mapping[str, Tensor], depth: int) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """Our names for BERT's weights.

    Args:
        state: the checkpoint, with or without a leading "bert." and with the old or the new
            names of LayerNorm's weights.
        depth: number of blocks, which bounds the layers that are accepted.

    Returns:
        The weights under our names, and the names of what was left out.

    Raises:
        ValueError: for a weight that is missing or that has no place in the encoder.
    """
    table = EMBEDDINGS | {
        f"encoder.layer.{layer}.{theirs}.{kind}": f"blocks.{layer}.{ours}.{kind}"
        for layer in range(depth)
        for theirs, ours in BLOCK.items()
        for kind in ("weight", "bias")
    }
    converted, left_out, unknown = {}, [], []
    for name, tensor in state.items():
        plain = _plain(name)
        if plain in table:
            converted[table[plain]] = tensor
        elif LEFT_OUT.fullmatch(plain):
            left_out.append(name)
        else:
            unknown.append(name)
    if unknown:
        raise ValueError(
            f"the checkpoint has weights with no place in a BERT encoder: {unknown[:5]}"
        )
    missing = [theirs for theirs, ours in table.items() if ours not in converted]
    if missing:
        raise ValueError(f"the checkpoint lacks {', '.join(missing[:5])}")
    return converted, tuple(left_out)


def _plain(name: str) -> str:
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
        "LayerNorm.beta", "LayerNorm.bias"
    )
