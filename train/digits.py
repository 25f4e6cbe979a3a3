"""Handwritten digits: the 1,797 scans of 8 × 8 pixels included in scikit-learn.

Source: Alpaydin and Kaynak 1998, "Optical Recognition of Handwritten Digits", UCI. Augmented copies
of a digit are in the same split as the digit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, sin
from random import Random
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from train.drawing import in_bytes, normalised
from train.task import Batch

SIDE = 32  # pixels: four per scanned pixel


@cache
def scans() -> tuple[Float[Tensor, "digit row col"], Int[Tensor, " digit"]]:
    """All digits, values from 0 to 1, and which they are.

    Raises:
        ValueError: if scikit-learn, which includes them, is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ValueError(
            "the digits are part of scikit-learn, which is not installed:"
            " pip install -r requirements-dev.txt"
        ) from error
    digits: Any = load_digits()
    return torch.tensor(digits.images).float() / 16, torch.tensor(digits.target)


@dataclass(frozen=True)
class Digit:
    """One digit, possibly augmented.

    Attributes:
        number: index of the digit.
        turn: rotation in radians.
        size: scale factor.
        right: shift to the right, as a share of the image.
        down: shift down, as a share of the image.
    """

    number: int
    turn: float = 0.0
    size: float = 1.0
    right: float = 0.0
    down: float = 0.0


@dataclass(frozen=True)
class Digits:
    """Digit classification."""

    questions: ClassVar = {"Which digit is it?": tuple(map(str, range(10)))}

    @property
    def every(self) -> list[Digit]:
        """All digits, without augmentation."""
        return [Digit(number) for number in range(len(scans()[1]))]

    def draw(self, dice: Random) -> Digit:
        def some() -> float:
            return dice.uniform(-0.15, 0.15)

        number = dice.randrange(len(scans()[1]))
        return Digit(number, 1.5 * some(), 1 + some(), some(), some())

    def key(self, item: Digit) -> str:
        return str(scans()[0][item.number].tolist())

    def batch(self, items: Sequence[Digit]) -> Batch:
        answers = scans()[1][[item.number for item in items]]
        return Batch({"pixels": normalised(self.pictures(items))}, answers[:, None])

    def pictures(self, items: Sequence[Digit]) -> UInt8[Tensor, "batch channel row col"]:
        """The digits as grey images, enlarged and augmented."""
        grey = scans()[0][[item.number for item in items]][:, None]
        large = F.interpolate(grey, size=(SIDE, SIDE), mode="bilinear", align_corners=False)
        change = torch.tensor([_change(item) for item in items])
        at = F.affine_grid(change, list(large.shape), align_corners=False)
        moved = F.grid_sample(large, at, mode="bilinear", align_corners=False)
        return in_bytes(moved).expand(-1, 3, -1, -1)


def _change(item: Digit) -> list[list[float]]:
    """The affine matrix from pixels of the image to pixels of the scan."""
    c, s = cos(item.turn) / item.size, sin(item.turn) / item.size
    return [[c, -s, item.right], [s, c, item.down]]
