"""Traces one forward pass of a transformers model."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.attention import Edit, Pattern
from models.eval_mode import without_dropout
from models.inputs.pretrained import ModelInputs, prepare_inputs
from models.inputs.sequences import InputSequence
from models.pretrained.attention_modules import AttentionModules
from models.pretrained.axes import axes_of
from models.pretrained.hidden import block_outputs, hidden_states
from models.pretrained.interface import Call, Recording, recording
from models.trace import Output, Site, Trace

if TYPE_CHECKING:
    from models.model import Model

NAMES = {  # in order of preference
    "logits": "logits",
    "prediction_logits": "logits",
    "logits_per_image": "similarity of each image to each text",
    "image_embeds": "embedding",
    "text_embeds": "embedding",
    "last_hidden_state": "hidden states",
}
Differentiate = Callable[[tuple[Pattern, ...], Output], tuple[Pattern, ...]]


def trace_pretrained(
    model: "Model",
    source: Any,
    target: Any = None,
    *,
    edits: Sequence[Edit] = (),
    hidden: bool = False,
    differentiate: Differentiate | None = None,
) -> Trace:
    """Runs a transformers model once and records a `Trace`.

    Args:
        model: of the library.
        source: see `models.inputs.pretrained.prepare_inputs`.
        target: see there.
        edits: interventions, in order.
        hidden: whether to record the hidden states of every layer.
        differentiate: adds gradients to the patterns, given the output.

    Raises:
        ValueError: for an input the model cannot read, an edit of a layer that is not there, or
            attention with something in it that is not known here.
    """
    inputs = prepare_inputs(model, source, target)
    record = Recording(AttentionModules.find_in(model.network), inputs.items, edits)
    states = block_outputs(model.network, record.modules) if hidden else nullcontext()
    gradients = torch.set_grad_enabled(differentiate is not None)
    with recording(model.network, record), gradients, states as blocks:
        out = _run(model, inputs, hidden)
    if not record.calls:
        raise ValueError(f"{model.name} called no attention on this input: nothing to show")
    _check_edits(edits, record.calls)
    output = _output(out)
    patterns = tuple(call.pattern for call in record.calls)
    if differentiate is not None:
        patterns = tuple(_detached(pattern) for pattern in differentiate(patterns, output))
    main = _main(inputs, record.calls, model.network.config)
    target_sequence = inputs.sequences.get("target")
    sites = tuple(_site(call) for call in record.calls)
    axes = [axes_of(call, inputs.sequences, model.network.config) for call in record.calls]
    return Trace(
        model=model.name,
        trained=model.trained,
        tokens=main.tokens,
        sites=sites,
        output=Output(output.name, output.values.detach()),
        patterns=patterns,
        grid=main.grid,
        prefix=main.prefix,
        notes=(*inputs.notes, *_untraceable_note(record.modules)),
        target_tokens=None if target_sequence is None else target_sequence.tokens,
        axes=dict(zip(sites, axes, strict=True)),
        hidden_states={}
        if blocks is None
        else hidden_states(out, blocks, sites, inputs.sequences, model.network.config),
    )


def run_untraced(model: "Model", source: Any, target: Any = None) -> Tensor:
    """The output of the model with its own attention."""
    inputs = prepare_inputs(model, source, target)
    with torch.no_grad():
        return _output(_run(model, inputs, hidden=False)).values


def _run(model: "Model", inputs: ModelInputs, hidden: bool) -> Any:
    """The forward pass in eval mode, without a key-value cache."""
    network, more = model.network, {"return_dict": True}
    if hidden:
        more["output_hidden_states"] = True
    if getattr(network.config.get_text_config(decoder=True), "use_cache", None) is not None:
        more["use_cache"] = False
    with without_dropout(network):
        return network(**{**more, **inputs.arguments})


def _output(out: Any) -> Output:
    for name, title in NAMES.items():
        value = getattr(out, name, None)
        if isinstance(value, Tensor):
            return Output(title, value)
    maps = getattr(out, "feature_maps", None)
    if maps:
        return Output("last feature map", maps[-1])
    values = [value for value in out.to_tuple() if isinstance(value, Tensor)]
    if not values:
        raise ValueError(f"expected an output with tensors, received {type(out).__name__}")
    return Output("output", values[0])


def _detached(pattern: Pattern) -> Pattern:
    """The pattern with its bias detached."""
    bias = pattern.bias
    return replace(pattern, bias=bias.detach()) if isinstance(bias, Tensor) else pattern


def _site(call: Call) -> Site:
    pattern = call.pattern
    return Site(
        call.layer, call.kind, pattern.heads, pattern.queries, pattern.keys, call.module.tower
    )


def _main(inputs: ModelInputs, calls: Sequence[Call], config: Any) -> InputSequence:
    """The main input sequence: text, else image, else the first attention axis."""
    if "text" in inputs.sequences:
        return inputs.sequences["text"]
    first = next((call for call in calls if call.kind != "cross"), calls[0])
    side, _ = axes_of(first, inputs.sequences, config)
    image = inputs.sequences.get("image")
    grid = None if image is None else image.grid
    grid = first.blocks.grid if first.blocks is not None else grid
    leading = sum(1 for _ in takewhile(bool, side.tokens[0].special))
    return InputSequence(
        "image", side.tokens, first.pattern.queries, side.positions, grid, leading if grid else 0
    )


def _check_edits(edits: Sequence[Edit], calls: Sequence[Call]) -> None:
    """Raises ValueError for an edit that applied to no attention call."""
    for edit in edits:
        layer, kind = getattr(edit, "layer", None), getattr(edit, "kind", None)
        met = [c for c in calls if layer in (None, c.layer) and kind in (None, c.kind)]
        if not met:
            layers = max(call.layer for call in calls)
            kinds = ", ".join(sorted({call.kind for call in calls}))
            raise ValueError(f"{edit}: expected a layer 0 to {layers} of {kinds}")


def _untraceable_note(modules: AttentionModules) -> tuple[str, ...]:
    if not modules.untraceable:
        return ()
    return (f"not shown: attention inside {', '.join(modules.untraceable)}",)
