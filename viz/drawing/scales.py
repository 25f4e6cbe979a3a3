"""What the colours of numbers mean: which colour a number has, and the bar that says so."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz.drawing import parts
from viz.drawing.parts import INK, SMALL
from viz.drawing.scene import Fill, Item, Text, frame
from viz.heatmap import LEAST
from viz.theme import Mode, diverging, rgb, sequential


@dataclass(frozen=True)
class Scale:
    """A scale of colours; −∞ (masked) is grey, and NaN (not drawn) the background.

    Attributes:
        kind: "root" for the square root of numbers from 0 to `high`, "log" for decades from 10⁻⁶
            to 1, "linear" from `low` to `high`, "signed" for the square root on both sides of 0.
        low: number of the first colour.
        high: number of the last colour.
        words: beside the bar.
        mode: "light" for darker colours of larger numbers, "dark" for brighter ones.
    """

    kind: Literal["root", "log", "linear", "signed"]
    low: float
    high: float
    words: str
    mode: Mode = "light"

    def colours(self, values: np.ndarray) -> np.ndarray:
        """The colour of each number: uint8 [..., 3]."""
        seen = np.isfinite(values)
        place = self._places(np.where(seen, values, self.low))
        table = diverging(self.mode) if self._is_diverging else sequential(self.mode)
        coloured = table[np.rint(255 * np.clip(place, 0, 1)).astype(int)]
        rest = np.where(np.isnan(values)[..., None], rgb(INK.background), rgb(INK.line))
        return np.where(seen[..., None], coloured, rest.astype(np.uint8))

    @property
    def _is_diverging(self) -> bool:
        return self.kind == "signed" or (self.kind == "linear" and self.low < 0 < self.high)

    def _places(self, values: np.ndarray) -> np.ndarray:
        if self.kind == "log":
            return 1 - np.log10(np.clip(values, LEAST, 1)) / np.log10(LEAST)
        if self.kind == "root":
            return np.sqrt(np.clip(values / (self.high or 1), 0, 1))
        if self.kind == "signed":
            share = np.clip(values / (self.high or 1), -1, 1)
            return (1 + np.sign(share) * np.sqrt(np.abs(share))) / 2
        return (values - self.low) / ((self.high - self.low) or 1)

    def bar(self, x: float, y: float) -> list[Item]:
        """The colours with their numbers; 26 points high."""
        long, high, steps = 180.0, 7.0, 64
        x += 0 if self.kind == "root" else 12  # the first number is longer than a 0
        step = long / steps
        share = (np.arange(steps) + 0.5) / steps
        table = diverging(self.mode) if self._is_diverging else sequential(self.mode)
        items: list[Item] = [
            Fill(((x + i * step, y, step + (0.2 if i < steps - 1 else 0), high),), colour)
            for i, colour in enumerate(
                map(parts.hexadecimal, table[np.rint(255 * share).astype(int)])
            )
        ]
        items.append(frame((x, y, long, high), INK.line))
        for value, text in self._ticks():
            at = x + long * float(self._places(np.array(value)))
            items.append(Text(at, y + high + SMALL + 1, text, SMALL, INK.muted, "middle"))
        items.append(Text(x + long + 14, y + 6, self.words, SMALL, INK.muted))
        return items

    def _ticks(self) -> list[tuple[float, str]]:
        if self.kind == "log":
            return [(10.0**n, f"10{_raised(n)}" if n else "1") for n in (-6, -4, -2, 0)]
        if self.kind == "root":
            values = [t for t in parts.TICKS if t <= self.high * 0.8 or t == self.high]
            if self.high > 1:
                values = [0.0, 0.05 * self.high, 0.25 * self.high]
            values += [] if self.high in values else [self.high]
            return [(value, f"{value:.3g}") for value in values]
        ends = (self.low, (self.low + self.high) / 2, self.high)
        return [(end, f"{end:.3g}".replace("-", "−")) for end in ends]


def weight_scale(top: float) -> Scale:
    """Of attention weights from 0 to `top`."""
    return Scale("root", 0.0, top, parts.scale_words(top))


def score_scale(values: np.ndarray) -> Scale:
    """Of scores from the smallest to the largest; as far on both sides of 0 where both occur."""
    seen = values[np.isfinite(values)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    if low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    return Scale("linear", low, high, "score before the softmax; masked ones are grey")


def scale_of(values: np.ndarray, words: str) -> Scale:
    """From 0 to the largest number, or on both sides of 0 where some are negative."""
    seen = values[np.isfinite(values)]
    most = float(np.abs(seen).max()) if seen.size else 1.0
    if seen.size and float(seen.min()) < 0:
        return Scale("signed", -most, most, f"{words}, square-root scale on both sides of 0")
    return Scale("root", 0.0, most or 1.0, f"{words}, square-root scale")


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
