"""Max pooling of attention maps, and quantisation of weights and scores to one byte per cell."""

import numpy as np

LEVELS = 255


def max_pool(weights: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """Adaptive max pooling of the last two axes: no peak is lost.

    Output row i is the maximum over input rows floor(i·r/R) to floor((i+1)·r/R), exclusive; so
    every input cell lies in exactly one output cell, and a map that fits is unchanged.

    Args:
        weights: [..., r, c].
        rows: maximum number of rows; the result has R = min(r, rows).
        cols: maximum number of columns, likewise.
    """
    pooled = weights
    for axis, wanted in ((-2, rows), (-1, cols)):
        size = pooled.shape[axis]
        if wanted < size:
            starts = np.arange(wanted) * size // wanted
            pooled = np.maximum.reduceat(pooled, starts, axis=axis)
    return pooled


def quantise(
    weights: np.ndarray, axes: tuple[int, ...] = (-2, -1), levels: int = LEVELS
) -> tuple[np.ndarray, np.ndarray]:
    """Levels finer for small weights: q = round(levels·√(a/max)), a ≈ max·(q/levels)².

    Args:
        weights: [..., row, col].
        axes: of one map, which has its own maximum: (-1,) for single rows.
        levels: the largest of them.

    Returns:
        q, uint8 of the same shape, and the largest weight of each map, float32 without these axes.
        A map of zeros stays zero.

    Raises:
        ValueError: a weight is NaN, infinite or negative.
    """
    maxima = weights.max(axis=axes, keepdims=True).astype(np.float32)
    if not (weights.min() >= 0 and np.isfinite(maxima).all()):  # NaN if any weight is
        raise ValueError("expected finite weights of 0 or more, received NaN, inf or a negative")
    share = np.minimum(weights / np.where(maxima > 0, maxima, 1), 1, dtype=np.float32)
    np.sqrt(share, out=share)
    np.rint(np.multiply(share, levels, out=share), out=share)
    return share.astype(np.uint8), maxima.squeeze(axes)


def quantise_scores(scores: np.ndarray) -> tuple[np.ndarray, float, float]:
    """One byte per cell on a linear scale: 1 is the least score, 255 the largest; 0 is masked.

    Returns:
        uint8 of the same shape, and the least and the largest score that is not −∞.

    Raises:
        ValueError: a score is NaN or +∞.
    """
    if np.isnan(scores).any() or np.isposinf(scores).any():
        raise ValueError("expected scores below infinity, received NaN or inf")
    seen = np.isfinite(scores)
    low, high = (float(f(scores[seen])) if seen.any() else 0.0 for f in (np.min, np.max))
    share = (np.where(seen, scores, low) - low) / ((high - low) or 1)
    return np.where(seen, np.rint(1 + (LEVELS - 1) * share), 0).astype(np.uint8), low, high
