"""From a text to vectors: tokens, their ids, and the rows of an embedding table.

A row of the table is what a one-hot vector selects: one_hot(id) · table = table[id]. Nothing is
multiplied when the row is just read.
"""

import re

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def words(text: str) -> tuple[str, ...]:
    """Runs of letters and digits, and every other sign alone; spaces separate."""
    return tuple(re.findall(r"\w+|[^\w\s]", text))


def utf8(text: str) -> tuple[int, ...]:
    """The bytes of the text in UTF-8, each its own id below 256: no text is unknown."""
    return tuple(text.encode("utf-8"))


def rows(
    table: Float[Tensor, "vocab dim"], ids: Int[Tensor, " token"]
) -> Float[Tensor, "token dim"]:
    """The vectors of the tokens: one row of the table for each id."""
    return table[ids]


def selected(
    table: Float[Tensor, "vocab dim"], ids: Int[Tensor, " token"]
) -> Float[Tensor, "token dim"]:
    """The same as a product with one-hot vectors, which is what makes the table learnable."""
    return F.one_hot(ids, len(table)).to(table) @ table


def nearest(
    table: Float[Tensor, "vocab dim"], id: int, count: int
) -> tuple[Float[Tensor, " rank"], Int[Tensor, " rank"]]:
    """Cosine similarity and id of the rows most similar to one, without itself."""
    similarities = F.normalize(table, dim=-1) @ F.normalize(table[id], dim=0)
    closest = similarities.index_fill(0, torch.tensor([id]), -torch.inf).topk(count)
    return closest.values, closest.indices
