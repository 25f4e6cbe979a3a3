"""A trace made from plain arrays, answered for by the app's own API code."""

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from models.attention import Block
from models.text import Tokens
from models.trace import Site
from viz.api.entries import TraceEntry
from viz.api.requests import parse_query
from viz.api.routes import ENDPOINTS


class Source:
    """Weights "layer head query key" and the tokens' text, as the API takes a trace."""

    trained = True
    other_layers: Mapping[int, str] = {}

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
        predictions: Mapping[str, Any] | None = None,
    ) -> None:
        self.array, self.trace, self.note, self.model = weights, trace, note, model
        self.tokens = tokens(labels, special)
        self.key_tokens = self.tokens if key_labels is None else tokens(key_labels)
        self.predictions = dict(predictions or {})
        layers, heads, queries, keys = weights.shape
        self.sites = tuple(Site(i, "self", heads, queries, keys) for i in range(layers))
        keys = np.zeros((1, heads, 1, 1))
        pattern = SimpleNamespace(k=keys, path="fused", score=None, weights_edits=())
        self.patterns = (pattern,) * layers

    @property
    def array(self) -> np.ndarray:
        return self._array

    @array.setter
    def array(self, weights: np.ndarray) -> None:
        self._array = weights.astype(np.float32)
        self._entry: TraceEntry | None = None

    def queries(self, site: Site) -> tuple[Tokens, ...]:
        return (self.tokens,)

    def keys(self, site: Site) -> tuple[Tokens, ...]:
        return (self.key_tokens,)

    def query_labels(self, site: Site, item: int = 0) -> list[str]:
        return list(self.tokens.labels)

    def key_labels(self, site: Site, item: int = 0) -> list[str]:
        return list(self.key_tokens.labels)

    def empty_rows(self) -> int:
        return int((self.array.sum(-1) == 0).sum())

    def weights(
        self,
        layer: int | Site,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        rows: Any = None,
        item: int = 0,
    ) -> torch.Tensor:
        layer = layer if isinstance(layer, int) else layer.layer
        chosen = self.array[layer] if head is None else self.array[layer, head]
        return torch.from_numpy(chosen if rows is None else chosen[..., list(rows), :])

    def blocks(
        self, site: Site, *, head: int | None = None, rows: range | None = None, item: int = 0
    ) -> Iterator[Block]:
        rows = range(len(self.tokens)) if rows is None else rows
        heads = range(site.heads) if head is None else range(head, head + 1)
        part = slice(rows.start, rows.stop), slice(0, site.keys)
        weights = self.array[site.layer, heads.start : heads.stop, part[0]]
        yield Block(slice(heads.start, heads.stop), *part, torch.from_numpy(weights))

    @property
    def entry(self) -> TraceEntry:
        """What the registry would hold."""
        if self._entry is None:
            shown: Any = self
            self._entry = TraceEntry(shown, self._code, self._predict)
        return self._entry

    def answer(self, route: str, query: dict[str, str]) -> Any:
        """The body of a response."""
        if route == "numbers":
            return self.numbers()
        endpoint = next(e for e in ENDPOINTS if e.name == route and e.applies(self.entry))
        asked = parse_query(list(query.items()), endpoint.required, endpoint.optional)
        return endpoint.answer(self.entry, self.trace, **asked)

    def numbers(self) -> dict[str, Any]:
        """Two numbers of every head, and one that is not defined."""
        square = self.array.shape[2] == self.array.shape[3]
        before = np.diagonal(self.array, -1, 2, 3).mean(-1) if square else self.array[..., 0, 0]
        first = self.array[..., 0].mean(-1)
        shares = {"low": 0.0, "high": 1.0, "formula": "mean A[i, i−1]", "source": "", "about": ""}
        keys = ("previous token", "first token", "induction")
        return {
            "measures": [{"key": key, "title": key.capitalize(), **shares} for key in keys],
            "values": {
                "previous token": before.tolist(),
                "first token": first.tolist(),
                "induction": [[None] * len(row) for row in first],
            },
            "reasons": {"induction": "no token occurs twice"},
            "sentences": [
                [f"{100 * share:.0f} % of its weight goes to the first token." for share in row]
                for row in first
            ],
        }

    def _code(self, site: int, head: int | str) -> str:
        return f"t.weights(layer={site}, head={head!r})  # <b>query</b> × key"

    def _predict(self, site: int, direction: str, token: int | None) -> dict[str, Any]:
        return self.predictions


def tokens(labels: Sequence[str], special: Sequence[int] = ()) -> Tokens:
    """Labels as a text."""
    count = len(labels)
    own = tuple(i in special for i in range(count))
    none = (None,) * count
    return Tokens(tuple(range(count)), tuple(labels), own, (0,) * count, none)


def random_source(layers: int, heads: int, tokens: int, *, seed: int = 0, **kwargs: Any) -> Source:
    """Rows that sum to 1, peaked as real ones are."""
    scores = np.random.default_rng(seed).gumbel(size=(layers, heads, tokens, tokens)) * 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    labels = kwargs.pop("labels", [f"w{i}" for i in range(tokens)])
    return Source(weights / weights.sum(-1, keepdims=True), labels, **kwargs)
