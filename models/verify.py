"""Verifies that recorded weights are those the model used.

The network runs untouched, and with the values of every attention layer replaced by what the
weights we would draw give, `weights() @ v`. If the two outputs agree, the weights are the ones.
A model of transformers is compared with the library's own eager attention as well, map by map.

Where passes with other kernels give other outputs, they are no reference: rounding decides a choice
between nearly equal scores (of keys, of experts), or the library's eager and fused attention hide
different keys. What counts there is that the traced output is the untouched one, and that each
layer's weights give the values its kernel computed in that very pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.attention.pattern import BLOCK_ROWS
from models.inputs.named import as_tensors
from models.run import Model, as_model, trace
from models.text import Tokens
from models.trace import Trace
from models.verdict import ValuesFromWeights
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

    verdict, tokens = compare(model, input, target)
    return replace(verdict, misread=(*_misread(tokens, input), *verdict.misread))


def _verdict(model: Model, input: Any, target: Any) -> Verdict:
    """Of a network of ours, whose output without edits is the reference."""
    traced = trace(model, input, target, edits=[ValuesFromWeights()])
    untouched = trace(model, input, target).output.values
    return Verdict(
        float((traced.output.values - untouched).float().abs().max()),
        float(untouched.float().abs().max()),
        len(traced.sites),
        sum(p.batch * p.heads * p.queries for p in traced.patterns),
        sums=_sums(traced),
        misread=_misread(traced.tokens, input),
        left_out=model.left_out,
    )


def _misread(tokens: Sequence[Tokens], source: Any) -> tuple[str, ...]:
    """Whether the tokens are not the ids of an input by name."""
    given = as_tensors(source) if isinstance(source, Mapping) else {}
    ids = given.get("input_ids")
    if not isinstance(ids, Tensor):
        return ()
    mask = given.get("attention_mask")
    real = torch.ones_like(ids) if mask is None or mask.shape != ids.shape else mask
    ids_kept = [row[kept.bool()].tolist() for row, kept in zip(ids, real, strict=True)]
    return () if ids_kept == [list(item.ids) for item in tokens] else ("input_ids",)


def _sums(t: Trace) -> float:
    """Largest difference of a row's sum to 1, of rows that see any key."""
    worst = 0.0
    for site in t.sites:
        for item in range(len(t.queries(site))):
            count = len(t.queries(site)[item])
            for start in range(0, count, BLOCK_ROWS):
                rows = range(start, min(start + BLOCK_ROWS, count))
                place = {"kind": site.kind, "tower": site.tower, "rows": rows, "item": item}
                sums = t.weights(site.layer, **place).sum(-1)
                worst = max(worst, float((sums - 1).abs().where(sums > 0, 0.0).max()))
    return worst
