"""Verifies that recorded weights are those the model used.

The network runs untouched, and with the values of every attention layer replaced by what the
weights we would draw give, `weights() @ v`. If the two outputs agree, the weights are the ones.
A model of transformers is compared with the library's own eager attention as well, map by map.

Where passes with other kernels give other outputs, they are no reference: rounding decides a choice
between nearly equal scores (of keys, of experts), or the library's eager and fused attention hide
different keys. What counts there is that the traced output is the untouched one, and that each
layer's weights give the values its kernel computed in that very pass.
"""

from typing import TYPE_CHECKING, Any

import torch

from models.run import Model, as_model, trace
from models.verdict import ValuesFromWeights, sums_apart
from models.verdict import Verdict as Verdict

if TYPE_CHECKING:
    from models.model import Network


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
