"""Pictures that are edited before the network runs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image as Pillow
from torch import Tensor

from models.attention.edit_protocols import PixelsEdit
from models.trace import PatchGrid

if TYPE_CHECKING:
    from models.model import Model


def edited(
    model: "Model",
    arguments: dict[str, Any],
    name: str,
    grid: PatchGrid | None,
    edits: Iterable[PixelsEdit],
) -> dict[str, Any]:
    """The arguments of forward with the edits of pixels, in order.

    Args:
        model: that reads them.
        arguments: of its forward.
        name: of the pixels among them.
        grid: of its patches; None where they are not known.
        edits: of pixels alone.

    Raises:
        ValueError: for an input without a picture whose patches are known.
    """
    for edit in edits:
        pixels = arguments.get(name)
        if not isinstance(pixels, Tensor) or pixels.ndim != 4 or grid is None:
            raise ValueError(f"{edit}: {model.name} reads no picture here whose patches are known")
        area = (..., *grid.box.pixels(*pixels.shape[-2:]))
        changed = pixels.clone()
        changed[area] = edit.edit_pixels(pixels[area], grid[:2])
        arguments = {**arguments, name: changed}
    return arguments


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
