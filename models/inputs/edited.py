"""Pictures that are edited before the network runs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import torch
from PIL import Image as Pillow
from torch import Tensor

from models.attention.edit_protocols import PixelsEdit
from models.inputs.sequences import ModelInputs

if TYPE_CHECKING:
    from models.model import Model


def edit_pixels(model: "Model", inputs: ModelInputs, edits: Iterable[PixelsEdit]) -> None:
    """Edits the pixels among the arguments of forward, in order.

    Raises:
        ValueError: for an input without a picture whose patches are known.
    """
    name = "pixels" if model.door == "own" else "pixel_values"
    for edit in edits:
        image, pixels = inputs.sequences.get("image"), inputs.arguments.get(name)
        grid = None if image is None else image.grid
        if grid is None or not isinstance(pixels, Tensor) or pixels.ndim != 4:
            raise ValueError(f"{edit}: {model.name} reads no picture here whose patches are known")
        area = (..., *grid.box.pixels(*pixels.shape[-2:]))
        changed = pixels.clone()
        changed[area] = edit.edit_pixels(pixels[area], grid[:2])
        inputs.arguments = {**inputs.arguments, name: changed}


def edited_image(
    image: Pillow.Image, edits: Iterable[object], grid: tuple[int, int]
) -> Pillow.Image:
    """A preprocessed picture, cut into patches, as the network reads it after edits of any kind.

    Means and blurs of colours are those of normalised numbers, which are a scale of them.
    """
    changes = [edit for edit in edits if isinstance(edit, PixelsEdit)]
    if not changes:
        return image
    pixels = torch.from_numpy(np.array(image.convert("RGB"), np.float32)).movedim(-1, 0)[None]
    for edit in changes:
        pixels = edit.edit_pixels(pixels, grid)
    levels = pixels[0].movedim(0, -1).round().clamp(0, 255).to(torch.uint8)
    return Pillow.fromarray(levels.numpy())
