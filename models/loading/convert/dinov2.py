"""Converts DINOv2 checkpoints to our `ViT`: names of settings and of weights.

DINOv2 is a pre-norm ViT whose branches are multiplied by a learned vector before they are added
(LayerScale, Touvron et al. 2021). It is folded into the layer before it, exactly:

    x + λ ∘ (W h + b) = x + (diag(λ) W) h + λ ∘ b

Source: Oquab et al. 2024, "DINOv2: Learning Robust Visual Features without Supervision".
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from models.loading.convert import vit
from models.loading.convert.names import activation, check_settings, number, renamed, whole
from models.vit import ViTConfig

SIZES = {
    "hidden_size": "dim",
    "num_hidden_layers": "depth",
    "num_attention_heads": "heads",
}
KNOWN = {"num_channels", "layer_norm_eps", "hidden_act", "qkv_bias", "image_size", "patch_size"}
KNOWN |= {"mlp_ratio"}
MUST_BE = {
    "model_type": "dinov2",
    "use_swiglu_ffn": False,
    "apply_layernorm": True,
    "chunk_size_feed_forward": 0,
}
IGNORED_SETTINGS = re.compile(
    vit.IGNORED_SETTINGS.pattern
    + r"|drop_path_rate|layerscale_value|out_features|out_indices|stage_names"
    r"|reshape_hidden_states|use_mask_token"
)
BLOCK = {
    "attention.q_proj": "attention.query",
    "attention.k_proj": "attention.key",
    "attention.v_proj": "attention.value",
    "attention.o_proj": "attention.out",
    "norm1": "before_attention",
    "norm2": "before_feed_forward",
    "mlp.fc1": "feed_forward.up",
    "mlp.fc2": "feed_forward.down",
}
SCALED = {"layer_scale1": "attention.out", "layer_scale2": "feed_forward.down"}
LEFT_OUT = re.compile(r"embeddings\.mask_token|classifier\..*")


def config(settings: Mapping[str, Any], state: Mapping[str, Tensor]) -> ViTConfig:
    """Our config for the contents of a DINOv2 config.json; the weights add nothing to it.

    Raises:
        ValueError: for a setting that is missing, unknown, or that asks for another architecture.
    """
    check_settings(settings, SIZES, MUST_BE, KNOWN, IGNORED_SETTINGS)
    sizes: dict[str, Any] = {
        ours: whole(theirs, settings[theirs]) for theirs, ours in SIZES.items()
    }
    if settings.get("qkv_bias", True) is not True:
        raise ValueError(f"qkv_bias: expected true, received {settings['qkv_bias']!r}")
    image, patch = (
        whole(name, settings.get(name, default))
        for name, default in (("image_size", 224), ("patch_size", 14))
    )
    return ViTConfig(
        **sizes,
        mlp=sizes["dim"] * whole("mlp_ratio", settings.get("mlp_ratio", 4)),
        image=image - image % patch,
        patch=patch,
        channels=whole("num_channels", settings.get("num_channels", 3)),
        classes=0,
        activation=activation(settings.get("hidden_act", "gelu")),
        patches="conv",
        eps=number("layer_norm_eps", settings.get("layer_norm_eps", 1e-6)),
    )


def weights(
    state: Mapping[str, Tensor], config: ViTConfig
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """Our names for DINOv2's weights, LayerScale folded in.

    Raises:
        ValueError: for a weight that is missing or that has no place in the network.
    """
    table = dict(vit.EMBEDDINGS)
    for layer in range(config.depth):
        theirs, ours = f"layers.{layer}", f"blocks.{layer}"
        for part, our_part in BLOCK.items():
            for kind in ("weight", "bias"):
                table[f"{theirs}.{part}.{kind}"] = f"{ours}.{our_part}.{kind}"
        for part in SCALED:
            table[f"{theirs}.{part}.lambda1"] = f"{ours}.{part}"
    converted, left_out = renamed(state, table, _plain, LEFT_OUT, "a DINOv2")
    for name in ("prefix", "positions.table"):
        converted[name] = converted[name].flatten(0, -2)  # theirs have an axis for the batch
    for layer in range(config.depth):
        for part, our_part in SCALED.items():
            scale = converted.pop(f"blocks.{layer}.{part}").float()
            name = f"blocks.{layer}.{our_part}"
            converted[f"{name}.weight"] = scale[:, None] * converted[f"{name}.weight"].float()
            converted[f"{name}.bias"] = scale * converted[f"{name}.bias"].float()
    return converted, left_out


def _plain(name: str) -> str:
    name = name.removeprefix("dinov2.").replace("encoder.layer.", "layers.")
    for old, new in vit.OLD.items():
        if f".{old}" in name and old.startswith("attention."):
            return name.replace(old, new)
    return name
