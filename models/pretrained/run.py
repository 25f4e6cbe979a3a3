"""Traces one forward pass of a transformers model."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.attention import Edit, Pattern
from models.attnlrp import Rules
from models.edits import check, of_input, of_network
from models.inputs.edited import edited
from models.inputs.layout import unread_note
from models.inputs.named import forward_arguments
from models.inputs.pretrained import IMAGE, prepare_inputs
from models.inputs.sequences import ModelInputs
from models.inputs.targets import writes_by_passes
from models.inputs.texts import text_config
from models.picture_grid import WHOLE
from models.pretrained.attention_modules import AttentionModules
from models.pretrained.axes import name_items, parts_of_batch
from models.pretrained.checks import check_calls
from models.pretrained.edited_modules import resolved
from models.pretrained.hidden import hidden_states
from models.pretrained.interface import recording_writing
from models.pretrained.origin import PretrainedOrigin
from models.pretrained.passes import new_recording, record_pass
from models.pretrained.recording import Call, Recording
from models.pretrained.written import NotJoinedError, Writing
from models.progress import Progress, no_progress
from models.text import Tokens
from models.trace import Output, PatchGrid, Site, Sound, Trace

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
OTHER_LAYERS = {  # of config.layer_types
    "linear_attention": "linear attention or a state space",
    "conv": "a convolution",
    "moe": "a mixture of experts",
    "mlp": "an MLP",
}
PROMPTS = ("input_points", "input_boxes")
States = Mapping[str | None, tuple[Tensor, ...]]
Gradients = Mapping[str | None, tuple[Tensor | None, ...]]
Differentiate = Callable[
    [tuple[Pattern, ...], Output, States], tuple[tuple[Pattern, ...], Gradients]
]


def trace_pretrained(
    model: "Model",
    source: Any,
    target: Any = None,
    *,
    hidden: bool,
    edits: Sequence[Edit] = (),
    differentiate: Differentiate | None = None,
    rules: Rules = "exact",
    logits_to_keep: int | None = None,
    progress: Progress = no_progress,
) -> Trace:
    """Runs a transformers model once and records a `Trace`.

    Args:
        model: of the library.
        source: see `models.inputs.pretrained.prepare_inputs`.
        target: see there.
        hidden: whether to record the hidden states of every layer.
        edits: interventions, in order.
        differentiate: adds gradients to the patterns, given the output.
        rules: of the gradients, "exact" or "attnlrp".
        logits_to_keep: see `models.run.trace`.
        progress: likewise.

    Raises:
        ValueError: for an input the model cannot read, an edit of a layer that is not there, or
            attention with something in it that is not known here.
    """
    writing: Writing | None = None

    def watch(prompt: ModelInputs) -> AbstractContextManager[None]:
        nonlocal writing
        writing = Writing(new_recording(model, prompt, progress=progress))
        return recording_writing(model.network, writing)

    alone = not hidden and differentiate is None and not edits
    alone &= model.network.config.is_encoder_decoder or writes_by_passes(model.network)
    inputs = prepare_inputs(
        model, source, target, watch=watch if alone else None, logits_to_keep=logits_to_keep or 0
    )
    image = inputs.sequences.get("image")
    grid = None if image is None else image.grid
    picture = None if grid is None else (grid[:2], grid.box)
    inputs.arguments = edited(model, inputs.arguments, IMAGE, picture, of_input(edits))
    if logits_to_keep is not None and "logits_to_keep" in forward_arguments(model.network):
        inputs.arguments = {**inputs.arguments, "logits_to_keep": logits_to_keep}
    fewer = "logits_to_keep" in inputs.arguments  # asked for here or among the model's own inputs
    if fewer and not isinstance(inputs.arguments["logits_to_keep"], int):
        raise ValueError(
            "logits_to_keep: expected how many tokens get logits, counted from the last, received"
            f" {type(inputs.arguments['logits_to_keep']).__name__}"
        )
    applied = resolved(model, inputs, of_network(edits))
    try:
        record, out = _joined(writing, inputs)
    except NotJoinedError:
        record, out = record_pass(
            model,
            inputs,
            applied,
            hidden=hidden,
            gradient=differentiate is not None,
            rules=rules,
            progress=progress,
        )
    if not record.calls:
        beside = "; ".join(_untraceable(record, model.network)) or "nothing to show"
        raise ValueError(f"{model.name} called no attention on this input: {beside}")
    check(record.edits, [call.where for call in record.calls])
    output = _with_tokens(output_of(out), inputs, record.calls[-1], fewer)
    states = {} if record.states is None else record.states.states
    last_tower = record.calls[-1].entry.place.tower
    finals = {} if record.states is None else record.states.finals(last_tower)
    gradients: Gradients = {}
    if differentiate is not None:
        patterns = tuple(call.pattern for call in record.calls)
        ended = {
            tower: (*each, *([finals[tower]] if tower in finals else []))
            for tower, each in states.items()
        }
        patterns, gradients = differentiate(patterns, output, ended)
        pairs = zip(record.calls, patterns, strict=True)
        record.calls = [replace(call, pattern=_detached(pattern)) for call, pattern in pairs]
    calls = record.calls
    check_calls(calls)
    main = _main(inputs, calls)
    target_sequence = inputs.sequences.get("target")
    sites = tuple(Site.of(call.where, call.pattern) for call in calls)
    sound, unaligned = _sound(inputs, model, sites)
    return Trace(
        model=model.name,
        trained=model.trained,
        tokens=main.tokens,
        sites=sites,
        output=replace(output, values=output.values.detach()),
        patterns=tuple(call.pattern for call in calls),
        grid=None if main.grid is None else main.grid[:2],
        prefix=0 if main.grid is None else main.grid.prefix,
        box=WHOLE if main.grid is None else main.grid.box,
        notes=(
            *inputs.notes,
            *_tiles(inputs, calls),
            *_unread(inputs, calls),
            *unaligned,
            *map("not shown: {}".format, _untraceable(record, model.network)),
        ),
        target_tokens=None if target_sequence is None else target_sequence.tokens,
        axes={site: call.axes for site, call in zip(sites, calls, strict=True)},
        hidden_states=hidden_states(states, finals, gradients, record.calls),
        item_names={
            site: _item_names(call, inputs) for site, call in zip(sites, calls, strict=True)
        },
        other_layers=_other_layers(model.network.config, sites),
        origin=PretrainedOrigin(model, inputs, applied),
        preprocessing=model.preprocessing,
        answer=inputs.answer,
        image_tokens=_image_tokens(inputs),
        sound=sound,
        edits=tuple(edits),
    )


def _joined(writing: Writing | None, inputs: ModelInputs) -> tuple[Recording, Any]:
    """What the passes that wrote an answer recorded, and what they returned."""
    if writing is None:
        raise NotJoinedError("nothing was written")
    record = writing.joined(inputs)
    logits = torch.cat(writing.logits, 1)
    return record, SimpleNamespace(logits=logits[:, -inputs.arguments.get("logits_to_keep", 0) :])


def output_of(out: Any) -> Output:
    """The tensor that stands for the output of a network, and its name.

    Raises:
        ValueError: for an output without tensors.
    """
    if isinstance(out, Tensor):
        return Output("output", out)
    for name, title in NAMES.items():
        value = getattr(out, name, None)
        if isinstance(value, Tensor):
            return Output(title, value)
    maps = getattr(out, "feature_maps", None)
    if maps:
        return Output("last feature map", maps[-1])
    parts = out if isinstance(out, tuple | list) else out.to_tuple()
    values = [value for value in parts if isinstance(value, Tensor)]
    if values:  # numbers before codes, which a codec returns besides
        return Output("output", next((v for v in values if v.is_floating_point()), values[0]))
    parts = [part for part in parts if isinstance(part, tuple) or hasattr(part, "to_tuple")]
    if not parts:
        raise ValueError(f"expected an output with tensors, received {type(out).__name__}")
    return output_of(parts[-1])  # of the last of several networks


def _with_tokens(output: Output, inputs: ModelInputs, last: Call, fewer: bool) -> Output:
    """The output, and which tokens of the text, or else of the last attention, it is of."""
    text = inputs.sequences.get("target", inputs.sequences.get("text"))
    if output.values.ndim != 3:
        return output
    if text is None:
        fits = output.values.shape[:2] == (last.pattern.batch, last.pattern.queries)
        return replace(output, positions=last.axes[0].positions) if fits else output
    first = text.length - output.values.shape[1] if fewer else 0
    if first + output.values.shape[1] != text.length:
        return output
    return replace(output, first=first, positions=text.positions)


def _detached(pattern: Pattern) -> Pattern:
    """The pattern with its bias detached."""
    bias = pattern.bias
    return replace(pattern, bias=bias.detach()) if isinstance(bias, Tensor) else pattern


def _other_layers(config: Any, sites: Sequence[Site]) -> dict[int, str]:
    """What the blocks without attention weights are, by number; {} for models of several towers."""
    types = tuple(map(str, getattr(text_config(config), "layer_types", None) or ()))
    layers = {site.layer for site in sites}
    if len({site.tower for site in sites}) > 1 or max(layers) >= len(types):
        return {}
    return {
        layer: OTHER_LAYERS.get(kind, kind.replace("_", " "))
        for layer, kind in enumerate(types)
        if layer not in layers
    }


def _item_names(call: Call, inputs: ModelInputs) -> tuple[str, ...]:
    prompted = any(name in inputs.arguments for name in PROMPTS)
    part = "" if call.packing is not None else "prompt" if prompted else "part"
    source, batch = call.entry.source, call.pattern.batch
    part = "tile" if source == "image" and _tiled(inputs) else part
    parts = parts_of_batch(inputs.parts, batch) if source == "image" else ()
    if parts:
        return tuple(f"image {each.picture}" + (each.name and f", {each.name}") for each in parts)
    return name_items(source, inputs.sequences, batch, inputs.items, part)


def _image_tokens(inputs: ModelInputs) -> tuple[tuple[int, ...], ...]:
    """By item, the tokens of the text that stand for pictures but have no places on them."""
    text = inputs.sequences.get("text")
    return () if text is None else text.image_tokens


def _sound(
    inputs: ModelInputs, model: "Model", sites: Sequence[Site]
) -> tuple[Sound | None, tuple[str, ...]]:
    """The recordings of the input, if their length is known; and a note on alignment heads.

    A list with a head that the decoder lacks was written for another one: none of it is used.
    """
    sequence = inputs.sequences.get("sound")
    duration = None if sequence is None else sequence.duration
    if duration is None:
        return None, ()
    if model.prompts is None:
        stated = getattr(getattr(model.network, "generation_config", None), "alignment_heads", None)
    else:
        stated = json.loads(model.prompts.generation).get("alignment_heads")
    pairs = [tuple(each) for each in stated if isinstance(each, list | tuple)] if stated else []
    heads = tuple(each for each in pairs if [type(part) for part in each] == [int, int])
    there = {
        (site.layer, head) for site in sites if site.kind == "cross" for head in range(site.heads)
    }
    missing = [each for each in heads if each not in there]
    if not there or not missing:
        return Sound(duration.seconds, duration.heard, heads), ()
    layer, head = missing[0]
    note = (
        "the checkpoint names alignment heads that its decoder does not have, such as layer"
        f" {layer}, head {head}: words are timed by the heads that follow time best"
    )
    return Sound(duration.seconds, duration.heard), (note,)


def _tiled(inputs: ModelInputs) -> bool:
    """Whether an item of the input holds several images."""
    image = inputs.sequences.get("image")
    return image is not None and image.layout is not None and image.layout.tiles > 1


def _tiles(inputs: ModelInputs, calls: Sequence[Call]) -> tuple[str, ...]:
    """A note that the images of an item are traced one by one."""
    counts = [call.pattern.batch for call in calls if call.entry.source == "image"]
    count = max(counts, default=0)
    if not _tiled(inputs) or count <= inputs.items:
        return ()
    return (f"{count} images or tiles, each traced by itself: views show the first",)


def _unread(inputs: ModelInputs, calls: Sequence[Call]) -> tuple[str, ...]:
    """A note on the pixels that are in no patch, where attention is among the patches."""
    image, pixels = inputs.sequences.get("image"), inputs.arguments.get(IMAGE)
    if image is None or image.layout is None or not isinstance(pixels, Tensor):
        return ()
    boxes = {grid.box for call in calls for grid in (axis.grid for axis in call.axes) if grid}
    if image.layout.box not in boxes and image.layout.tiles == 1:
        return ()  # its windows are filled up
    note = unread_note(image.layout.box, (pixels.shape[-2], pixels.shape[-1]))
    return (note,) if note else ()


@dataclass(frozen=True, eq=False)
class _Main:
    """The main input: its tokens, their number with padding, and the grid of a single image."""

    tokens: tuple[Tokens, ...]
    length: int
    grid: PatchGrid | None = None


def _main(inputs: ModelInputs, calls: Sequence[Call]) -> _Main:
    """The main input sequence: text, else the first attention axis."""
    if "text" in inputs.sequences:
        text = inputs.sequences["text"]
        return _Main(text.tokens, text.length)
    first = next((call for call in calls if call.kind != "cross"), calls[0])
    axis, _ = first.axes
    drawn = "image" in inputs.sequences or first.blocks is not None
    grid = axis.grid if drawn and axis.grid is not None and axis.grid.frames == 1 else None
    return _Main(axis.tokens, first.pattern.queries, grid)


def _untraceable(record: Recording, network: nn.Module) -> tuple[str, ...]:
    """Attention that does not go through the interface, by class and path.

    Of the network after the pass: BigBird puts other layers in for a short input as it runs.
    """
    kinds = AttentionModules.find_in(network).untraceable
    reasons = [f"attention inside {', '.join(kinds)}"] if kinds else []
    silent: dict[str, list[str]] = {}
    for kind, path in record.silent():
        silent.setdefault(kind, []).append(path)
    for kind, paths in silent.items():
        some = ", ".join(sorted(paths)[:3]) + (" and others" if len(paths) > 3 else "")
        reasons.append(f"{kind} ({some}), which does not use transformers' attention interface")
    return tuple(reasons)
