"""What the colours of numbers mean: scales, their ticks, and colours that lie over a picture."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz.theme import COLOURS, Mode, diverging, rgb, sequential

INK = COLOURS["light"]  # figures are light: for paper
TICKS = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 1)
EVEN = 1.25  # of largest to mean weight, below which a map is nearly uniform
FAINTEST = 0.15  # share of the colours that is left of a uniform map


@dataclass(frozen=True)
class Scale:
    """A scale of colours; −∞ (masked) is grey, and NaN (not drawn) the background.

    Attributes:
        kind: "root" for the square root of numbers from 0 to `high`, "linear" from `low` to `high`,
            "signed" for the square root on both sides of 0.
        low: number of the first colour.
        high: number of the last colour.
        words: beside the bar.
        mode: "light" for darker colours of larger numbers, "dark" for brighter ones.
    """

    kind: Literal["root", "linear", "signed"]
    low: float
    high: float
    words: str
    mode: Mode = "light"

    def colours(self, values: np.ndarray) -> np.ndarray:
        """The colour of each number: uint8 [..., 3]."""
        seen = np.isfinite(values)
        coloured = self.ramp[self.levels(np.where(seen, values, self.low))]
        rest = np.where(np.isnan(values)[..., None], rgb(INK.background), rgb(INK.line))
        return np.where(seen[..., None], coloured, rest.astype(np.uint8))

    @property
    def ramp(self) -> np.ndarray:
        """All colours, first to last: uint8 [256, 3]."""
        crosses = self.kind == "linear" and self.low < 0 < self.high
        return (diverging if self.kind == "signed" or crosses else sequential)(self.mode)

    def levels(self, values: np.ndarray) -> np.ndarray:
        """Which of the colours each number has."""
        return np.rint(255 * np.clip(self.places(values), 0, 1)).astype(int)

    def places(self, values: np.ndarray) -> np.ndarray:
        """Where numbers stand on the bar: 0 to 1."""
        if self.kind == "linear":
            return (values - self.low) / ((self.high - self.low) or 1)
        share = np.clip(values / (self.high or 1), -1, 1)
        if self.kind == "root":
            return np.sqrt(np.maximum(share, 0))
        return (1 + np.sign(share) * np.sqrt(np.abs(share))) / 2

    def ticks(self) -> list[tuple[float, str]]:
        """Numbers below the bar, and how they are written."""
        if self.kind == "root":
            values = [t for t in TICKS if t <= self.high * 0.8 or t == self.high]
            if self.high > 1:
                values = [0.0, 0.05 * self.high, 0.25 * self.high]
            values += [] if self.high in values else [self.high]
        else:
            values = [self.low, (self.low + self.high) / 2, self.high]
        return [(value, f"{value:.3g}".replace("-", "−")) for value in values]


def weight_scale(top: float) -> Scale:
    """Of attention weights from 0 to `top`."""
    limit = "" if top == 1 else ", up to the largest shown"
    return Scale("root", 0.0, top, f"attention weight{limit} (square-root scale)")


def score_scale(values: np.ndarray) -> Scale:
    """Of scores from the smallest to the largest; as far on both sides of 0 where both occur."""
    seen = values[np.isfinite(values)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    if low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    return Scale("linear", low, high, "score before the softmax; masked ones are grey")


def scale_of(values: np.ndarray, words: str, mode: Mode = "light") -> Scale:
    """From 0 to the largest number, or on both sides of 0 where some are negative."""
    seen = values[np.isfinite(values)]
    most = float(np.abs(seen).max()) if seen.size else 1.0
    if seen.size and float(seen.min()) < 0:
        words = f"{words}, square-root scale on both sides of 0"
        return Scale("signed", -most, most, words, mode)
    return Scale("root", 0.0, most or 1.0, f"{words}, square-root scale", mode)


def change_scale(most: float, mode: Mode = "light") -> Scale:
    """Of changes of weights on both sides of 0."""
    return Scale("signed", -most, most, "change of the weight, square-root scale", mode)


# ---- over a picture


def is_nearly_uniform(weights: np.ndarray) -> bool:
    """Whether patches have about the same weight."""
    return _contrast(weights) < EVEN


def strength_of(weights: np.ndarray) -> float:
    """The share of the colours' opacity that a map keeps: little if it is uniform."""
    return min(1.0, max(FAINTEST, _contrast(weights) - 1))


def _contrast(weights: np.ndarray) -> float:
    """The largest over the mean weight, 1 for equal ones."""
    return float(weights.max() / (weights.mean() or 1)) if weights.any() else 1.0


def layer_of(values: np.ndarray, scale: Scale, strength: float = 1.0) -> np.ndarray:
    """The colour of each patch with its opacity, as in the view: uint8 "row col 4".

    Every pixel of a picture is the brighter the larger its number; of numbers on both sides of 0,
    0 leaves the picture visible.
    """
    if scale.kind == "signed":
        opacity = 60 + 180 * np.sqrt(np.abs(values) / (scale.high or 1))
    else:
        opacity = 140 + scale.levels(values) * 90 // 256
    opacity = np.rint(opacity * strength)[..., None]
    return np.concatenate([scale.colours(values), opacity], -1).astype(np.uint8)


def veiled(layer: np.ndarray, picture: np.ndarray | None, *, grey: bool = False) -> np.ndarray:
    """The picture under a layer of one pixel a patch; without one, the layer on white.

    Args:
        layer: uint8 "row col 4", with its opacity.
        picture: uint8 "row col 3".
        grey: whether the picture is grey and dim.
    """
    rows, cols = layer.shape[:2]
    if picture is None:
        return layer[..., :3]
    high, wide = picture.shape[:2]
    spread = layer[np.ix_(np.arange(high) * rows // high, np.arange(wide) * cols // wide)]
    share = spread[..., 3:] / 255
    dim = 24 + 0.7 * (picture @ np.array([0.299, 0.587, 0.114]))
    ground = dim[..., None] if grey else picture
    return np.rint(ground * (1 - share) + spread[..., :3] * share).astype(np.uint8)
