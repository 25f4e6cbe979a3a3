"""Messages for the image view made from plain arrays, and a server's part played."""

import io
from typing import Any

import numpy as np
from PIL import Image

from viz.image import Layer, Picture, Rows, factor_for, message

START = {"site": 0, "head": 0, "token": None, "direction": "out", "scale": "layer"}


class Source:
    """A picture and weights "layer head query key"; patches are square."""

    def __init__(
        self,
        weights: np.ndarray,
        grid: tuple[int, int],
        *,
        registers: int = 0,
        patch: int = 8,
        trace: str = "i1",
        picture: Image.Image | None = None,
        order: str = "p1 p2 c",
    ) -> None:
        self.weights, self.grid, self.trace = weights.astype(np.float32), grid, trace
        self.prefix, self.patch, self.order = 1 + registers, patch, order
        size = (grid[1] * patch, grid[0] * patch)
        self.picture = picture.resize(size) if picture else _gradient(size)
        self.labels = ["class", *(f"register {i}" for i in range(registers))]
        self.labels += [f"patch {r},{c}" for r in range(grid[0]) for c in range(grid[1])]

    def base(self, **select: Any) -> dict[str, Any]:
        layers, heads, queries, keys = self.weights.shape
        count, numbers = self.grid[0] * self.grid[1], 3 * self.patch**2
        return {
            "model": "ViT of a test",
            "note": "untrained: random weights",
            "query_labels": self.labels,
            "key_labels": self.labels,
            "sites": [
                {"layer": i, "kind": "self", "heads": heads, "queries": queries, "keys": keys}
                for i in range(layers)
            ],
            "select": START | select,
            "grid": list(self.grid),
            "prefix": self.prefix,
            "patch": [self.patch, self.patch],
            "order": self.order,
            "shapes": [
                {"name": "picture", "shape": f"3 × {self.picture.height} × {self.picture.width}"},
                {"name": "patches, unrolled", "shape": f"{count} × {numbers}"},
            ],
        }

    def layer(self, site: int) -> Layer:
        weights = self.weights[site]
        peaks = float(weights[..., self.prefix :].max()), float(weights[:, self.prefix :].max())
        return Layer(site, weights, 1, peaks)

    def rows(self, site: int, axis: str, index: int) -> Rows:
        weights = self.weights[site]
        return Rows(
            site, axis, index, weights[:, index] if axis == "query" else weights[..., index]
        )

    def first(self, **select: Any) -> bytes:
        """What a page sends first."""
        file = io.BytesIO()
        self.picture.save(file, "PNG")
        base = self.base(**select)
        return message(
            trace=self.trace,
            base=base,
            picture=Picture(file.getvalue(), "image/png"),
            layers=[self.layer(base["select"]["site"])],
        )

    def answer(self, ask: dict[str, Any]) -> bytes:
        """What a server sends for a question."""
        return message(
            trace=self.trace,
            answer=ask["id"],
            layers=[self.layer(wanted[0]) for wanted in ask["maps"]],
            rows=[self.rows(wanted[0], wanted[2], wanted[3]) for wanted in ask["rows"]],
        )


def random_source(
    layers: int, heads: int, grid: tuple[int, int], *, seed: int = 0, **kwargs: Any
) -> Source:
    """Rows that sum to 1, peaked as real ones are."""
    tokens = 1 + kwargs.get("registers", 0) + grid[0] * grid[1]
    if factor_for(heads, grid, tokens - grid[0] * grid[1]) > 1:
        raise ValueError(f"expected a grid that fits one message, received {grid}")
    scores = np.random.default_rng(seed).gumbel(size=(layers, heads, tokens, tokens)) * 1.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return Source(weights / weights.sum(-1, keepdims=True), grid, **kwargs)


def _gradient(size: tuple[int, int]) -> Image.Image:
    """Red grows to the right, green downwards."""
    down, right = np.mgrid[0 : size[1], 0 : size[0]]
    pixels = np.stack([right * 255 // size[0], down * 255 // size[1], 0 * down + 90], -1)
    return Image.fromarray(pixels.astype(np.uint8))
