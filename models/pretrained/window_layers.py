"""Window attention of transformers that computes its weights without the attention interface.

These layers have the linear maps, the position bias and the mask of Swin in modules and arguments
that can be read from outside: while a trace runs, their recipe is built from those and their
output is replaced by that of `attend`.

Source: Liu et al. 2021, "Swin Transformer", equation 4; Liu et al. 2022, "Swin Transformer V2",
sections 3.2 and 3.3 (cosine attention, log-spaced continuous position bias).
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.attention import Dot, Pattern

LARGEST_SCALE = 100.0  # of cosines; the library clamps the logarithm
LARGEST_BIAS = 16.0  # the continuous bias is a sigmoid times this

Recipe = Callable[[nn.Module, Tensor, Tensor | None], Pattern]


def recipe_of(kind: type[nn.Module]) -> Recipe | None:
    """How the recipe of such a layer is built from its input and mask; None for other layers."""
    inside = kind.__module__.startswith("transformers.models.")
    return RECIPES.get(kind.__name__) if inside else None


def dot_windows(
    layer: nn.Module,
    states: Float[Tensor, "window slot dim"],
    mask: Float[Tensor, "image_window slot slot"] | None,
) -> Pattern:
    """Scaled dot product with a table of relative position biases."""
    q, k, v = _projected(layer, states)
    bias = _relative(layer, layer.get_parameter("relative_position_bias_table"))
    return Pattern(q, k, v, score=Dot(q.shape[-1] ** -0.5), bias=_masked(bias, mask, len(q)))


def cosine_windows(
    layer: nn.Module,
    states: Float[Tensor, "window slot dim"],
    mask: Float[Tensor, "image_window slot slot"] | None,
) -> Pattern:
    """Cosine similarity over a learned temperature, with a bias that an MLP gives to offsets.

    The library adds the mask twice (−200 in place of −100), and so does the recipe.
    """
    q, k, v = _projected(layer, states)
    scale = layer.get_parameter("logit_scale").clamp(max=math.log(LARGEST_SCALE)).exp()
    offsets = layer.get_buffer("relative_coords_table")
    table = layer.get_submodule("continuous_position_bias_mlp")(offsets).flatten(0, -2)
    bias = LARGEST_BIAS * torch.sigmoid(_relative(layer, table))
    q, k = F.normalize(q, dim=-1) * scale, F.normalize(k, dim=-1)
    twice = None if mask is None else 2 * mask
    return Pattern(q, k, v, score=Dot(1.0), bias=_masked(bias, twice, len(q)))


def _projected(layer: nn.Module, states: Tensor) -> list[Tensor]:
    """Queries, keys and values, `window head slot dim`."""
    heads = layer.num_attention_heads
    projected = [layer.get_submodule(name)(states) for name in ("query", "key", "value")]
    return [
        rearrange(x, "window slot (head dim) -> window head slot dim", head=heads)
        for x in projected
    ]


def _relative(
    layer: nn.Module, table: Float[Tensor, "offset head"]
) -> Float[Tensor, "1 head slot slot"]:
    """The bias between the slots of a window, from that of each offset."""
    index = layer.get_buffer("relative_position_index")
    return rearrange(table[index], "query key head -> 1 head query key")


def _masked(bias: Tensor, mask: Tensor | None, windows: int) -> Tensor:
    """The bias, plus the mask of each window of an image; the same for every image."""
    if mask is None:
        return bias
    return (bias + mask[:, None]).repeat(windows // len(mask), 1, 1, 1)


RECIPES: dict[str, Recipe] = {
    "Swinv2SelfAttention": cosine_windows,
    "DonutSwinSelfAttention": dot_windows,
}
