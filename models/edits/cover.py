"""`Cover`: parts of a picture covered before the network runs.

Source of the blurred cover: Petsiuk et al. 2018, "RISE", section 4.3.
"""

from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from models.edits.fields import Numbers, checked, choice, chosen, edit, numbers, some
from models.edits.routing import INPUT

Pixels = Float[Tensor, "batch channel row col"]
Grid = tuple[int, int]


@edit
class Cover:
    """Covers patches of a picture before the network sees it.

    Attributes:
        patch: which patches, by their numbers row by row; None for all.
        how: "mean", the mean colour of the picture, or "blur".
    """

    acts_on: ClassVar[str] = INPUT
    patch: Numbers
    how: Literal["mean", "blur"] = "mean"

    def __post_init__(self) -> None:
        choice("how", self.how, ("mean", "blur"))
        checked(self, numbers, "patch")

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        become = {"mean": "set to the mean colour of the picture", "blur": "blurred"}
        who = some(self.patch, "patch").replace("patchs", "patches")
        verb = "are" if isinstance(self.patch, tuple) and len(self.patch) != 1 else "is"
        return f"Input: {who} {verb} {become[self.how]}."

    def edit_pixels(self, pixels: Pixels, grid: Grid) -> Pixels:
        """The picture with the patches covered."""
        patches = chosen(self.patch, grid[0] * grid[1], "patch")
        cover = _blurred(pixels, grid) if self.how == "blur" else pixels.mean((2, 3), keepdim=True)
        cover, edited = cover.expand_as(pixels), pixels.clone()
        for patch in range(grid[0] * grid[1]) if patches is None else patches:
            part = _part(patch, pixels, grid)
            edited[:, :, *part] = cover[:, :, *part]
        return edited


def _part(patch: int, pixels: Pixels, grid: Grid) -> tuple[slice, slice]:
    """The pixels of a patch."""
    chosen(patch, grid[0] * grid[1], "patch")  # which says what is not there
    high, wide = pixels.shape[2] // grid[0], pixels.shape[3] // grid[1]
    row, col = divmod(patch, grid[1])
    return slice(row * high, (row + 1) * high), slice(col * wide, (col + 1) * wide)


def _blurred(pixels: Pixels, grid: Grid) -> Pixels:
    """The picture through a Gaussian whose deviation is a patch; edges are repeated."""
    for axis, count in ((2, grid[0]), (3, grid[1])):
        size = pixels.shape[axis] // count
        place = torch.arange(-2 * size, 2 * size + 1, device=pixels.device, dtype=pixels.dtype)
        kernel = torch.exp(-(place**2) / (2 * size**2))
        kernel = (kernel / kernel.sum()).view(1, 1, -1)
        rows = pixels.movedim(axis, -1)
        flat = F.pad(rows.flatten(0, -2)[:, None], (2 * size, 2 * size), mode="replicate")
        pixels = F.conv1d(flat, kernel)[:, 0].view(rows.shape).movedim(-1, axis)
    return pixels
