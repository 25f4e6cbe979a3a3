"""How much memory a network needs, worked out before anything is allocated."""

from dataclasses import replace
from math import prod

import torch
from torch import nn

from models.patches import pair
from models.vit import ViT, ViTConfig

NUMBER = 4  # bytes: float32
ROOM = 1.3  # measured: not all memory that is given back can be used again at once


def parameters(config: ViTConfig) -> int:
    """How many numbers the network learns."""
    with torch.device("meta"):
        network = ViT(replace(config, depth=1))
    return _numbers(network) + (config.depth - 1) * _numbers(network.blocks)


def memory_needed(config: ViTConfig, batch: int = 1) -> int:
    """The predicted peak of a traced pass in bytes: weights, what is kept, and the widest moment.

    A trace keeps queries, keys and values of every layer and, while it runs, the states between
    layers. On top comes the widest moment of a block: the hidden layer of the feed-forward network
    before and after its activation, and a few tensors as wide as the model. No map is ever formed.

    Args:
        config: of the network; its image is as large as the one that is traced.
        batch: how many images at once.
    """
    head = config.width // config.heads if config.head_dim is None else config.head_dim
    kept = config.depth * (3 * config.heads * head + config.width) + config.width
    widest = 2 * max(config.mlp, 2 * config.heads * head) + 2 * config.width
    pixels = 2 * config.channels * prod(config.grid) * prod(pair(config.patch))
    moving = batch * (config.tokens * (kept + widest) + pixels)
    return NUMBER * (parameters(config) + round(ROOM * moving))


def _numbers(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
