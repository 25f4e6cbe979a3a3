"""Verifies that recorded weights are those the model used.

The network runs twice: untouched, and with the values of every attention layer replaced by what
the weights we would draw give, `weights() @ v`. If the two outputs agree, the weights are the ones.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from einops import repeat
from jaxtyping import Float
from torch import Tensor

from models.attention.pattern import BLOCK_ROWS, Pattern
from models.run import Model, as_model, trace
from models.trace import Trace

if TYPE_CHECKING:
    from models.model import Network


@dataclass(frozen=True)
class Verdict:
    """The comparison of the two outputs.

    Attributes:
        difference: largest absolute difference of the outputs.
        largest: largest absolute value of the reference output, for scale.
        sites: number of attention layers replaced.
        rows: number of rows of weights, over heads and items.
    """

    difference: float
    largest: float
    sites: int
    rows: int


@dataclass(frozen=True)
class ValuesFromWeights:
    """An edit that recomputes values from the weights instead of the kernel."""

    layer: None = None
    kind: None = None

    def edit_values(
        self, values: Float[Tensor, "batch head query dim"], pattern: Pattern
    ) -> Float[Tensor, "batch head query dim"]:
        group = pattern.heads // pattern.v.shape[1]
        v = repeat(pattern.v.float(), "b h k d -> b (h group) k d", group=group)
        made = torch.empty_like(values)
        for start in range(0, pattern.queries, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            made[:, :, rows] = (pattern.weights(rows=rows) @ v).to(values.dtype)
        return made


def verify(model: "Model | Network | torch.nn.Module", input: Any, target: Any = None) -> Verdict:
    """Compares the model's output with one computed from the recorded weights.

    Args:
        model: as for `trace`.
        input: as for `trace`.
        target: as for `trace`; where the model writes by itself, it does so once.

    Returns:
        The largest difference over the rows of real tokens: rows of padding have no weights here.
    """
    model = as_model(model)
    made = trace(model, input, target, edits=[ValuesFromWeights()])
    untouched = _untouched(model, input, target, made)
    real = _real(made, untouched)
    difference = (made.output.values - untouched).float().abs()
    rows = sum(p.batch * p.heads * p.queries for p in made.patterns)
    return Verdict(
        float(difference[real].max()),
        float(untouched.float().abs()[real].max()),
        len(made.sites),
        rows,
    )


def _untouched(model: Model, input: Any, target: Any, made: Trace) -> Tensor:
    """The reference output: of a transformers model without any of our code."""
    if model.door == "own":
        return trace(model, input, target).output.values
    from models.pretrained.run import run_untraced

    return run_untraced(model, input, target)


def _real(made: Trace, output: Tensor) -> Tensor:
    """True at the output of real tokens."""
    real = torch.ones_like(output, dtype=torch.bool)
    for site in made.sites:
        side = made.axes.get(site)
        padding = None if side is None else side[0].padding(site.queries)
        if padding is not None and output.shape[:2] == padding.shape:
            real[padding.to(output.device)] = False
    return real
