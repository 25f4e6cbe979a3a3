"""Converts checkpoints of ViT and DINOv2 to our `ViT`.

Both are pre-norm encoders with a class token, learned positions and patches by convolution
(Dosovitskiy et al. 2021). DINOv2 multiplies its branches by a learned vector before they are added
(LayerScale, Touvron et al. 2021), which is folded into the layer before it, exactly:

    x + λ ∘ (W h + b) = x + (diag(λ) W) h + λ ∘ b

Source: Oquab et al. 2024, "DINOv2: Learning Robust Visual Features without Supervision".
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from models.loading.convert.names import activation, in_blocks, number, renamed, sizes_of, whole
from models.vit import ViTConfig

SIZES = {
    "hidden_size": "dim",
    "num_hidden_layers": "depth",
    "num_attention_heads": "heads",
}
USUAL: dict[str, dict[str, Any]] = {  # settings that are read, and what stands for them
    "vit": {"patch_size": 16, "layer_norm_eps": 1e-12},
    "dinov2": {"patch_size": 14, "layer_norm_eps": 1e-6, "mlp_ratio": 4},
}
BOTH = {"num_channels": 3, "hidden_act": "gelu", "qkv_bias": True, "image_size": 224}
MUST_BE: dict[str, dict[str, Any]] = {
    "vit": {"model_type": "vit"},
    "dinov2": {"model_type": "dinov2", "use_swiglu_ffn": False, "apply_layernorm": True},
}
EMBEDDINGS = {
    "embeddings.cls_token": "prefix",
    "embeddings.position_embeddings": "positions.table",
    "embeddings.patch_embeddings.projection.weight": "patches.project.weight",
    "embeddings.patch_embeddings.projection.bias": "patches.project.bias",
    "layernorm.weight": "norm.weight",
    "layernorm.bias": "norm.bias",
}
CLASSIFIER = {f"classifier.{kind}": f"head.layers.0.{kind}" for kind in ("weight", "bias")}
PROJECTIONS = {
    "attention.q_proj": "attention.query",
    "attention.k_proj": "attention.key",
    "attention.v_proj": "attention.value",
}
BLOCK = {
    "attention.o_proj": "attention.out",
    "norm1": "before_attention",
    "norm2": "before_feed_forward",
    "mlp.fc1": "feed_forward.up",
    "mlp.fc2": "feed_forward.down",
}
SCALED = {"layer_scale1": "attention.out", "layer_scale2": "feed_forward.down"}
OLD = {  # other names of the parts of a block
    "attention.attention.query.": "attention.q_proj.",
    "attention.attention.key.": "attention.k_proj.",
    "attention.attention.value.": "attention.v_proj.",
    "attention.output.dense.": "attention.o_proj.",
    "intermediate.dense.": "mlp.fc1.",
    "output.dense.": "mlp.fc2.",
    "layernorm_before.": "norm1.",
    "layernorm_after.": "norm2.",
}
# Weights of other heads on top: left out, and said so.
LEFT_OUT = re.compile(r"(pooler|decoder|classifier)\..*|embeddings\.mask_token")


def config(settings: Mapping[str, Any], state: Mapping[str, Tensor]) -> ViTConfig:
    """Our config for the contents of a config.json, and the classes of ViT's classifier.

    Raises:
        ValueError: for a setting that is missing, unknown, or that asks for another architecture.
    """
    family = settings["model_type"]
    read = BOTH | USUAL[family]
    mlp = {} if family == "dinov2" else {"intermediate_size": "mlp"}
    sizes = sizes_of(settings, SIZES | mlp, MUST_BE[family], read)
    given = {name: settings.get(name, default) for name, default in read.items()}
    if family == "dinov2":
        sizes["mlp"] = sizes["dim"] * whole("mlp_ratio", given["mlp_ratio"])
    if type(given["qkv_bias"]) is not bool:
        raise ValueError(f"qkv_bias: expected true or false, received {given['qkv_bias']!r}")
    (high, wide), patch = (_sides(name, given[name]) for name in ("image_size", "patch_size"))
    classifier = state.get("classifier.weight") if family == "vit" else None
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
    """Our names for the weights, LayerScale folded in, and the names of what was left out.

    Raises:
        ValueError: for a weight that is missing or that has no place in the network.
    """
    kinds = ("weight", "bias") if config.qkv_bias else ("weight",)
    table = EMBEDDINGS | in_blocks(config.depth, "layers", PROJECTIONS, kinds)
    table |= in_blocks(config.depth, "layers", BLOCK)
    table |= CLASSIFIER if config.layers else {}
    scaled = any(".layer_scale1." in name for name in state)
    if scaled:
        table |= in_blocks(config.depth, "layers", SCALED, ("lambda1",))
    converted, left_out = renamed(state, table, _plain, LEFT_OUT, "a DINOv2" if scaled else "a ViT")
    for name in ("prefix", "positions.table"):
        converted[name] = converted[name].flatten(0, -2)  # theirs have an axis for the batch
    for name in [name for name in converted if name.endswith(".lambda1")]:
        layer, scale = name.removesuffix(".lambda1"), converted.pop(name).float()
        converted[f"{layer}.weight"] = scale[:, None] * converted[f"{layer}.weight"].float()
        converted[f"{layer}.bias"] = scale * converted[f"{layer}.bias"].float()
    return converted, left_out


def _sides(name: str, value: Any) -> tuple[int, int]:
    sides = (value, value) if isinstance(value, int) else value
    if not isinstance(sides, list | tuple) or len(sides) != 2:
        raise ValueError(f"{name}: expected a whole number or two, received {value!r}")
    return whole(name, sides[0]), whole(name, sides[1])


def _plain(name: str) -> str:
    name = name.removeprefix("vit.").removeprefix("dinov2.").replace("encoder.layer.", "layers.")
    old = next((old for old in OLD if f".{old}" in name), None)
    return name if old is None else name.replace(old, OLD[old])
