"""Differential attention: two softmax maps of one layer, and their difference.

DiffLlama (Ye et al. 2024, "Differential Transformer", eq. 1) calls its attention twice in one
pass, with the same queries and keys and the two halves of the values. The first half of the heads
gives A₁, the second A₂; the layer uses A₁ − λA₂.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import torch
from torch import Tensor

from models.pretrained.recording import Call
from models.trace import HeadParts

LAMBDAS = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2", "lambda_init")


def merge_calls(calls: Sequence[Call]) -> list[Call]:
    """One call for each run of a layer.

    Raises:
        ValueError: for a layer that calls several times with different queries or keys.
    """
    return [_merged(list(group)) for _, group in groupby(calls, lambda call: id(call.entry))]


def _merged(calls: list[Call]) -> Call:
    first = calls[0]
    if len(calls) == 1:
        return first
    for call in calls[1:]:
        if not (call.pattern.q.equal(first.pattern.q) and call.pattern.k.equal(first.pattern.k)):
            raise ValueError(
                f"{first.entry.path} attends {len(calls)} times in one pass, to different keys:"
                " which of these maps the layer used is ambiguous"
            )
    patterns = [call.pattern for call in calls]
    gradients = [p.values_gradient for p in patterns if p.values_gradient is not None]
    pattern = replace(
        first.pattern,
        v=torch.cat([pattern.v for pattern in patterns], dim=-1),
        values_gradient=torch.cat(gradients, dim=-1) if gradients else None,
    )
    return replace(first, pattern=pattern)


def head_parts(call: Call) -> HeadParts | None:
    """The two maps of a differential layer and their difference; None for any other layer."""
    module = call.entry.module
    lambdas = [getattr(module, name, None) for name in LAMBDAS]
    if any(each is None for each in lambdas):
        return None
    q1, k1, q2, k2 = (each.detach().float() for each in lambdas[:4] if isinstance(each, Tensor))
    factor = float((q1 * k1).sum().exp() - (q2 * k2).sum().exp()) + float(lambdas[4] or 0.0)
    half = call.pattern.heads // 2
    terms = {
        "A₁": ((1.0, 0),),
        "A₂": ((1.0, half),),
        "A₁ − λA₂": ((1.0, 0), (-factor, half)),
    }
    return HeadParts(half, terms)
