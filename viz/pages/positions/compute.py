"""Data of the Positions page, as arrays; imported on first use (see `viz.pages.lazy`)."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from analysis.similarity import by_distance, cosine, grid_distances
from models.positional import (
    alibi,
    alibi_slopes,
    interpolate_grid,
    relative_buckets,
    rotary_angles,
    rotate,
    sincos_2d,
    sinusoidal,
)
from models.seeding import seeded
from viz.api import tracing
from viz.pages.positions.encodings import Curve, Encoding


def table(encoding: Encoding) -> np.ndarray:
    """The position vectors, [position, dim]; for rotary, cos and sin of every angle."""
    return _table(encoding, encoding.length).numpy(force=True)


def similarity(encoding: Encoding, positions: int) -> np.ndarray:
    """Cosine of every two positions, [position, position]."""
    return cosine(_table(encoding, positions)).numpy(force=True)


def products(encoding: Encoding) -> Curve:
    """Dot products of position vectors by distance."""
    if encoding.scheme == "grid":
        distances = grid_distances(encoding.rows, encoding.cols)
    else:
        distances = _distances(encoding.length).abs().float()
    statistics = by_distance(_scores(encoding, scale=False).to(torch.float32), distances)
    parts = (statistics.distance, statistics.mean, statistics.low, statistics.high)
    return Curve(*(part.numpy(force=True) for part in parts))


def angles(encoding: Encoding) -> np.ndarray:
    """The rotation angle of each rotary pair, [position, pair], in radians."""
    turned = rotary_angles(encoding.length, encoding.width, base=encoding.base)
    return turned.numpy(force=True)


def biases(encoding: Encoding) -> np.ndarray:
    """The bias of each head, [head, query, key]; NaN where a key is hidden."""
    return _biases(encoding).numpy(force=True)


def buckets(encoding: Encoding) -> np.ndarray:
    """The T5 bucket of each query–key pair, [query, key]."""
    numbers = relative_buckets(_distances(encoding.length), bidirectional=not encoding.causal)
    numbers = numbers.float()
    if encoding.causal:
        numbers = numbers.masked_fill(_distances(encoding.length) > 0, torch.nan)
    return numbers.numpy(force=True)


def slopes(encoding: Encoding) -> list[float]:
    """ALiBi's slope of every head."""
    return alibi_slopes(encoding.heads).tolist()


def by_signed_distance(encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """The distances key − query, and the bias of every head, [head, distance]."""
    per_head = biases(encoding)
    last = 1 if encoding.causal else encoding.length
    middle = np.arange(1 - encoding.length, last)
    query, key = np.maximum(-middle, 0), np.maximum(middle, 0)
    return middle, per_head[:, query, key]


def regridded(encoding: Encoding, new: tuple[int, int], dim: int) -> dict[str, np.ndarray]:
    """2-D sin-cos positions on a grid, resampled to another grid, and computed for that grid.

    Returns:
        For each of the three, one dimension, then the cosine with the central patch.
    """
    old = (encoding.rows, encoding.cols)
    before = _table(encoding, 0)
    tables = {
        f"computed for {old[0]} × {old[1]}, as in training": (before, old),
        f"resampled to {new[0]} × {new[1]}": (interpolate_grid(before, old, new), new),
        f"computed for {new[0]} × {new[1]}": (
            sincos_2d(*new, encoding.width, base=encoding.base),
            new,
        ),
    }
    pictures = {}
    for name, (vectors, grid) in tables.items():
        pictures[name] = vectors[:, dim].reshape(grid)
    for name, (vectors, grid) in tables.items():
        middle = grid[0] // 2 * grid[1] + grid[1] // 2
        pictures[f"{name}: cosine"] = cosine(vectors)[middle].reshape(grid)
    return {name: picture.numpy(force=True) for name, picture in pictures.items()}


def alone(encoding: Encoding, scheme: str, head: int) -> np.ndarray:
    """Attention weights of tokens that differ only in their position, [query, key].

    Scores are scaled dot products of the position vectors (no projection), of a rotated vector of
    ones, or the bias; followed by softmax.
    """
    if scheme == "none":
        scores = torch.zeros(encoding.length, encoding.length)
    elif scheme in ("alibi", "relative"):
        scores = _biases(replace(encoding, scheme=scheme, causal=False))[head]
    else:
        scores = _scores(replace(encoding, scheme=scheme), scale=True)
    if encoding.causal:
        scores = scores.masked_fill(_distances(encoding.length) > 0, -torch.inf)
    return scores.softmax(-1).numpy(force=True)


def _table(encoding: Encoding, length: int) -> Tensor:
    if encoding.scheme == "sinusoidal":
        return sinusoidal(length, encoding.width, base=encoding.base)
    if encoding.scheme == "grid":
        return sincos_2d(encoding.rows, encoding.cols, encoding.width, base=encoding.base)
    if encoding.scheme == "rotary":
        turned = rotary_angles(length, encoding.width, base=encoding.base)
        return torch.cat([turned.cos(), turned.sin()], 1).float()
    if encoding.trained:
        network = tracing.opened(tracing.of_catalogue("minilm", encoding.device)).network
        return network.get_parameter("positions.table").detach().float().cpu()[:length]
    with seeded(encoding.seed):
        return torch.randn(length, encoding.width)


def _scores(encoding: Encoding, *, scale: bool) -> Tensor:
    if encoding.scheme == "rotary":
        turned = rotary_angles(encoding.length, encoding.width, base=encoding.base)
        ones = torch.ones(1, 1, encoding.length, encoding.width, dtype=torch.float64)
        vectors = rotate(ones, turned)[0, 0].float()
    else:
        vectors = _table(encoding, encoding.length)
    return vectors @ vectors.T / (vectors.shape[1] ** 0.5 if scale else 1)


def _biases(encoding: Encoding) -> Tensor:
    distances = _distances(encoding.length)
    if encoding.scheme == "alibi":
        bias = alibi(encoding.heads, encoding.length, encoding.length)
    else:
        with seeded(encoding.seed):
            learned = torch.randn(encoding.heads, 32)
        bias = learned[:, relative_buckets(distances, bidirectional=not encoding.causal)]
    return bias.masked_fill(distances > 0, torch.nan) if encoding.causal else bias


def _distances(length: int) -> Tensor:
    """Key minus query."""
    at = torch.arange(length)
    return at - at[:, None]
