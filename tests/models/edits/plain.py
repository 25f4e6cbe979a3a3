"""Edits of attention beside what each does to explicit matrices, and networks to try them on.

`written_out` runs a network of ours with the formula of attention in place of `attend`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from einops import rearrange
from torch import Tensor

from models.attention import MultiHeadAttention, Pattern
from models.attention.relative import rotate
from models.decoder import DecoderConfig
from models.edits import Ablate, Cut, SetWeights, Temperature, UsePattern
from models.encoder import EncoderConfig
from models.layer import AttentionLayerConfig
from models.run import load
from models.seq2seq import Seq2SeqConfig
from models.ssru import TranslatorConfig
from models.trace import Site
from models.vit import ViTConfig

HEADS = (0, 2)
LAYER = 1
TOKENS, TARGET = 7, 6
Change = Callable[[Tensor], Tensor]


def _values(instead: Change) -> dict[str, Change]:
    def change(values: Tensor) -> Tensor:
        values[:, HEADS] = instead(values[:, HEADS]).expand_as(values[:, HEADS])
        return values

    return {"values": change}


def _hot(scores: Tensor) -> Tensor:
    scores[:, HEADS] /= 0.3
    return scores


def _cut(scores: Tensor) -> Tensor:
    for head in HEADS:
        scores[:, head, 4, 2] = scores[:, head, 5, 2] = -torch.inf
    return scores


def _hidden(scores: Tensor) -> Tensor:
    scores[..., 1] = -torch.inf
    return scores


def _row_by_row(row_of: Callable[[Tensor, Tensor, int], Tensor], rows: Any = None) -> Any:
    """Makes new rows of one head's weights, item by item and row by row."""

    def change(weights: Tensor) -> Tensor:
        before = weights.clone()
        for item, head in ((i, h) for i in range(len(weights)) for h in HEADS):
            for row in range(weights.shape[2]) if rows is None else rows:
                weights[item, head, row] = row_of(before[item, head, row], before[item], row)
        return weights

    return {"weights": change}


def _cell(row: Tensor, every: Tensor, query: int) -> Tensor:
    cell = _one(2, row)
    others, given = row * (1 - cell), row.sum().clamp(max=0.4)
    return others * (row.sum() - given) / others.sum() + given * cell


def _two(row: Tensor, every: Tensor, query: int) -> Tensor:
    row = row.clone()
    row[1], row[2] = 0.7, -0.2
    return row


def _whole(row: Tensor, every: Tensor, query: int) -> Tensor:
    """Weights of 0, 1, 2, … shared out."""
    given = torch.arange(len(row), dtype=row.dtype)
    return given / given.sum() * row.sum()


def _uniform(row: Tensor, every: Tensor, query: int) -> Tensor:
    return (row > 0) / (row > 0).sum()


def _one(key: int, like: Tensor) -> Tensor:
    return torch.eye(len(like), dtype=like.dtype)[key]


def _before(row: Tensor, every: Tensor, query: int) -> Tensor:
    seen = query >= 2 and bool(row[query - 2] > 0)
    return _one(query - 2 if seen else query, row)


def _after(row: Tensor, every: Tensor, query: int) -> Tensor:
    seen = query + 1 < len(row) and bool(row[query + 1] > 0)
    return _one(query + 1 if seen else query, row)


@dataclass(frozen=True)
class Case:
    """An edit of the heads `HEADS` of a layer, and what it does to matrices.

    Attributes:
        make: the edit, of a layer and a kind.
        changes: of scores, weights or values.
        square: whether queries have to be keys.
    """

    make: Callable[[int, str], Any]
    changes: dict[str, Change]
    square: bool = False


CASES = {
    "mean": Case(
        lambda layer, kind: Ablate(layer, HEADS, "mean", kind=kind),
        _values(lambda mine: mine.mean(2, keepdim=True)),
    ),
    "layer": Case(lambda layer, kind: Ablate(layer, None, kind=kind), {"values": torch.zeros_like}),
    "temperature": Case(
        lambda layer, kind: Temperature(0.3, layer, HEADS, kind=kind), {"scores": _hot}
    ),
    "cut": Case(lambda layer, kind: Cut(layer, HEADS, (4, 5), 2, kind=kind), {"scores": _cut}),
    "hidden key": Case(
        lambda layer, kind: Cut(layer, None, None, 1, kind=kind), {"scores": _hidden}
    ),
    "cell": Case(
        lambda layer, kind: SetWeights(layer, HEADS, (3, 5), 2, 0.4, kind=kind),
        _row_by_row(_cell, (3, 5)),
    ),
    "cells as they are": Case(
        lambda layer, kind: SetWeights(layer, HEADS, 4, (1, 2), (0.7, -0.2), False, kind=kind),
        _row_by_row(_two, (4,)),
    ),
    "another head": Case(
        lambda layer, kind: UsePattern(layer, HEADS, 1, kind=kind),
        _row_by_row(lambda row, every, query: every[1, query]),
    ),
    "uniform": Case(
        lambda layer, kind: UsePattern(layer, HEADS, "uniform", kind=kind), _row_by_row(_uniform)
    ),
    "identity": Case(
        lambda layer, kind: UsePattern(layer, HEADS, "identity", kind=kind),
        _row_by_row(lambda row, every, query: _one(query, row)),
        square=True,
    ),
    "shift": Case(
        lambda layer, kind: UsePattern(layer, HEADS, "shift", 2, kind=kind),
        _row_by_row(_before),
        square=True,
    ),
    "shift to later": Case(
        lambda layer, kind: UsePattern(layer, HEADS, "shift", -1, kind=kind),
        _row_by_row(_after),
        square=True,
    ),
}


