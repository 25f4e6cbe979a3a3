"""One pass of a transformers model, as a `Trace`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.attention import Edit, Pattern
from models.inputs.pretrained import Given, given
from models.inputs.streams import Stream
from models.pretrained.attention_modules import Places
from models.pretrained.axes import sides_of, stacks
from models.pretrained.interface import Call, Recording, recording
from models.trace import Output, Site, Trace

if TYPE_CHECKING:
    from models.model import Model

NAMES = {  # in this order: what a model is for comes before what it has on the way
    "logits": "logits",
    "prediction_logits": "logits",
    "logits_per_image": "similarity of each image to each text",
    "image_embeds": "embedding",
    "text_embeds": "embedding",
    "last_hidden_state": "hidden states",
}
Differentiate = Callable[[tuple[Pattern, ...], Output], tuple[Pattern, ...]]


def traced(
    model: "Model",
    source: Any,
    target: Any = None,
    *,
    edits: Sequence[Edit] = (),
    hidden: bool = False,
    differentiate: Differentiate | None = None,
) -> Trace:
    """Runs a transformers model once and keeps what every view is made from.

    Args:
        model: of the library.
        source: see `models.inputs.pretrained.given`.
        target: see there.
        edits: what to change on the way.
        hidden: whether to keep the hidden states of every layer.
        differentiate: gives the patterns with their gradients, from them and the output.

    Raises:
        ValueError: for an input the model cannot read, an edit of a layer that is not there, or
            attention with something in it that is not known here.
    """
    inputs = given(model, source, target)
    record = Recording(Places.in_network(model.network), inputs.items, edits)
    with recording(model.network, record), torch.set_grad_enabled(differentiate is not None):
        out = _run(model, inputs, hidden)
    if not record.calls:
        raise ValueError(f"{model.name} did not attend at all on this input: nothing to show")
    _check_edits(edits, record.calls)
    output = _output(out)
    patterns = tuple(call.pattern for call in record.calls)
    if differentiate is not None:
        patterns = tuple(_free(pattern) for pattern in differentiate(patterns, output))
    main = _main(inputs, record.calls, model.network.config)
    target_stream = inputs.streams.get("target")
    sites = tuple(_site(call) for call in record.calls)
    sides = [sides_of(call, inputs.streams, model.network.config) for call in record.calls]
    return Trace(
        model=model.name,
        trained=model.trained,
        tokens=main.tokens,
        sites=sites,
        output=Output(output.name, output.values.detach()),
        patterns=patterns,
        grid=main.grid,
        prefix=main.prefix,
        notes=(*inputs.notes, *_apart(record.places)),
        target_tokens=None if target_stream is None else target_stream.tokens,
        sides=dict(zip(sites, sides, strict=True)),
        stacks=stacks(out, sites, inputs.streams, model.network.config) if hidden else {},
    )


def plain(model: "Model", source: Any, target: Any = None) -> Tensor:
    """The output of the untouched model: the library's own attention, nothing recorded."""
    inputs = given(model, source, target)
    with torch.no_grad():
        return _output(_run(model, inputs, hidden=False)).values


def _run(model: "Model", inputs: Given, hidden: bool) -> Any:
    """The library's forward, without a cache and in eval mode."""
    network, more = model.network, {"return_dict": True}
    if hidden:
        more["output_hidden_states"] = True
    if getattr(network.config.get_text_config(decoder=True), "use_cache", None) is not None:
        more["use_cache"] = False
    training = [part for part in network.modules() if part.training]
    network.eval()
    try:
        return network(**{**more, **inputs.arguments})
    finally:
        for part in training:
            part.training = True


def _output(out: Any) -> Output:
    for name, title in NAMES.items():
        value = getattr(out, name, None)
        if isinstance(value, Tensor):
            return Output(title, value)
    values = [value for value in out.to_tuple() if isinstance(value, Tensor)]
    if not values:
        raise ValueError(f"expected an output, received {type(out).__name__} without numbers")
    return Output("output", values[0])


def _free(pattern: Pattern) -> Pattern:
    """Without the graph that a bias made of parameters hangs on."""
    bias = pattern.bias
    return replace(pattern, bias=bias.detach()) if isinstance(bias, Tensor) else pattern


def _site(call: Call) -> Site:
    pattern = call.pattern
    return Site(
        call.layer, call.kind, pattern.heads, pattern.queries, pattern.keys, call.place.tower
    )


def _main(inputs: Given, calls: Sequence[Call], config: Any) -> Stream:
    """The stream that stands for the model: its text, else its image, else its first axis."""
    if "text" in inputs.streams:
        return inputs.streams["text"]
    first = next((call for call in calls if call.kind != "cross"), calls[0])
    side, _ = sides_of(first, inputs.streams, config)
    image = inputs.streams.get("image")
    grid = None if image is None else image.grid
    grid = first.blocks.grid if first.blocks is not None else grid
    leading = sum(1 for _ in takewhile(bool, side.tokens[0].special))
    return Stream(
        "image", side.tokens, first.pattern.queries, side.own, grid, leading if grid else 0
    )


def _check_edits(edits: Sequence[Edit], calls: Sequence[Call]) -> None:
    """Raises ValueError for an edit that met no attention."""
    for edit in edits:
        layer, kind = getattr(edit, "layer", None), getattr(edit, "kind", None)
        met = [c for c in calls if layer in (None, c.layer) and kind in (None, c.kind)]
        if not met:
            layers = max(call.layer for call in calls)
            kinds = ", ".join(sorted({call.kind for call in calls}))
            raise ValueError(f"{edit}: expected a layer 0 to {layers} of {kinds}")


def _apart(places: Places) -> tuple[str, ...]:
    if not places.apart:
        return ()
    return (f"not shown: attention inside {', '.join(places.apart)}",)
