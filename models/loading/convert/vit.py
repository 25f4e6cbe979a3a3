"""Converts ViT checkpoints to our `ViT`: names of settings and of weights.

Google's ViT is a pre-norm encoder with a class token, learned positions and patches by convolution
(Dosovitskiy et al. 2021). Settings or weights that we would have to ignore, and that change the
attention, are refused by name.
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from models.loading.convert.names import activation, check_settings, number, renamed, whole
from models.vit import ViTConfig

SIZES = {
    "hidden_size": "dim",
    "num_hidden_layers": "depth",
    "num_attention_heads": "heads",
    "intermediate_size": "mlp",
}
CHANGED = {"num_channels": 3, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "qkv_bias": True} | {
    "image_size": 224,
    "patch_size": 16,
}
MUST_BE = {
    "model_type": "vit",
    "is_decoder": False,
    "add_cross_attention": False,
    "chunk_size_feed_forward": 0,
    "pruned_heads": {},
}
# Settings of training, saving, and of heads on top: no trace of them in the network.
IGNORED_SETTINGS = re.compile(
    r"_.*|architectures|attention_probs_dropout_prob|hidden_dropout_prob|initializer_range"
    r"|gradient_checkpointing|torch_dtype|dtype|transformers_version|id2label|label2id|num_labels"
    r"|problem_type|finetuning_task|output_.*|return_dict|torchscript|tie_.*|is_encoder_decoder"
    r"|encoder_stride|pooler_.*"
)
EMBEDDINGS = {
    "embeddings.cls_token": "prefix",
    "embeddings.position_embeddings": "positions.table",
    "embeddings.patch_embeddings.projection.weight": "patches.project.weight",
    "embeddings.patch_embeddings.projection.bias": "patches.project.bias",
    "layernorm.weight": "norm.weight",
    "layernorm.bias": "norm.bias",
}
CLASSIFIER = {
    "classifier.weight": "head.layers.0.weight",
    "classifier.bias": "head.layers.0.bias",
}
BLOCK = {
    "attention.q_proj": "attention.query",
    "attention.k_proj": "attention.key",
    "attention.v_proj": "attention.value",
    "attention.o_proj": "attention.out",
    "layernorm_before": "before_attention",
    "layernorm_after": "before_feed_forward",
    "mlp.fc1": "feed_forward.up",
    "mlp.fc2": "feed_forward.down",
}
OLD = {
    "attention.attention.query.": "attention.q_proj.",
    "attention.attention.key.": "attention.k_proj.",
    "attention.attention.value.": "attention.v_proj.",
    "attention.output.dense.": "attention.o_proj.",
    "intermediate.dense.": "mlp.fc1.",
    "output.dense.": "mlp.fc2.",
}
# Weights of other heads on top: left out, and said so.
LEFT_OUT = re.compile(r"pooler\..*|decoder\..*|embeddings\.mask_token")


def config(settings: Mapping[str, Any], state: Mapping[str, Tensor]) -> ViTConfig:
    """Our config for the contents of a ViT config.json, and the classes of its classifier.

    Raises:
        ValueError: for a setting that is missing, unknown, or that asks for another architecture.
    """
    check_settings(settings, SIZES, MUST_BE, {*CHANGED}, IGNORED_SETTINGS)
    given = {name: settings.get(name, default) for name, default in CHANGED.items()}
    if type(given["qkv_bias"]) is not bool:
        raise ValueError(f"qkv_bias: expected true or false, received {given['qkv_bias']!r}")
    (high, wide), patch = (_sides(name, given[name]) for name in ("image_size", "patch_size"))
    classifier = state.get("classifier.weight")
    sizes: dict[str, Any] = {
        ours: whole(theirs, settings[theirs]) for theirs, ours in SIZES.items()
    }
    return ViTConfig(
        **sizes,
        image=(high - high % patch[0], wide - wide % patch[1]),  # theirs leaves out the rest
        patch=patch,
        channels=whole("num_channels", given["num_channels"]),
        classes=0 if classifier is None else len(classifier),
        activation=activation(given["hidden_act"]),
        patches="conv",
        qkv_bias=given["qkv_bias"],
        eps=number("layer_norm_eps", given["layer_norm_eps"]),
    )


def weights(
    state: Mapping[str, Tensor], config: ViTConfig
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """Our names for ViT's weights.

    Args:
        state: the checkpoint, with or without a leading "vit." and with the old or the new names
            of the blocks' parts.
        config: ours, which says which blocks, biases and head there have to be.

    Returns:
        The weights under our names, and the names of what was left out.

    Raises:
        ValueError: for a weight that is missing or that has no place in the network.
    """
    table = (
        EMBEDDINGS
        | (CLASSIFIER if config.layers else {})
        | {
            f"layers.{layer}.{theirs}.{kind}": f"blocks.{layer}.{ours}.{kind}"
            for layer in range(config.depth)
            for theirs, ours in BLOCK.items()
            for kind in ("weight", "bias")
            if config.qkv_bias
            or kind == "weight"
            or theirs[-6:] not in ("q_proj", "k_proj", "v_proj")
        }
    )
    converted, left_out = renamed(state, table, _plain, LEFT_OUT, "a ViT")
    for name in ("prefix", "positions.table"):
        converted[name] = converted[name].flatten(0, -2)  # theirs have an axis for the batch
    return converted, left_out


def _sides(name: str, value: Any) -> tuple[int, int]:
    sides = (value, value) if isinstance(value, int) else value
    if not isinstance(sides, list | tuple) or len(sides) != 2:
        raise ValueError(f"{name}: expected a whole number or two, received {value!r}")
    return whole(name, sides[0]), whole(name, sides[1])


def _plain(name: str) -> str:
    name = name.removeprefix("vit.").replace("encoder.layer.", "layers.")
    for old, new in OLD.items():
        if f".{old}" in name:
            return name.replace(old, new)
    return name