def whole_row(keys: int) -> Case:
    """A row of weights given number by number."""
    given = tuple(range(keys))
    return Case(
        lambda layer, kind: SetWeights(layer, HEADS, 4, None, given, kind=kind),
        _row_by_row(_whole, (4,)),
    )


# --- networks of ours ---------------------------------------------------------------------------

SIZES: dict[str, Any] = {"dim": 15, "heads": 3, "mlp": 13, "seed": 1}
NETWORKS: dict[str, Callable[[], Any]] = {
    "encoder": lambda: EncoderConfig(**SIZES, depth=3, vocab=31),
    "encoder, pre-norm": lambda: EncoderConfig(**SIZES, depth=2, vocab=31, norm="pre"),
    "encoder, alibi": lambda: EncoderConfig(**SIZES, depth=2, vocab=31, positions="alibi"),
    "decoder": lambda: DecoderConfig(**SIZES, depth=3, vocab=31),
    "decoder, grouped": lambda: DecoderConfig(
        **{**SIZES, "dim": 24, "heads": 4}, kv_heads=2, depth=2, vocab=31, positions="rotary"
    ),
    "decoder, relative": lambda: DecoderConfig(**SIZES, depth=2, vocab=31, positions="relative"),
    "encoder–decoder": lambda: Seq2SeqConfig(
        **SIZES, depth=2, d_k=7, d_v=5, source_vocab=31, target_vocab=31
    ),
    "translator": lambda: TranslatorConfig(
        **{**SIZES, "dim": 18}, depth=2, decoder_depth=2, vocab=31
    ),
    "vit": lambda: ViTConfig(**SIZES, depth=3, image=6, patch=2, classes=4),
    "layer": lambda: AttentionLayerConfig(dim=15, heads=3, vocab=31),
}


@cache
def network(name: str) -> Any:
    return load(NETWORKS[name]())


def given(name: str) -> tuple[Any, ...]:
    """An input of a network, and its target."""
    dice = torch.Generator().manual_seed(2)
    if name == "vit":
        return (torch.randn(2, 3, 6, 6, generator=dice),)
    source = torch.randint(3, 31, (2, TOKENS), generator=dice)
    pair = name in ("encoder–decoder", "translator", "layer")
    return (source, torch.randint(3, 31, (2, TARGET), generator=dice)) if pair else (source,)


@contextmanager
def written_out(net: Any, site: Site, **changes: Change) -> Iterator[None]:
    """Inside, one attention layer is computed from its formula, with changes on the way."""
    layer = net.get_submodule(site.module)
    net.get_submodule(site.module).forward = _Written(layer, changes)
    try:
        yield
    finally:
        del layer.__dict__["forward"]


@dataclass(frozen=True)
class _Written:
    """Attention with every matrix explicit; changes are of q, k, v, scores, weights and values."""

    layer: MultiHeadAttention
    changes: dict[str, Change]

    def changed(self, name: str, x: Tensor) -> Tensor:
        return self.changes[name](x.clone()) if name in self.changes else x

    def __call__(self, x: Tensor, context: Any = None, values: Any = None, **given: Any) -> Any:
        layer, config = self.layer, self.layer.config
        source = x if context is None else context
        q = self._split(layer.query(x), config.heads, given.get("angles"))
        k = self._split(layer.key(source), config.key_heads, given.get("angles"))
        v = self._split(layer.value(source if values is None else values), config.key_heads, None)
        q, k, v = self.changed("q", q), self.changed("k", k), self.changed("v", v)
        group = config.heads // config.key_heads
        wide, wide_v = (each.repeat_interleave(group, 1) for each in (k, v))
        scores = q @ wide.mT / q.shape[-1] ** 0.5
        bias = given.get("bias")
        rows = torch.arange(q.shape[2])
        if bias is not None:
            scores = scores + bias(rows)
        seen = given["mask"].visible(rows, k.shape[2], range(config.heads))
        scores = scores if seen is None else scores.masked_fill(~seen, -torch.inf)
        weights = self.changed("weights", self.changed("scores", scores).softmax(-1))
        made = self.changed("values", weights @ wide_v)
        out = layer.out(rearrange(made, "b h t d -> b t (h d)"))
        return out, Pattern(q, k, v, mask=given["mask"])

    @staticmethod
    def _split(x: Tensor, heads: int, angles: Any) -> Tensor:
        x = rearrange(x, "b t (h d) -> b h t d", h=heads)
        return x if angles is None else rotate(x, angles)
