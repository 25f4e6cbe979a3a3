"""Patch embedding: an image as a sequence of patches, each patch a token."""

from collections.abc import Sequence
from math import prod

from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from models.checks import divisors

Sizes = tuple[int, int]
Size = int | Sizes


def pair(size: Size) -> Sizes:
    """Rows and columns; one number stands for both."""
    return (size, size) if isinstance(size, int) else size


def check_patch(image: Size, patch: Size) -> None:
    """Raises ValueError, with what would fit, unless patches cover the image exactly."""
    if min(*pair(image), *pair(patch)) < 1:
        raise ValueError(f"image, patch: expected at least 1, received {image} and {patch}")
    for side, part in zip(pair(image), pair(patch), strict=True):
        if side % part:
            raise ValueError(
                f"patch {part} does not divide image {side}: expected one of {divisors(side)}"
            )


def check_least(size: Sequence[int], patch: Sequence[int]) -> None:
    """Raises ValueError for a picture of fewer rows or columns of pixels than a patch has."""
    if any(side < least for side, least in zip(size, patch, strict=True)):
        raise ValueError(
            "the picture is smaller than a patch: expected at least"
            f" {patch[1]} × {patch[0]} pixels, received {size[1]} × {size[0]}"
        )


def cut(
    pixels: Float[Tensor, "batch channel row col"], patch: Size, order: str = "p1 p2 c"
) -> Float[Tensor, "batch patch number"]:
    """The image as patches, row by row, each flattened in this order of its axes.

    Args:
        pixels: whole patches of them.
        patch: one number or (rows, columns).
        order: of "p1" (row in the patch), "p2" (column in the patch) and "c" (channel).
    """
    high, wide = pair(patch)
    return rearrange(
        pixels,
        f"batch c (row p1) (col p2) -> batch (row col) ({order})",
        p1=high,
        p2=wide,
    )


class Patches(nn.Module):
    """Cuts an image up and projects every patch; without a width they stay as they are."""

    def __init__(
        self, patch: Size, channels: int, dim: int | None, kind: str, order: str = "p1 p2 c"
    ) -> None:
        super().__init__()
        self.patch, self.channels, self.kind, self.order = pair(patch), channels, kind, order
        numbers = channels * prod(self.patch)
        if kind == "conv" and dim is not None:
            self.project = nn.Conv2d(channels, dim, self.patch, stride=self.patch)
        else:
            self.project = nn.Identity() if dim is None else nn.Linear(numbers, dim)

    def forward(
        self, pixels: Float[Tensor, "batch channel row col"]
    ) -> tuple[Float[Tensor, "batch patch dim"], Sizes]:
        """The tokens, and how many rows and columns of patches they are."""
        grid = self.grid(pixels.shape)
        high, wide = (count * side for count, side in zip(grid, self.patch, strict=True))
        pixels = pixels[..., :high, :wide]
        if self.kind == "conv":
            return rearrange(self.project(pixels), "b dim row col -> b (row col) dim"), grid
        return self.project(cut(pixels, self.patch, self.order)), grid

    def grid(self, shape: tuple[int, ...]) -> Sizes:
        """Rows and columns of the whole patches in pixels of this shape; the rest is not read.

        Raises:
            ValueError: for other channels, and a picture that is smaller than a patch.
        """
        _, channels, high, wide = shape
        if channels != self.channels or high < 1 or wide < 1:
            raise ValueError(
                f"expected an image of {self.channels} channels, received {tuple(shape)}"
            )
        check_least((high, wide), self.patch)
        return high // self.patch[0], wide // self.patch[1]
