"""Sampling points of deformable attention: where each query reads the feature maps of a picture.

Source: Zhu et al. 2021 (Deformable DETR), eq. 2 and 3: a head of a query has a few points on each
level, and weights that are a softmax over these points, not over all positions. They make no map
of queries by keys; a trace names such layers as not shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from models.hooks import hooked
from models.inputs.prepare import prepare_inputs
from models.pretrained.passes import run_network

if TYPE_CHECKING:
    from models.model import Model

KERNEL = "MultiScaleDeformableAttention"  # the library's module that samples
NAMED = "deformable"  # in the name of every class that samples, however it does


@dataclass(frozen=True, eq=False)
class SamplingPoints:
    """Where one layer samples.

    Attributes:
        module: path of the layer.
        places: across and down, in shares of the picture with its padding; a point may lie outside.
        weights: of each point; those of a head and query sum to 1 over levels and points.
    """

    module: str
    places: Float[Tensor, "batch query head level point 2"]
    weights: Float[Tensor, "batch query head level point"]


@torch.no_grad()
def sampling_points(model: "Model", source: Any) -> tuple[SamplingPoints, ...]:
    """The sampling points of every deformable layer, in the order of their calls.

    Args:
        model: of the library.
        source: a picture, as for `trace`.

    Returns:
        () for a model that has none.

    Raises:
        ValueError: for a model with layers that sample in a way that is not known here, by name.
    """
    layers = {name: model.network.get_submodule(name) for name in sampling_modules(model)}
    if not layers:
        return ()
    other = {type(part).__name__ for part in layers.values() if _kernel(part) is None}
    if other:
        names = ", ".join(sorted(other))
        raise ValueError(f"{model.name} samples in a way that is not known here: {names}")
    points: list[SamplingPoints] = []

    def keep(name: str, module: nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> None:
        places, weights = (each.detach().float() for each in [*args, *kwargs.values()][4:6])
        points.append(SamplingPoints(name, places, weights))

    kernels = [(_kernel(layer), partial(keep, name)) for name, layer in layers.items()]
    with hooked(before=kernels):
        run_network(model, prepare_inputs(model, source))
    return tuple(points)


def sampling_modules(model: "Model") -> tuple[str, ...]:
    """The paths of the deformable layers, also of those that sample in a way not known here."""
    return tuple(
        name
        for name, part in model.network.named_modules()
        if NAMED in type(part).__name__.lower() and hasattr(part, "sampling_offsets")
    )


def _kernel(layer: nn.Module) -> Any:
    """The module of a layer that samples; None if it does so itself, or otherwise."""
    attention = getattr(layer, "attn", None)
    return attention if type(attention).__name__ == KERNEL else None
