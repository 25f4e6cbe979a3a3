"""Traces any transformers model through the library's attention interface.

Models of transformers look their attention function up by a name in their config. While a trace
runs, that name is ours: every attention layer calls `attend`, which runs the fused kernel, applies
the edits and records its `Pattern`. No code is written per model.

The state of a trace lives in one ContextVar, so concurrent traces never mix, in threads or tasks.
A call outside a trace, of a model that another thread traces, computes as without it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any

import torch
from einops import rearrange
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from models.attention import Dot, Mask, Pattern
from models.attention.functional import attended
from models.edits import at
from models.pretrained.attention_modules import alive
from models.pretrained.implementation import (
    EAGER,
    NAME,
    PACKED,
    check_standard,
    count_traces,
    untraced_implementation,
)
from models.pretrained.own_weights import own_weights
from models.pretrained.recording import Call, Entry, Recording
from models.pretrained.windows import recipe_of
from models.structure import hooked

# Arguments of attention functions that cannot change the weights. The library's eager attention
# ignores them all: the mask contains the sliding window, positions are in queries and keys, and
# the others address other kernels, other layers or the loss.
IRRELEVANT = frozenset(
    {"sliding_window", "output_attentions", "output_hidden_states", "return_dict", "use_cache"}
    | {"output_router_logits", "cache_position", "position_ids", "num_items_in_batch"}
    | {"vision_feature_layer", "vision_feature_select_strategy"}  # whose features are chosen
    | {"deterministic", "logits_to_keep", "past_key_values", "grid_thw", "input_ids"}
)

PLAIN, CAUSAL = Mask(), Mask(causal=True)

_recording: ContextVar[Recording | None] = ContextVar("headscope_recording", default=None)


@contextmanager
def recording(network: nn.Module, record: Recording) -> Iterator[None]:
    """Inside, every attention of the network goes through `attend` and is recorded; of a network
    whose layers compute weights themselves, what they return.

    On leaving, also by an exception, the network and its configs are as they were.
    """
    modules = record.modules
    layers = [(module, partial(_windows, record)) for _, module in alive(modules.recipes)]
    check_standard(modules.configs)
    name = EAGER if modules.returners else NAME
    count_traces(modules.configs, 1, modules.packed, name)
    try:
        with hooked(after=layers), observing(network, record), own_weights(record):
            yield
    finally:
        count_traces(modules.configs, -1)


@contextmanager
def observing(network: nn.Module, record: Recording) -> Iterator[None]:
    """Inside, the record follows which module runs; the network keeps its own attention."""
    modules, containers = record.modules, alive(record.modules.containers)
    before = [(module, record.enter_attention) for _, module in alive(modules.attention)]
    before += [(m, partial(record.enter_windows, path)) for path, m in alive(modules.windows)]
    before += [(module, partial(record.enter_container, path)) for path, module in containers]
    after = [(module, partial(record.sources.leave, path)) for path, module in containers]
    edits = [  # each goes before all hooks that are there: the first edit comes first
        [
            (network.get_submodule(edit.path), partial(edit.hook, record))
            for edit in reversed(record.module_edits)
            if edit.reads == reads
        ]
        for reads in (True, False)
    ]
    token = _recording.set(record)
    try:
        with hooked(before, after), hooked(*edits, first=True):
            yield
    finally:
        _recording.reset(token)


def current_recording() -> Recording | None:
    """The record of the pass that runs here, if one does."""
    return _recording.get()


def _windows(
    record: Recording, module: nn.Module, args: tuple, kwargs: dict[str, Any], output: Any
) -> tuple[Tensor, ...] | None:
    """The output of a window layer, with the values that `attend` gives in place of its own.

    Without dropout: a traced pass runs in eval mode.
    """
    build = recipe_of(type(module))
    if build is None:
        return None
    given = dict(zip(("hidden_states", "attention_mask"), args, strict=False)) | kwargs
    recipe = build(module, given["hidden_states"], given.get("attention_mask"))
    values = _recorded(record, record.entry(module), module, recipe, 0.0, None)
    return rearrange(values, "window head slot dim -> window slot (head dim)"), *output[1:]


# --- called by the library -----------------------------------------------------------------------


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | int | None = None,
    **keywords: Any,
) -> tuple[Tensor, Tensor | None]:
    record = _recording.get()
    given = {name: value for name, value in keywords.items() if value is not None}
    if record is None:
        call = partial(_before(module, ALL_ATTENTION_FUNCTIONS), module)
        return _untraced(call, (query, key, value), attention_mask, dropout, scaling, given)
    entry = record.entry(module)
    boundaries = _boundaries(module, attention_mask, given)
    softcap, sink = given.pop("softcap", None), given.pop("s_aux", None)
    if query.shape[0] < key.shape[0]:
        query = query.expand(key.shape[0], -1, -1, -1)
    asked = given.pop("is_causal", None)
    if attention_mask is None:
        causal = boundaries is None and query.shape[2] > 1 and _is_causal(module, asked)
        mask, bias = CAUSAL if causal else PLAIN, None
    else:
        mask, bias = record.reading(attention_mask, query.shape[0], key.shape[2])
    position_bias = given.pop("position_bias", None)
    if position_bias is not None:
        position_bias = position_bias[..., : key.shape[2]]
        bias = position_bias if bias is None else bias + position_bias
    unknown = sorted(given.keys() - IRRELEVANT)
    if unknown:
        raise ValueError(
            f"{type(module).__name__} ({entry.path}) passes its attention {', '.join(unknown)},"
            " which is not supported: weights computed without it would be wrong"
        )
    scale = None if scaling is None else float(scaling)
    score = _dot(scale, softcap) if sink is None else Dot(scale, softcap, sink.reshape(-1))
    recipe = Pattern(query, key, value, mask=mask, score=score, bias=bias)
    values = _recorded(record, entry, module, recipe, dropout, boundaries)
    return values.transpose(1, 2).contiguous(), None


@lru_cache(maxsize=64)
def _dot(scale: float | None, softcap: float | None) -> Dot:
    """The score of a layer without a sink, which those of a network share."""
    return Dot(scale, softcap)


def _recorded(
    record: Recording,
    entry: Entry,
    module: nn.Module,
    recipe: Pattern,
    dropout: float,
    boundaries: Tensor | None,
) -> Tensor:
    """The values of a recipe with the edits of its layer; the call is recorded."""
    slots = record.cut(entry, recipe) if boundaries is None else record.packed(boundaries)
    whole = recipe if slots is None else slots.pattern(recipe)
    kind = _kind(module, whole, entry.cross)
    edits = at(record.edits, entry.where(kind)) if record.edits else ()
    axes = record.axes(entry, whole, slots)
    whole = record.with_padding(whole, axes)
    if slots is None or slots.grid is None or edits:
        values, pattern = attended(whole, edits, dropout)
        values = values if slots is None else slots.split(values)
    else:  # window by window
        values, pattern = attended(recipe, (), dropout)
        merged = slots.merge(values)[:, :, : whole.queries]
        kept = merged if merged.requires_grad else None
        pattern = whole.derived(path=pattern.path, values=kept)
        values = values if kept is None else slots.split(merged)
    record.calls.append(Call(entry, kind, pattern, axes, slots))
    return values


def _kind(module: nn.Module, recipe: Pattern, cross: bool) -> str:
    """The kind of an attention layer, whatever the lengths of its input.

    A single query sees the same keys by any rule; there the module's own word decides.
    """
    if cross:
        return "cross"
    if recipe.mask.causal:
        return "causal"
    dense = recipe.mask.dense
    if recipe.queries == 1:
        return "causal" if getattr(module, "is_causal", False) is True else "self"
    earlier = recipe.keys - recipe.queries  # cached keys come first
    if dense is None or earlier < 0 or dense.shape[2:] != (recipe.queries, recipe.keys):
        return "self"
    return "self" if dense.triu(earlier + 1).any() else "causal"


def _is_causal(module: nn.Module, asked: bool | None) -> bool:
    """Whether the library's fused attention makes a mask of its own, where it is given none."""
    causal = getattr(module, "is_causal", True) if asked is None else asked
    return bool(causal) and untraced_implementation(getattr(module, "config", None)) != "eager"


