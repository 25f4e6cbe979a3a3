"""Edits of the recipe of attention weights: a temperature, and cut edges.

Both keep the fused kernel, and rows that sum to 1.
"""

from dataclasses import replace
from math import inf
from typing import ClassVar

import torch

from models.attention import Edge, Pattern
from models.edits.fields import Layered, Numbers, checked, edit, heads_of, numbers, place, some
from models.edits.tokens import by_item, own_keys, own_queries


@edit
class Cut(Layered):
    """Masks query–key pairs; the rest of the row is renormalised by the softmax.

    Without a query, a key is hidden from all: `Cut(None, None, None, keys)` blacks out some tokens
    or patches.

    Attributes:
        head: which head or heads; None for all.
        query: query position or positions; None for all.
        key: key position or positions; None for all.
    """

    reads_all_tokens: ClassVar[bool] = False
    layer: int | None
    head: Numbers
    query: Numbers
    key: Numbers

    def __post_init__(self) -> None:
        checked(self, numbers, "head", "query", "key")

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        who, whom = some(self.query, "query"), some(self.key, "key")
        return f"{place(self.where, self.head)}: {who} cannot attend to {whom}."

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        heads = None if self.head is None else tuple(heads_of(self.head, pattern.heads))
        items = range(pattern.batch)
        queries = by_item(self.query, [own_queries(pattern, item) for item in items], "query")
        keys = by_item(self.key, [own_keys(pattern, item) for item in items], "key")
        return replace(pattern, mask=pattern.mask.without(Edge(heads, queries, keys)))


@edit
class Temperature(Layered):
    """Divides the scores before the softmax: below 1 sharper, above 1 flatter.

    Attributes:
        value: a positive number; 1 changes nothing.
        head: which head or heads; None for all.
    """

    reads_all_tokens: ClassVar[bool] = False
    value: int | float
    layer: int | None = None
    head: Numbers = None

    def __post_init__(self) -> None:
        if not (isinstance(self.value, int | float) and 0 < self.value < inf):
            raise ValueError(f"temperature: expected a number above 0, received {self.value}")
        checked(self, numbers, "head")

    def describe(self) -> str:
        """What the edit does, in one sentence."""
        shape = "sharper" if self.value < 1 else "flatter"
        here = place(self.where, self.head)
        return f"{here}: scores are divided by {self.value:g}, which makes weights {shape}."

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        before = pattern.temperature
        if before is None:
            before = torch.ones(pattern.heads, device=pattern.device)
        factor = torch.ones_like(before)
        factor[heads_of(self.head, pattern.heads)] = self.value
        return replace(pattern, temperature=before * factor)
