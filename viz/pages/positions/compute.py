"""Data of the Positions page, as arrays; imported on first use (see `viz.pages.lazy`)."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.similarity import cosine
from models.attention.relative import alibi, relative_buckets, rotary_angles
from models.positional import sincos_2d, sinusoidal
from models.seeding import seeded
from viz.api import tracing

BUCKETS = 32  # of distances, as in T5


@dataclass(frozen=True)
class Encoding:
    """The settings of a positional encoding.

    Attributes:
        scheme: "sinusoidal", "learned", "grid", "rotary", "alibi" or "relative".
        length: number of positions; of a grid, of its patches.
        width: of the model, or of one head for rotary.
        base: of the wavelengths.
        grid: rows and columns of patches.
        heads: with a bias each.
        causal: whether keys after the query are hidden.
        trained: whether learned positions are MiniLM's rather than random.
        seed: of what is random.
        device: of MiniLM.
    """

    scheme: str
    length: int
    width: int
    base: float
    grid: tuple[int, int]
    heads: int
    causal: bool
    trained: bool
    seed: int
    device: str


def table(encoding: Encoding) -> np.ndarray:
    """The position vectors, [position, dim]; for rotary, cos and sin of every angle."""
    return _table(encoding).numpy(force=True)


def similarity(encoding: Encoding) -> np.ndarray:
    """Cosine of every two positions, [position, position].

    For rotary it is the mean of cos(distance · rate) over the pairs: the cosine of two copies of
    one vector, whose pairs have equal lengths, each rotated by its position.
    """
    return cosine(_table(encoding)).numpy(force=True)


def biases(encoding: Encoding) -> np.ndarray:
    """The bias of each head, [head, query, key]; NaN where a key is hidden."""
    at = torch.arange(encoding.length)
    distances = at - at[:, None]
    if encoding.scheme == "alibi":
        bias = alibi(encoding.heads, encoding.length, encoding.length)
    else:
        with seeded(encoding.seed):
            drawn = torch.randn(encoding.heads, BUCKETS)
        bias = drawn[:, relative_buckets(distances, bidirectional=not encoding.causal)]
    if encoding.causal:
        bias = bias.masked_fill(distances > 0, torch.nan)
    return bias.numpy(force=True)


def by_distance(biases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distances key − query of keys that are seen, and each head's bias, [head, distance]."""
    length = biases.shape[-1]
    distance = np.arange(1 - length, length)
    lines = biases[:, np.maximum(-distance, 0), np.maximum(distance, 0)]
    seen = ~np.isnan(lines[0])
    return distance[seen], lines[:, seen]


def _table(encoding: Encoding) -> Tensor:
    length, width, base = encoding.length, encoding.width, encoding.base
    if encoding.scheme == "sinusoidal":
        return sinusoidal(length, width, base=base)
    if encoding.scheme == "grid":
        return sincos_2d(*encoding.grid, width, base=base)
    if encoding.scheme == "rotary":
        angles = rotary_angles(length, width, base=base)
        return torch.cat([angles.cos(), angles.sin()], 1).float()
    if encoding.trained:
        network = tracing.opened(tracing.of_catalogue("minilm", encoding.device)).network
        return network.get_parameter("positions.table").detach().float().cpu()[:length]
    with seeded(encoding.seed):
        return torch.randn(length, width)
