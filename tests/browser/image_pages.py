"""A traced picture made from plain arrays, and what the API answers about it."""

import io
from typing import Any

import numpy as np
from PIL import Image

from tests.browser.views import Answer
from viz.pack import ALL, Part, factor_for, layer_part, message, row_part


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
    ) -> None:
        self.weights, self.grid, self.trace = weights.astype(np.float32), grid, trace
        self.prefix, self.patch = 1 + registers, patch
        size = (grid[1] * patch, grid[0] * patch)
        self.picture = picture.resize(size) if picture else _gradient(size)
        self.labels = ["class", *(f"register {i}" for i in range(registers))]
        self.labels += [f"patch {r},{c}" for r in range(grid[0]) for c in range(grid[1])]

    def base(self) -> dict[str, Any]:
        layers, heads, queries, keys = self.weights.shape
        patches = {"picture": 0, "name": "", "shape": list(self.grid), "box": [0, 0, 1, 1]}
        patches |= {"places": list(range(self.prefix, keys)), "frames": []}
        return {
            "model": "ViT of a test",
            "note": "untrained: random weights",
            "texts": [{"labels": self.labels, "special": [], "grids": [patches]}],
            "sites": [
                {"layer": i, "kind": "self", "heads": heads, "queries": queries, "keys": keys}
                for i in range(layers)
            ],
            "pictures": 1,
            "patches": True,
        }

    def layer(self, site: int) -> Part:
        return layer_part(site, self.weights[site], 1)

    def rows(self, site: int, axis: str, index: int) -> Part:
        weights = self.weights[site]
        row = weights[:, index] if axis == "query" else weights[..., index]
        return row_part(site, ALL, axis, index, row)

    def sinks(self, site: int, outliers: bool) -> Part:
        """The class token and registers and, if wanted, the last patch."""
        weights = self.weights[site]
        keys = [*range(self.prefix), *([weights.shape[-1] - 1] if outliers else [])]
        shares = weights[..., keys].sum(-1).mean(-1).tolist()
        return {
            "site": site,
            "outliers": "yes" if outliers else "no",
            "keys": keys,
            "shares": shares,
        }

    def answer(self, route: str, query: dict[str, str]) -> Answer:
        """The body of a response."""
        if route == "overview":
            return message(self.base())
        if route == "photo":
            file = io.BytesIO()
            self.picture.save(file, "PNG")
            return file.getvalue(), "image/png"
        if route == "numbers":
            return {"measures": [], "values": {}, "reasons": {}, "sentences": []}
        if route == "corpora":
            return {"corpora": []}
        if route in ("vector", "worth"):
            return {"why": "a picture of a test"}
        site = int(query["site"])
        if route == "sinks":
            return message(sinks=[self.sinks(site, query["outliers"] == "yes")])
        if route == "layer":
            return message(layers=[self.layer(site)])
        rows = self.rows(site, query["axis"], int(query["index"]))
        return message(rows=[rows])


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
