"""Pictures of transformers models, edited before the network runs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from PIL import Image as Pillow
from torch import Tensor

from models.attention.edit_protocols import PixelsEdit
from models.inputs.pretrained import IMAGE, ModelInputs
from models.picture_grid import Box

if TYPE_CHECKING:
    from models.model import Model


def edited(model: "Model", inputs: ModelInputs, edits: Sequence[PixelsEdit]) -> ModelInputs:
    """The input with the edits of pixels, in order.

    Raises:
        ValueError: for an input without a picture whose patches are known.
    """
    for edit in edits:
        pixels, image = inputs.arguments.get(IMAGE), inputs.sequences.get("image")
        grid = None if image is None else image.grid
        if not isinstance(pixels, Tensor) or pixels.ndim != 4 or grid is None:
            raise ValueError(f"{edit}: {model.name} reads no picture here whose patches are known")
        covered = edited_within(pixels, edit, (grid.rows, grid.cols), grid.box)
        inputs = replace(inputs, arguments={**inputs.arguments, IMAGE: covered})
    return inputs


def edited_within(pixels: Tensor, edit: PixelsEdit, grid: tuple[int, int], box: Box) -> Tensor:
    """The pixels with an edit of the area that is read."""
    edited = pixels.clone()
    area = (..., *box.pixels(*pixels.shape[-2:]))
    edited[area] = edit.edit_pixels(pixels[area], grid)
    return edited


def edited_image(
    image: Pillow.Image, edits: Iterable[object], grid: tuple[int, int]
) -> Pillow.Image:
    """A preprocessed picture as the network reads it after the edits of its pixels.

    Means and blurs of colours are those of normalised numbers, which are a scale of them.

    Args:
        image: cut into patches.
        edits: of any kind.
        grid: rows and columns of patches.
    """
    changes = [edit for edit in edits if isinstance(edit, PixelsEdit)]
    if not changes:
        return image
    pixels = torch.from_numpy(np.array(image.convert("RGB"), np.float32)).movedim(-1, 0)[None]
    for edit in changes:
        pixels = edit.edit_pixels(pixels, grid)
    levels = pixels[0].movedim(0, -1).round().clamp(0, 255).to(torch.uint8)
    return Pillow.fromarray(levels.numpy())
