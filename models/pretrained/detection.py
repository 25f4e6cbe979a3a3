"""Boxes that a detection model of transformers draws, one for each of its object queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.inputs.prepare import prepare_inputs
from models.inputs.processor import image_processor
from models.pretrained.passes import run_network

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
