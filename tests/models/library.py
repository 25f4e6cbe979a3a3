"""What transformers computes by itself: with eager attention, and with attention written out.

The latter is registered under a name of its own, so that its weights can be taken down, changed on
the way, or differentiated by.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from models.pretrained.attention_modules import configs_of

WRITTEN = "tests_written"
Change = Callable[[int, Tensor], Tensor]


class Seen(NamedTuple):
    """What a pass left: its output and the weights of each call, `batch head query key`."""

    output: Any
    weights: list[Tensor]


_weights: list[Tensor] = []
_changes: dict[str, Change] = {}


def _written(
    module: nn.Module,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, Tensor]:
    """Attention from its formula, with changes on the way by the number of the call."""
    call = len(_weights)
    q, k, v = (_changes[name](call, x) for name, x in (("q", q), ("k", k), ("v", v)))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scaling is None else scaling)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    scores = scores if position_bias is None else scores + position_bias
    scores = scores if attention_mask is None else scores + attention_mask
    sink = q.new_full((q.shape[1],), -torch.inf) if s_aux is None else s_aux
    sinks = sink[None, :, None, None].expand(*scores.shape[:3], 1)
    joined = _changes["scores"](call, torch.cat([scores, sinks], -1))
    _weights.append(_changes["weights"](call, torch.softmax(joined, -1)[..., :-1]))
    values = _changes["values"](call, _weights[-1] @ v)
    return values.transpose(1, 2).contiguous(), _weights[-1]


AttentionInterface.register(WRITTEN, _written)
AttentionMaskInterface.register(WRITTEN, eager_mask)


def eager(model: Any, inputs: Mapping[str, Any]) -> Any:
    """The library's own output with eager attention, its weights included."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            return model(**inputs, output_attentions=True)
    finally:
        model.set_attn_implementation(before)


def _same(call: int, x: Tensor) -> Tensor:
    return x


def written(model: nn.Module, inputs: Mapping[str, Any], **changes: Change) -> Seen:
    """A pass with attention written out; changes take the number of the call and the tensor.

    They are of q, k, v, scores, weights and values. Scores have a column more than keys: the sink.
    """
    names = ("q", "k", "v", "scores", "weights", "values")
    _changes.update({name: changes.get(name, _same) for name in names})
    configs = configs_of(model)
    before = [config._attn_implementation_internal for config in configs]
    for config in configs:
        config._attn_implementation_internal = WRITTEN
    _weights.clear()
    try:
        return Seen(model(**inputs), list(_weights))
    finally:
        for config, old in zip(configs, before, strict=True):
            config._attn_implementation_internal = old
