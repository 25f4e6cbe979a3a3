"""`GivenWeights`: the pattern of weights that something else computed."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from models.attention.mask import Mask
from models.attention.pattern import Pattern

ROUNDING = 1e-2  # of a row's sum in half precision, over hundreds of keys
ALONE = (
    "these weights were computed elsewhere: their queries, keys, values and scores are not known"
)


class GivenWeights(Pattern):
    """A pattern that holds its weights, `batch head query key`, where others hold their recipe.

    Its memory is that of the weights. Whatever else is asked of it raises ValueError.
    """

    given: Float[Tensor, "batch head query key"]

    def __init__(self, given: Float[Tensor, "batch head query key"], mask: Mask = Mask()) -> None:
        mask.check(*given.shape)
        self.__dict__.update(given=given.detach(), mask=mask)

    def __getattr__(self, name: str) -> Any:
        if name in ("q", "k", "v"):
            raise ValueError(ALONE)
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def __repr__(self) -> str:
        return f"GivenWeights({' × '.join(map(str, self.given.shape))})"

    @property
    def batch(self) -> int:
        return self.given.shape[0]

    @property
    def heads(self) -> int:
        return self.given.shape[1]

    @property
    def key_heads(self) -> int:
        return self.heads

    @property
    def queries(self) -> int:
        return self.given.shape[2]

    @property
    def keys(self) -> int:
        return self.given.shape[3]

    @property
    def device(self) -> torch.device:
        return self.given.device

    @property
    def is_softmax(self) -> bool:
        return False

    def _scores(
        self, heads: slice, rows: Tensor, items: slice, keys: slice = slice(None)
    ) -> tuple[Tensor, bool]:
        raise ValueError(ALONE)

    def _weights(self, heads: slice, rows: Tensor, items: slice) -> Tensor:
        return self.given[items, heads][:, :, rows]


def sums_note(layers: Sequence[Tensor]) -> tuple[str, ...]:
    """A sentence on rows (the last axis) whose sum is neither 1 nor, without a key to see, 0."""
    sums = torch.cat([each.float().sum(-1).flatten() for each in layers])
    off = sums[((sums - 1).abs() > ROUNDING) & (sums != 0)]
    if not len(off):
        return ()
    return (
        f"{len(off):,} of {len(sums):,} rows do not sum to 1 ({float(off.min()):.3g} to"
        f" {float(off.max()):.3g}): they are shown as they are",
    )
