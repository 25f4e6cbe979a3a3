"""What transformers itself computes: every call of its own eager attention, weights included.

The library's eager function of each model's file is called under another name, so that its weights
can be taken down, changed on the way, or differentiated by.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from models.pretrained.attention_modules import configs_of

EAGER, WRITTEN = "tests_eager", "tests_written"
Change = Callable[[int, Tensor], Tensor]


class Seen(NamedTuple):
    """What the eager pass left: its output and the weights of each call, `batch head query key`."""

    output: Any
    weights: list[Tensor]


_weights: list[Tensor] = []
_changes: dict[str, Change] = {}


def _eager(module: nn.Module, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    function = sys.modules[type(module).__module__].eager_attention_forward
    out, weights = function(module, *args, **kwargs)
    _weights.append(weights)
    return out, weights


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


AttentionInterface.register(EAGER, _eager)
AttentionMaskInterface.register(EAGER, eager_mask)
AttentionInterface.register(WRITTEN, _written)
AttentionMaskInterface.register(WRITTEN, eager_mask)


@contextmanager
def _through(model: nn.Module, name: str) -> Iterator[None]:
    configs = configs_of(model)
    before = [config._attn_implementation_internal for config in configs]
    for config in configs:
        config._attn_implementation_internal = name
    _weights.clear()
    try:
        yield
    finally:
        for config, old in zip(configs, before, strict=True):
            config._attn_implementation_internal = old


def eager(model: nn.Module, inputs: Mapping[str, Any]) -> Seen:
    """The library's eager pass."""
    with _through(model, EAGER):
        out = model(**inputs)
    return Seen(out, list(_weights))


def _same(call: int, x: Tensor) -> Tensor:
    return x


def written(model: nn.Module, inputs: Mapping[str, Any], **changes: Change) -> Seen:
    """A pass with attention written out; changes take the number of the call and the tensor.

    They are of q, k, v, scores, weights and values. Scores have a column more than keys: the sink.
    """
    names = ("q", "k", "v", "scores", "weights", "values")
    _changes.update({name: changes.get(name, _same) for name in names})
    with _through(model, WRITTEN):
        out = model(**inputs)
    return Seen(out, list(_weights))


def stitched(model: Any, inputs: dict[str, Any], expected: Seen) -> Iterator[Tensor]:
    """Swin's windows as one matrix of the image's tokens, cell by cell; filling comes last."""
    rows, cols = (side // 2 for side in inputs["pixel_values"].shape[-2:])
    size, calls = model.config.window_size, iter(expected.weights)
    for depth in model.config.depths:
        for index in range(depth):
            yield one_image(next(calls), rows, cols, size, index % 2 * (size // 2))
        rows, cols = (rows + 1) // 2, (cols + 1) // 2


def one_image(windows: Tensor, rows: int, cols: int, size: int, shift: int) -> Tensor:
    high, wide = -(-rows // size) * size, -(-cols // size) * size
    outside = [(r, c) for r in range(high) for c in range(wide) if r >= rows or c >= cols]
    order = [(r, c) for r in range(rows) for c in range(cols)] + outside
    number = {place: index for index, place in enumerate(order)}
    across = wide // size
    count = high // size * across
    items = windows.unflatten(0, (-1, count))
    whole = torch.zeros(len(items), windows.shape[1], len(order), len(order))
    for window in range(count):
        top, left = window // across * size, window % across * size
        places = torch.tensor(
            [
                number[(top + a + shift) % high, (left + b + shift) % wide]
                for a in range(size)
                for b in range(size)
            ]
        )
        whole[:, :, places[:, None], places[None]] = items[:, window]
    return whole[:, :, : rows * cols]
