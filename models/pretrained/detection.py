"""Detection models of transformers: the box of each object query, and where deformable attention
samples.

Source of the latter: Zhu et al. 2021 (Deformable DETR), eq. 2 and 3: a head of a query has a few
points on each level, and weights that are a softmax over these points, not over all positions. They
make no map of queries by keys; a trace names such layers as not shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from models.inputs.prepare import prepare_inputs
from models.inputs.processor import image_processor
from models.pretrained.passes import run_network
from models.structure import hooked

if TYPE_CHECKING:
    from models.model import Model


@dataclass(frozen=True)
class Detection:
    """What one object query says.

    Attributes:
        name: of its likeliest class, "no object" left out.
        score: probability of that class.
        box: left, top, right and bottom, as shares of the picture's width and height.
    """

    name: str
    score: float
    box: tuple[float, float, float, float]


@torch.no_grad()
def detections(model: "Model", source: Any) -> tuple[Detection, ...]:
    """The detection of each object query in turn, by the post-processing of the model's processor.

    Each query is processed on its own, as if it were the only one of a picture: processors that
    keep the best pairs of query and class over the whole picture lose which query a box is of.

    Args:
        model: of the library.
        source: a picture, as for `trace`.

    Returns:
        () for a model that predicts no boxes.

    Raises:
        ValueError: without a processor that post-processes boxes, or with one that does not give
            one box for each query.
    """
    out = run_network(model, prepare_inputs(model, source))
    boxes, logits = getattr(out, "pred_boxes", None), getattr(out, "logits", None)
    if boxes is None or logits is None:
        return ()
    settings = None if model.preprocessing is None else model.preprocessing.processor
    processor = None if settings is None else image_processor(settings)
    if not hasattr(processor, "post_process_object_detection"):
        raise ValueError(
            f"{model.name} states no image processor that turns its output into boxes"
            " (preprocessor_config.json)"
        )
    alone = type(out)(logits=logits[0][:, None], pred_boxes=boxes[0][:, None])
    detections = processor.post_process_object_detection(  # pyright: ignore[reportOptionalMemberAccess]
        alone, threshold=-1.0, target_sizes=[(1, 1)] * len(boxes[0])
    )
    if not all(len(each["scores"]) for each in detections):
        raise ValueError(f"{model.name} does not give a box for each of its object queries")
    return tuple(_likeliest(each, model.network.config.id2label) for each in detections)


def _likeliest(detection: Mapping[str, Tensor], names: Mapping[int, str]) -> Detection:
    """The class with the highest score of all that one query gives."""
    best = int(detection["scores"].argmax())
    left, top, right, bottom = detection["boxes"][best].tolist()
    label = int(detection["labels"][best])
    name = names.get(label, f"class {label}")
    return Detection(name, float(detection["scores"][best]), (left, top, right, bottom))


# --- sampling points ----------------------------------------------------------------------------

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
