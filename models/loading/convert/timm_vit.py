"""Converts a vision transformer of timm that is in memory to our `ViT`.

timm has many switches: what has no place in our network is refused by name, and both networks must
give the same vectors for one picture of noise. LayerScale is folded into the matrices it scales.
"""

from typing import Any

import torch
from torch import Tensor, nn

from models.loading.convert.names import renamed
from models.preprocessing import Preprocessing, changed, default_preprocessing
from models.vit import ViT, ViTConfig

HOME, NAME = "timm.models.vision_transformer", "VisionTransformer"
ROUNDING = 1e-4  # of the largest number: float32 through some dozen blocks, in another order
EMBEDDINGS = {
    "cls_token": "prefix",
    "pos_embed": "positions.table",
    "patch_embed.proj.weight": "patches.project.weight",
    "patch_embed.proj.bias": "patches.project.bias",
    "norm.weight": "norm.weight",
    "norm.bias": "norm.bias",
}
HEAD = {f"head.{kind}": f"head.layers.0.{kind}" for kind in ("weight", "bias")}
BLOCK = {
    "norm1": "before_attention",
    "attn.query": "attention.query",
    "attn.key": "attention.key",
    "attn.value": "attention.value",
    "attn.proj": "attention.out",
    "norm2": "before_feed_forward",
    "mlp.fc1": "feed_forward.up",
    "mlp.fc2": "feed_forward.down",
}
SCALED = {"ls1.gamma": "attn.proj", "ls2.gamma": "mlp.fc2"}
READS = ("query", "key", "value")


def is_timm(module: nn.Module) -> bool:
    """Whether the module is a vision transformer of timm."""
    names = ((each.__module__, each.__name__) for each in type(module).__mro__)
    return any(home.startswith(HOME) and name == NAME for home, name in names)


def converted(module: Any) -> tuple[ViT, Preprocessing]:
    """Our network with the module's numbers, and how it reads pictures.

    Raises:
        ValueError: for weights without a place, and for a network that computes something else.
    """
    state = _plain(module.state_dict())
    config = _config(module, state)
    table = EMBEDDINGS | (HEAD if config.classes else {})
    for layer in range(config.depth):
        for theirs, ours in BLOCK.items():
            for kind in ("weight", "bias"):
                if config.qkv_bias or kind == "weight" or theirs[5:] not in READS:
                    table[f"blocks.{layer}.{theirs}.{kind}"] = f"blocks.{layer}.{ours}.{kind}"
    try:
        ours, _ = renamed(state, table, str, None, "our ViT")
    except ValueError as error:
        raise ValueError(f"{NAME} of timm: {error}") from error
    network = ViT(config).eval()
    sizes = {name: each.shape for name, each in network.state_dict().items()}
    if other := [theirs for theirs, name in table.items() if ours[name].shape != sizes[name]]:
        raise ValueError(f"{NAME} of timm: {other[0]} has another shape than in our ViT")
    network.load_state_dict({name: each.clone() for name, each in ours.items()})
    network.to(device=module.cls_token.device, dtype=module.cls_token.dtype)
    _check(module, network)
    return network, _preprocessing(module, config)


def _plain(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Queries, keys and values apart, LayerScale in the matrices, and no axis for the batch."""
    plain = dict(state)
    for name in state:
        stem, _, kind = name.rpartition(".")
        if stem.endswith(".attn.qkv"):
            for part, piece in zip(READS, plain.pop(name).chunk(3), strict=True):
                plain[f"{stem.removesuffix('qkv')}{part}.{kind}"] = piece
    for name in state:
        block = name.rpartition(".ls")[0]
        part = SCALED.get(name.removeprefix(f"{block}."))
        if part is not None:
            scale = plain.pop(name)
            plain[f"{block}.{part}.weight"] = scale[:, None] * plain[f"{block}.{part}.weight"]
            plain[f"{block}.{part}.bias"] = scale * plain[f"{block}.{part}.bias"]
    batched = {
        name: plain[name].flatten(0, -2) for name in ("cls_token", "pos_embed") if name in plain
    }
    return plain | batched


def _config(module: Any, state: dict[str, Tensor]) -> ViTConfig:
    """Our config of the same sizes."""
    pixels = state["patch_embed.proj.weight"]
    dim, channels, *patch = pixels.shape
    rows, cols = module.patch_embed.grid_size
    first = module.blocks[0]
    return ViTConfig(
        image=(rows * patch[0], cols * patch[1]),
        patch=(patch[0], patch[1]),
        channels=channels,
        dim=dim,
        depth=len(module.blocks),
        heads=first.attn.num_heads,
        mlp=len(state["blocks.0.mlp.fc1.weight"]),
        classes=len(state["head.weight"]) if "head.weight" in state else 0,
        activation=_activation(first.mlp.act),
        patches="conv",
        qkv_bias="blocks.0.attn.query.bias" in state,
        eps=first.norm1.eps,
    )


def _activation(module: nn.Module) -> str:
    """Our name for an activation; `_check` tells whether it is the same."""
    tanh = getattr(module, "approximate", "none") == "tanh"
    return "relu" if isinstance(module, nn.ReLU) else "gelu_tanh" if tanh else "gelu"


@torch.no_grad()
def _check(module: Any, network: ViT) -> None:
    """Raises ValueError unless both give the same vectors and logits for a picture of noise."""
    high, wide = network.config.image  # pyright: ignore[reportGeneralTypeIssues]
    dice = torch.Generator().manual_seed(0)
    picture = torch.randn(1, network.config.channels, high, wide, generator=dice)
    picture = picture.to(module.cls_token)
    was_training = module.training
    module.eval()
    try:
        theirs = [module.forward_features(picture), module(picture)]
    finally:
        module.train(was_training)
    output = network(picture)
    ours = [output.hidden, output.hidden[:, 0] if output.logits is None else output.logits]
    for mine, other in zip(ours, theirs, strict=True):
        apart = float("inf")
        if mine.shape == other.shape:
            apart = float((mine - other).abs().max() / other.abs().max())
        if not apart <= ROUNDING:
            raise ValueError(
                f"{type(module).__name__} of timm is not the vision transformer of this project:"
                f" its output differs by {apart:.1e} of its largest number"
            )


def _preprocessing(module: Any, config: ViTConfig) -> Preprocessing:
    """The configured size, with mean and deviation as timm states them."""
    stated = getattr(module, "pretrained_cfg", None) or getattr(module, "default_cfg", None) or {}
    mean, std = stated.get("mean"), stated.get("std")
    return changed(default_preprocessing(config), mean=mean, std=std)
