"""Verifies that recorded weights are those the model used.

The network runs untouched, and with the values of every attention layer replaced by what the
weights we would draw give, `weights() @ v`. If the two outputs agree, the weights are the ones.
A model of transformers is compared with the library's own eager attention as well, map by map.

Where passes with other kernels give other outputs, they are no reference: rounding decides a choice
between nearly equal scores (of keys, of experts), or the library's eager and fused attention hide
different keys. What counts there is that the traced output is the untouched one, and that each
layer's weights give the values its kernel computed in that very pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from einops import repeat
from jaxtyping import Float
from torch import Tensor

from models.attention import Dot
from models.attention.pattern import BLOCK_ROWS, Pattern
from models.run import Model, as_model, trace

if TYPE_CHECKING:
    from models.model import Network


@dataclass(frozen=True)
class Verdict:
    """What was compared, and the largest differences.

    Attributes:
        difference: largest absolute difference of the outputs.
        largest: largest absolute value of the reference output, for scale.
        sites: number of attention layers replaced.
        rows: number of rows of weights, over heads and items.
        compared: number of maps compared with the library's eager attention; 0 where it has none.
        maps: largest difference of a weight to them.
        sums: largest difference of a row's sum to 1, of real tokens.
        unseen: attention layers that ran and left no map, or more than one.
        traced: largest difference of the traced output to the reference.
        values: largest difference of a layer's values to those computed from its weights, over the
            largest of them, in the same pass; None if that was not compared.
        eager: largest difference of the output with the library's eager attention to the
            reference; None where it has none.
        left_out: weights of the checkpoint that the network does not use, and that nothing here
            says anything about.
    """

    difference: float
    largest: float
    sites: int
    rows: int
    compared: int = 0
    maps: float = 0.0
    sums: float = 0.0
    unseen: tuple[str, ...] = ()
    traced: float = 0.0
    values: float | None = None
    eager: float | None = None
    left_out: tuple[str, ...] = ()

    def ambiguous(self, rounding: float) -> bool:
        """Whether passes with other kernels give other outputs, while the traced pass holds.

        Args:
            rounding: as for `problems`.
        """
        scale = rounding * self.largest
        holds = self.values is not None and self.values <= rounding and self.traced <= scale
        return holds and max(self.difference, self.eager or 0.0) > scale

    def problems(self, rounding: float) -> tuple[str, ...]:
        """What does not agree, in sentences.

        Args:
            rounding: the largest share of the output, and of a weight, that rounding explains.
        """
        scale, ambiguous = rounding * self.largest, self.ambiguous(rounding)
        problems = {
            f"a layer's values are {self.values or 0:.1e} off those computed from its weights": (
                (self.values or 0.0) > rounding
            ),
            f"the output computed from the weights is off by {self.difference:.1e}": (
                not ambiguous and self.difference > scale
            ),
            f"a weight is {self.maps:.1e} off the library’s own": (
                not ambiguous and self.maps > rounding
            ),
            f"a row's sum is off 1 by {self.sums:.1e}": self.sums > rounding,
            f"{', '.join(self.unseen)} left no map, or more than one": bool(self.unseen),
        }
        return tuple(text for text, wrong in problems.items() if wrong)


def sums_apart(pattern: Pattern, places: Sequence[Sequence[Tensor]]) -> float:
    """Largest difference of a row's sum to 1, of rows that see any key.

    Args:
        pattern: of a layer.
        places: of each item, its own rows and keys.
    """
    worst = 0.0
    sink = isinstance(pattern.score, Dot) and pattern.score.sink is not None
    for item, (rows, keys) in enumerate(places):
        for start in range(0, len(rows), BLOCK_ROWS):
            weights = pattern.weights(None, rows[start : start + BLOCK_ROWS], item=item)
            whole, own_sum = weights.sum(-1), weights[..., keys.to(weights.device)].sum(-1)
            off = (whole - own_sum).abs() if sink else (own_sum - 1).abs().where(whole > 0, 0.0)
            worst = max(worst, float(off.max()))
    return worst


@dataclass(frozen=True)
class ValuesFromWeights:
    """An edit that recomputes values from the weights instead of the kernel."""

    def edit_values(
        self, values: Float[Tensor, "batch head query dim"], pattern: Pattern
    ) -> Float[Tensor, "batch head query dim"]:
        group = pattern.heads // pattern.v.shape[1]
        v = repeat(pattern.v.float(), "b h k d -> b (h group) k d", group=group)
        recomputed = torch.empty_like(values)
        for start in range(0, pattern.queries, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            recomputed[:, :, rows] = (pattern.weights(rows=rows) @ v).to(values.dtype)
        return recomputed


def verify(model: "Model | Network | torch.nn.Module", input: Any, target: Any = None) -> Verdict:
    """Compares the model's output and maps with those computed without the trace.

    Args:
        model: as for `trace`.
        input: as for `trace`.
        target: as for `trace`; where the model writes by itself, it does so once.

    Returns:
        The largest differences over the rows of real tokens: rows of padding have no weights
        here. `Verdict.problems` says which of them are more than rounding.
    """
    model = as_model(model)
    if model.door == "own":
        return _verdict(model, input, target)
    from models.pretrained.verification import compare

    return compare(model, input, target)


def _verdict(model: Model, input: Any, target: Any) -> Verdict:
    """Of a network of ours, whose output without edits is the reference."""
    traced = trace(model, input, target, edits=[ValuesFromWeights()])
    untouched = trace(model, input, target).output.values
    return Verdict(
        float((traced.output.values - untouched).float().abs().max()),
        float(untouched.float().abs().max()),
        len(traced.sites),
        sum(p.batch * p.heads * p.queries for p in traced.patterns),
        sums=max(
            sums_apart(pattern, [traced.positions(site, item) for item in range(pattern.batch)])
            for site, pattern in zip(traced.sites, traced.patterns, strict=True)
        ),
        left_out=model.left_out,
    )
