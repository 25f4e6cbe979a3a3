"""A traced picture made from plain arrays, answered for by the app's own API code."""

from typing import Any

import numpy as np
import torch
from PIL import Image

from models.inputs.layout import Layout
from models.trace import Output, Site, Trace
from tests.browser.explorer_pages import Traced, pattern_of, peaked
from viz.api.entries import TraceEntry


class Source(Traced):
    """A picture and weights "layer head query key"; patches are square."""

    def __init__(
        self, weights: np.ndarray, grid: tuple[int, int], *, registers: int = 0, patch: int = 8
    ) -> None:
        self.array, self.grid = weights.astype(np.float32), grid
        before = ("[CLS]", *(f"register {i}" for i in range(registers)))
        shown = Trace(
            "ViT of a test",
            trained=False,
            tokens=Layout(*grid, before=before).tokens(1),
            sites=tuple(Site(i, "self", *each.shape) for i, each in enumerate(self.array)),
            output=Output("hidden states", torch.zeros(1, self.array.shape[-1], 1)),
            patterns=tuple(map(pattern_of, self.array)),
            grid=grid,
            prefix=len(before),
        )
        picture = gradient((grid[1] * patch, grid[0] * patch))
        super().__init__(TraceEntry(shown, pictures=(picture,), patches=True))


def random_source(layers: int, heads: int, grid: tuple[int, int], **more: Any) -> Source:
    """Rows that sum to 1, peaked as real ones are."""
    tokens = 1 + more.get("registers", 0) + grid[0] * grid[1]
    return Source(peaked(layers, heads, tokens, sharp=1.5), grid, **more)


def gradient(size: tuple[int, int]) -> Image.Image:
    """Red grows to the right, green downwards."""
    down, right = np.mgrid[0 : size[1], 0 : size[0]]
    pixels = np.stack([right * 255 // size[0], down * 255 // size[1], 0 * down + 90], -1)
    return Image.fromarray(pixels.astype(np.uint8))
