"""Whether a picture is what the model used: every layer's values made again from its weights.

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
    """How far apart the two outputs are.

    Attributes:
        difference: the largest difference of any number of the output.
        largest: the largest number of the untouched output, which says what a difference means.
        sites: how many attention layers were replaced.
        rows: how many rows of weights, over heads and items, that were.
    """

    difference: float
    largest: float
    sites: int
    rows: int


@dataclass(frozen=True)
class ValuesFromWeights:
    """The edit that changes nothing: values come from the weights instead of from the kernel."""

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
    """Runs the model untouched and by its weights, and compares.

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
    """The output of the model as it is: for the library's, without any of our code in it."""
    if model.door == "own":
        return trace(model, input, target).output.values
    from models.pretrained.run import run_untraced

    return run_untraced(model, input, target)


def _real(made: Trace, output: Tensor) -> Tensor:
    """True at the numbers of the output that belong to real tokens."""
    real = torch.ones_like(output, dtype=torch.bool)
    for site in made.sites:
        side = made.axes.get(site)
        padding = None if side is None else side[0].padding(site.queries)
        if padding is not None and output.shape[:2] == padding.shape:
            real[padding.to(output.device)] = False
    return real
