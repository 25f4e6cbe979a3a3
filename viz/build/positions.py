"""Where order comes from: the vectors, angles or biases of a network's positions, as matrices.

added      sinusoidal, learned, 2-D sin-cos: P[position], added to every token's vector
rotary     angles by which pairs of features of queries and keys are rotated
biases     ALiBi and T5: a number for each distance, added to the scores
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from analysis.vision import cosine
from models.attention.relative import RelativePositions, rotary_angles
from models.positional import sincos_2d, sinusoidal
from viz.build.card import Card, Matrix
from viz.build.recording import Call
from viz.build.titles import scheme_of

LENGTHS, BASES = (2, 512), (10.0, 1e6)
BASE = 10_000.0  # of the wavelengths, where nothing else is said
MOST_HEADS = 8  # whose biases are drawn


def opened(card: Card, call: Call, length: int, base: float) -> Card:
    """The card of positions.

    Args:
        card: with what is said of the part, and the labels of its tokens.
        call: of the module.
        length: how many positions; 0 for those of the input.
        base: of the wavelengths; 0 for the network's own.

    Raises:
        ValueError: for a length or a base out of range.
    """
    if length and not LENGTHS[0] <= length <= LENGTHS[1]:
        raise ValueError(f"length: expected {LENGTHS[0]} to {LENGTHS[1]}, received {length}")
    if base and not BASES[0] <= base <= BASES[1]:
        raise ValueError(f"base: expected {BASES[0]:g} to {BASES[1]:g}, received {base:g}")
    kind = scheme_of(call.module)
    if kind in ("alibi", "relative"):
        return replace(card, matrices=_biases(call.module, length or 16), rows=())
    table = _table(call, kind, length, base)
    if table is None:
        return card
    is_rotary = kind == "rotary"
    words = "cosines, then sines, of the angles" if is_rotary else "one row for each position"
    similar = Matrix("similarity", "cosine of every two", cosine(table), "position")
    matrix = Matrix("positions", words, table, "position")
    reads_x = bool(call.reads) and call.reads[0].shape == call.gives[0].shape
    is_added = not is_rotary and not (length or base) and reads_x
    if not is_added:
        return replace(card, matrices=(matrix, similar), joins=("",), rows=())
    x, y = (
        Matrix(n, n, t[0].float())
        for n, t in zip(("input", "output"), (call.reads[0], call.gives[0]), strict=True)
    )
    return replace(card, matrices=(x, matrix, y, similar), joins=("+", "=", ""))


def _table(call: Call, kind: str, length: int, base: float) -> Tensor | None:
    """The vectors of positions, or the cosines and sines of their angles; None without numbers."""
    module: Any = call.module
    if call.gives and call.gives[0].is_meta and not length:
        return None
    if kind == "rotary":
        return _angles(call, length, base)
    if kind == "learned":
        table = next(module.parameters()).detach().float()
        return table[: length or call.gives[0].shape[-2]]
    x = call.reads[0]
    if kind == "sincos2d":
        table = sincos_2d(*module.grid, x.shape[-1], base=base or BASE)
        return table if base else (call.gives[0] - x)[0].float()
    return sinusoidal(length or x.shape[1], x.shape[2], base=base or BASE)


def _angles(call: Call, length: int, base: float) -> Tensor:
    """Cosines and sines of rotary positions, one column for each pair of features."""
    module: Any = call.module
    if isinstance(module, RelativePositions):
        count, width, own_base = call.gives[0].shape[0], module.head_dim, module.base
    else:  # of the library: the cosines and sines of every feature, each pair twice
        cos, sin = (each[0].float() for each in call.gives[:2])
        half = cos.shape[-1] // 2
        if not (length or base):
            return torch.cat([cos[:, :half], sin[:, :half]], -1)
        count, width = len(cos), 2 * half
        own_base = float(getattr(module.config, "rope_theta", BASE) or BASE)
    angles = rotary_angles(length or count, width, base=base or own_base)
    return torch.cat([angles.cos(), angles.sin()], -1).float()


def _biases(module: Any, length: int) -> tuple[Matrix, ...]:
    """What every head adds to its scores."""
    with torch.no_grad():
        bias = module(length).bias(torch.arange(length))
    heads = bias.float().reshape(-1, length, length)[:MOST_HEADS]
    return tuple(Matrix(f"head {n}", f"head {n}", m, "position") for n, m in enumerate(heads))
