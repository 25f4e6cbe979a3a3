"""Messages made from plain arrays, and a server's part played for the explorer's questions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.heatmap import max_pool
from viz.pack import Map, Row, Thumbs, message

POOLED = 640
START = {"site": 0, "head": 0, "token": None, "direction": "out", "scale": "fixed"}


class Source:
    """A trace as the explorer sees it: weights "layer head query key" and the tokens' text."""

    def __init__(
        self,
        weights: np.ndarray,
        labels: Sequence[str],
        *,
        trace: str = "t1",
        note: str = "",
        special: Sequence[int] = (),
        model: str = "all-MiniLM-L6-v2",
        key_labels: Sequence[str] | None = None,
    ) -> None:
        self.weights = weights.astype(np.float32)
        self.labels, self.trace, self.note = list(labels), trace, note
        self.special, self.model = list(special), model
        self.key_labels = self.labels if key_labels is None else list(key_labels)

    def matrix(self, site: int, head: int | str) -> np.ndarray:
        heads = self.weights[site]
        if head == "mean":
            return heads.mean(0)
        return heads.max(0) if head == "max" else heads[int(head)]

    def base(self, **select: Any) -> dict[str, Any]:
        layers, heads, queries, keys = self.weights.shape
        return {
            "model": self.model,
            "note": self.note,
            "texts": [
                {"labels": self.labels, "special": self.special},
                {"labels": self.key_labels, "special": []},
            ],
            "sites": [
                {"layer": i, "kind": "self", "heads": heads, "queries": queries, "keys": keys}
                | {"query_text": 0, "key_text": int(self.key_labels is not self.labels)}
                for i in range(layers)
            ],
            "select": START | select,
        }

    def map(self, site: int, head: int | str, r0: int, r1: int, c0: int, c1: int) -> Map:
        part = max_pool(self.matrix(site, head)[r0:r1, c0:c1], POOLED, POOLED)
        return Map(site, head, part, (r0, r1), (c0, c1))

    def whole(self, site: int, head: int | str) -> Map:
        return self.map(site, head, 0, self.weights.shape[2], 0, self.weights.shape[3])

    def row(self, site: int, head: int | str, axis: str, index: int) -> Row:
        matrix = self.matrix(site, head)
        return Row(site, head, axis, index, matrix[index] if axis == "query" else matrix[:, index])

    def thumbs(self) -> Thumbs:
        mean, largest = self.weights.mean(1, keepdims=True), self.weights.max(1, keepdims=True)
        pooled = [max_pool(part, 40, 40) for part in (self.weights, mean, largest)]
        return Thumbs(np.concatenate(pooled, axis=1))

    def first(
        self,
        *,
        thumbs: bool = True,
        maps: Sequence[Map] | None = None,
        heard: int | None = None,
        overruled: int = 0,
        **select: Any,
    ) -> bytes:
        """What a page sends first: everything small, and the chosen head's map."""
        base = self.base(**select)
        base["overruled"] = overruled
        if heard is not None:
            base["heard"] = heard
        chosen = base["select"]
        if maps is None:
            maps = [self.whole(chosen["site"], chosen["head"])]
        small = self.thumbs() if thumbs else None
        return message(trace=self.trace, base=base, thumbs=small, maps=maps)

    def answer(self, ask: dict[str, Any]) -> bytes:
        """What a server sends for a question."""
        return message(
            trace=self.trace,
            answer=ask["id"],
            base=self.base() if ask["base"] else None,
            thumbs=self.thumbs() if ask["base"] else None,
            maps=[self.map(*wanted) for wanted in ask["maps"]],
            rows=[self.row(*wanted) for wanted in ask["rows"]],
        )


def random_source(layers: int, heads: int, tokens: int, *, seed: int = 0, **kwargs: Any) -> Source:
    """Rows that sum to 1, peaked as real ones are."""
    scores = np.random.default_rng(seed).gumbel(size=(layers, heads, tokens, tokens)) * 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    labels = kwargs.pop("labels", [f"w{i}" for i in range(tokens)])
    return Source(weights / weights.sum(-1, keepdims=True), labels, **kwargs)
