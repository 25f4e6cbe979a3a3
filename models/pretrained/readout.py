"""What turns the hidden states of a transformers network into logits, found in a pass of it."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from models.attention.fitted_rotation import alike
from models.inputs.texts import text_config
from models.pretrained.linear_maps import factor_of, norm_of
from models.pretrained.observation import ModuleCall
from models.pretrained.site_maps import is_wide
from models.projections import Norm
from models.readout import Readout

LOGITS = ("logits", "prediction_logits")


def readout_of(
    network: Any, calls: Sequence[ModuleCall], blocks: Sequence[ModuleCall], out: Any
) -> Readout:
    """What is between the last block and the logits: one norm and one linear map at most.

    Args:
        network: of the library.
        calls: of its modules without parts, in one pass.
        blocks: calls of its blocks in that pass.
        out: what the network returned.

    Raises:
        ValueError: where anything else is between them; it names the module.
    """
    head = network.get_output_embeddings()
    call = next((each for each in reversed(calls) if each.module is head), None)
    if call is None:
        raise ValueError(f"{type(network).__name__} has no linear map to logits of tokens")
    weight, bias = (getattr(head, name, None) for name in ("weight", "bias"))
    if not isinstance(weight, Tensor) or not is_wide(weight, call.given.shape[-1]):
        raise ValueError(f"{call.path}: expected a linear map with one vector for each token")
    linear = F.linear(call.given, weight, bias)
    if not alike(linear, call.output):
        raise ValueError(f"{call.path}: expected a linear map of what it reads")
    norm, before = _norm_and_factor(call, calls, blocks)
    after, softcap = _factor_and_cap(call, out, text_config(network.config))
    bias = None if bias is None else bias.detach() * after
    return Readout(weight, norm, bias, before * after, softcap)


def _norm_and_factor(
    head: ModuleCall, calls: Sequence[ModuleCall], blocks: Sequence[ModuleCall]
) -> tuple[Norm | None, float]:
    """The norm between what leaves a block and the map, and the factor after it."""
    x = head.given
    streams = [block.output for block in blocks if block.output.shape == x.shape]
    for stream in reversed(streams):
        factor = factor_of(x, stream)
        if factor is not None:
            return None, factor
    between = ""
    for call in reversed(calls):
        factor = factor_of(x, call.output) if call.output.shape == x.shape else None
        if factor is None:
            continue
        between = between or call.path
        norm = norm_of(call)
        if norm is not None and any(alike(call.given, stream) for stream in streams):
            return norm, factor
    raise ValueError(
        f"{between or head.path}: expected one norm between what leaves the last block and"
        f" {head.path}"
    )


def _factor_and_cap(head: ModuleCall, out: Any, config: Any) -> tuple[float, float | None]:
    """What is done to what the map made: a factor, or a cap."""
    logits = next((x for x in (getattr(out, name, None) for name in LOGITS) if x is not None), None)
    if isinstance(logits, Tensor) and logits.shape == head.output.shape:
        factor = factor_of(logits, head.output)
        if factor is not None:
            return factor, None
        cap = getattr(config, "final_logit_softcapping", None)
        if cap is not None and alike(cap * torch.tanh(head.output / cap), logits):
            return 1.0, float(cap)
    raise ValueError(f"{head.path}: expected logits that are what it returns, times a factor")
