"""Traces any transformers model through the library's attention interface.

Models of transformers look their attention function up by a name in their config. While a trace
runs, that name is ours: every attention layer calls `attend`, which runs the fused kernel, applies
the edits and records its `Pattern`. No code is written per model.

The state of a trace lives in one ContextVar, so concurrent traces never mix, in threads or tasks.
A call outside a trace, of a model that another thread traces, computes as without it.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from models.attention import Dot, Edit, Mask, Pattern, attend
from models.edits import at
from models.pretrained.attention_modules import AttentionModule, AttentionModules
from models.pretrained.implementation import (
    NAME,
    configs_of,
    count_traces,
    untraced_implementation,
)
from models.pretrained.masks import LazyMask, MaskAndBias, create_mask, parse_mask
from models.pretrained.windows import Blocks

# Arguments of attention functions that do not change the weights: the mask already contains
# is_causal and sliding_window, and the others address other kernels or other layers.
IGNORED_ARGUMENTS = frozenset(
    {"is_causal", "sliding_window", "output_attentions", "output_hidden_states", "return_dict"}
    | {"output_router_logits", "use_cache", "cache_position", "position_ids", "cache"}
    | {"num_items_in_batch", "deterministic", "indices", "logits_to_keep", "past_key_values"}
)


@dataclass(frozen=True, eq=False)
class Call:
    """One recorded attention call.

    Attributes:
        module: the attention layer.
        layer: index among the layers of its tower, cross-attention counted apart.
        kind: "self", "causal" or "cross".
        pattern: its recipe.
        blocks: how the blocks were merged, if the library attended block by block.
    """

    module: AttentionModule
    layer: int
    kind: str
    pattern: Pattern
    blocks: Blocks | None = None


@dataclass(eq=False)
class Recording:
    """The state of one running trace.

    Attributes:
        modules: the attention layers of the network.
        items: size of the batch.
        edits: edits of the forward pass.
        calls: attention calls so far, in order.
        window: the module of shifted windows that runs now, and its rows and columns.
    """

    modules: AttentionModules
    items: int
    edits: Sequence[Edit] = ()
    calls: list[Call] = field(default_factory=list)
    window: tuple[Any, tuple[int, int]] | None = None
    _readings: dict[int, tuple[Tensor, MaskAndBias]] = field(default_factory=dict)

    def reading(self, matrix: Tensor | None, batch: int, keys: int) -> MaskAndBias:
        """A mask parsed; a matrix shared by several layers is parsed once."""
        if matrix is None or isinstance(matrix, LazyMask):
            return parse_mask(matrix, batch, keys)
        known = self._readings.get(id(matrix))
        if known is None or known[0] is not matrix:
            known = matrix, parse_mask(matrix, batch, keys)
            self._readings[id(matrix)] = known
        return known[1]

    def layer(self, place: AttentionModule, kind: str) -> int:
        """The layer index of the next call."""
        return sum(
            call.module.tower == place.tower and (call.kind == "cross") == (kind == "cross")
            for call in self.calls
        )


_recording: ContextVar[Recording | None] = ContextVar("headscope_recording", default=None)


@contextmanager
def recording(network: nn.Module, record: Recording) -> Iterator[None]:
    """Inside, every attention of the network goes through `attend` and is recorded.

    On leaving, also by an exception, the network and its configs are as they were.
    """
    configs = configs_of(network)
    hooks = [
        module.register_forward_pre_hook(_remember_window, with_kwargs=True)
        for module in network.modules()
        if hasattr(module, "window_size") and hasattr(module, "shift_size")
    ]
    count_traces(configs, 1)
    token = _recording.set(record)
    try:
        yield
    finally:
        _recording.reset(token)
        count_traces(configs, -1)
        for hook in hooks:
            hook.remove()


def _remember_window(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
    record = _recording.get()
    if record is not None and len(args) + len(kwargs) > 1:
        size = kwargs["input_dimensions"] if "input_dimensions" in kwargs else args[1]
        record.window = module, (int(size[0]), int(size[1]))


# --- called by the library -----------------------------------------------------------------------


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, Tensor | None]:
    record = _recording.get()
    if record is None:
        known = {"softcap": softcap, "s_aux": s_aux, "position_bias": position_bias, **others}
        given = {name: value for name, value in known.items() if value is not None}
        before = _before(module, ALL_ATTENTION_FUNCTIONS)
        return before(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **given
        )
    unknown = [n for n, v in others.items() if v is not None and n not in IGNORED_ARGUMENTS]
    if unknown:
        raise ValueError(
            f"{type(module).__name__} passes its attention {', '.join(sorted(unknown))}, which"
            " is not supported: weights computed without it would be wrong"
        )
    if len(query) < len(key):
        query = query.expand(len(key), -1, -1, -1)
    mask, bias = record.reading(attention_mask, len(query), key.shape[2])
    if position_bias is not None:
        position_bias = position_bias[..., : key.shape[2]]
        bias = position_bias if bias is None else bias + position_bias
    sink = None if s_aux is None else s_aux.reshape(-1)
    recipe = Pattern(query, key, value, mask=mask, score=Dot(scaling, softcap, sink), bias=bias)
    values = _recorded(record, module, recipe, dropout)
    return values.transpose(1, 2).contiguous(), None


def _recorded(record: Recording, module: nn.Module, recipe: Pattern, dropout: float) -> Tensor:
    """The values of a recipe with the edits of its layer; the call is recorded."""
    place = record.modules.of(module)
    kind = "cross" if place.cross or recipe.queries != recipe.keys else _kind(recipe.mask)
    layer = record.layer(place, kind)
    edits = at(record.edits, layer, kind)
    blocks = _blocks(record, recipe)
    whole = recipe if blocks is None else blocks.pattern(recipe)
    values, pattern = _attend(recipe if blocks and not edits else whole, dropout, edits)
    if blocks and not edits:
        merged = blocks.merge(values)[:, :, : whole.queries]
        kept = merged if merged.requires_grad else None
        pattern = replace(whole, path=pattern.path, values=kept)
        values = values if kept is None else blocks.split(merged)
    elif blocks:
        values = blocks.split(values)
    record.calls.append(Call(place, layer, kind, pattern, blocks))
    return values


def _attend(recipe: Pattern, dropout: float, edits: Sequence[Edit]) -> tuple[Tensor, Pattern]:
    return attend(
        recipe.q,
        recipe.k,
        recipe.v,
        mask=recipe.mask,
        score=recipe.score,
        bias=recipe.bias,
        dropout=dropout,
        edit=edits,
    )


def _kind(mask: Mask) -> str:
    if mask.causal:
        return "causal"
    dense = mask.dense
    if dense is None or dense.shape[2] == 1 or dense.shape[2] != dense.shape[3]:
        return "self"
    return "self" if dense.triu(1).any() else "causal"


def _blocks(record: Recording, recipe: Pattern) -> Blocks | None:
    """How the items of the batch were cut into windows or chunks, if they were."""
    window, record.window = record.window, None
    count, rest = divmod(recipe.batch, record.items)
    if window is not None:
        layer, (rows, cols) = window
        return Blocks.of_image(rows, cols, int(layer.window_size), int(layer.shift_size))
    if rest or count < 2 or recipe.queries != recipe.keys:
        return None
    return Blocks.in_order(count, recipe.queries)


def _mask(**asked: Any) -> Tensor | None:
    if _recording.get() is not None:
        return create_mask(asked)
    previous = untraced_implementation(asked["config"])
    return ALL_MASK_ATTENTION_FUNCTIONS.get(previous or "sdpa", sdpa_mask)(**asked)


def _before(module: nn.Module, functions: Any) -> Callable[..., Any]:
    """The attention function the layer calls outside a trace."""
    previous = untraced_implementation(getattr(module, "config", None))
    own = sys.modules[type(module).__module__]
    functions = getattr(own, "ALL_ATTENTION_FUNCTIONS", functions)
    return functions.get_interface(previous, getattr(own, "eager_attention_forward", None))


AttentionInterface.register(NAME, _attention)
AttentionMaskInterface.register(NAME, _mask)
