"""`Verdict`: what verification found, and the edit that it is made with."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from einops import repeat
from jaxtyping import Float
from torch import Tensor

from models.attention import Dot
from models.attention.pattern import BLOCK_ROWS, Pattern
from models.shown import one_line, shown_lines

ROUNDING = 1e-4  # of float32


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
        by_layers: whether layers compute their weights themselves; `compared` are those that the
            library returns.
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
    by_layers: bool = False

    def __repr__(self) -> str:
        return one_line(self)

    def _repr_html_(self) -> str:
        wrong = "; ".join(self.problems(ROUNDING))
        line = f"They differ: {wrong}" if wrong else "The weights are those that the model used"
        return shown_lines(line, repr(self))

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