def _boundaries(module: nn.Module, mask: Tensor | None, given: dict[str, Any]) -> Tensor | None:
    """The boundaries of packed sequences, taken from the keywords."""
    config = getattr(module, "config", None)
    if "cu_seq_lens_q" not in given or getattr(config, "_attn_implementation", None) != PACKED:
        return None
    boundaries, other = given.pop("cu_seq_lens_q"), given.pop("cu_seq_lens_k", None)
    for name in ("max_length_q", "max_length_k", "is_causal"):
        given.pop(name, None)
    if mask is not None or (other is not None and not other.equal(boundaries)):
        raise ValueError(
            f"{type(module).__name__} packs queries and keys differently, or masks them besides:"
            " expected one set of boundaries and no mask"
        )
    return boundaries


def _mask(**asked: Any) -> Tensor | None:
    """Of the type that the model gets outside of a trace, since some compute with it."""
    previous = untraced_implementation(asked["config"]) or "sdpa"
    if current_recording() is not None:  # others may hand their kernels something else
        previous = previous if previous in ("eager", "sdpa") else "sdpa"
    return ALL_MASK_ATTENTION_FUNCTIONS.get(previous, sdpa_mask)(**asked)


def _before(module: nn.Module, functions: Any) -> Callable[..., Any]:
    """The attention function the layer calls outside a trace."""
    previous = untraced_implementation(getattr(module, "config", None))
    library = sys.modules[type(module).__module__]
    functions = getattr(library, "ALL_ATTENTION_FUNCTIONS", functions)
    return functions.get_interface(previous, getattr(library, "eager_attention_forward", None))


def _untraced(
    call: Callable[..., Any],
    qkv: tuple[Tensor, Tensor, Tensor],
    mask: Tensor | None,
    dropout: float,
    scaling: float | None,
    given: dict[str, Any],
) -> tuple[Tensor, Tensor | None]:
    """The layer's own attention; packed sequences one by one, as it expects them."""
    boundaries = given.get("cu_seq_lens_q")
    if boundaries is None or "max_length_q" not in given:
        return call(*qkv, mask, dropout=dropout, scaling=scaling, **given)
    lengths = boundaries.diff().tolist()
    rest = {name: value for name, value in given.items() if not name.startswith(("cu_", "max_"))}
    parts = zip(*(x.split(lengths, dim=2) for x in qkv), strict=True)
    outputs = [call(*part, mask, dropout=dropout, scaling=scaling, **rest)[0] for part in parts]
    return torch.cat(outputs, dim=1), None


for _name in (NAME, PACKED):
    AttentionInterface.register(_name, _attention)
    AttentionMaskInterface.register(_name, _mask)
