"""Traces one forward pass of a transformers model."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Any

from torch import Tensor

from models.attention import Edit, Pattern
from models.attention.functional import values_of
from models.attnlrp import Rules
from models.edits import check, of_input, of_network
from models.inputs.edited import edit_pixels
from models.inputs.layout import unread_note
from models.inputs.named import forward_arguments
from models.inputs.prepare import IMAGE, prepare_inputs
from models.inputs.sequences import ModelInputs
from models.picture_grid import WHOLE
from models.pretrained.edited_modules import resolved
from models.pretrained.hidden import hidden_states
from models.pretrained.origin import PretrainedOrigin
from models.pretrained.passes import record_pass
from models.pretrained.recording import Call, Recording
from models.progress import Progress, no_progress
from models.trace import Output, Site, Sound, Trace

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
ROUNDING = 1e-3  # of a row's sum in float32, over thousands of keys
States = Mapping[str | None, tuple[Tensor | None, ...]]
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
        source: see `models.inputs.prepare.prepare_inputs`.
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
    inputs = prepare_inputs(model, source, target)
    edit_pixels(model, inputs, of_input(edits))
    if logits_to_keep is not None and "logits_to_keep" in forward_arguments(model.network):
        inputs.arguments = {**inputs.arguments, "logits_to_keep": logits_to_keep}
    fewer = inputs.arguments.get("logits_to_keep")  # also one of the model's own inputs
    if fewer is not None and not isinstance(fewer, int):
        raise ValueError(
            "logits_to_keep: expected how many tokens get logits, counted from the last, received"
            f" {type(fewer).__name__}"
        )
    applied = resolved(model, inputs, of_network(edits))
    graph = differentiate is not None
    record, noted, out = record_pass(
        model, inputs, applied, hidden=hidden, gradient=graph, rules=rules, progress=progress
    )
    unseen = [f"not shown: {each}" for each in _untraceable(record)]
    if not record.calls:
        beside = "; ".join(each.removeprefix("not shown: ") for each in unseen)
        raise ValueError(
            f"{model.name} called no attention on this input: {beside or 'nothing to show'}"
        )
    calls, last = record.calls, record.calls[-1]
    check(record.edits, [call.where for call in calls])
    output = _with_tokens(output_of(out), inputs, last, fewer=fewer is not None)
    states = {
        tower: (*each, noted.final(tower, main=tower == last.entry.place.tower))
        for tower, each in noted.states.items()
    }
    gradients: Gradients = {}
    if differentiate is not None:
        patterns, gradients = differentiate(tuple(call.pattern for call in calls), output, states)
        pairs = zip(calls, patterns, strict=True)
        calls = [replace(call, pattern=_detached(pattern)) for call, pattern in pairs]
    check_calls(calls, output.values)
    sites = tuple(Site.of(call.where, call.pattern) for call in calls)
    text, target_text = (inputs.sequences.get(name) for name in ("text", "target"))
    axis = next((call for call in calls if call.kind != "cross"), calls[0]).axes[0]
    grid = axis.grid if "image" in inputs.sequences or calls[0].blocks is not None else None
    grid = None if text is not None or grid is None or grid.frames > 1 else grid
    return Trace(
        model=model.name,
        trained=model.trained,
        tokens=axis.tokens if text is None else text.tokens,
        sites=sites,
        output=replace(output, values=output.values.detach()),
        patterns=tuple(call.pattern for call in calls),
        grid=None if grid is None else grid[:2],
        prefix=0 if grid is None else grid.prefix,
        box=WHOLE if grid is None else grid.box,
        notes=(*inputs.notes, *_of_pictures(inputs, calls), *unseen),
        target_tokens=None if target_text is None else target_text.tokens,
        axes={site: call.axes for site, call in zip(sites, calls, strict=True)},
        hidden_states=hidden_states(states, gradients, calls),
        origin=PretrainedOrigin(model, inputs, applied),
        preprocessing=model.preprocessing,
        answer=inputs.answer,
        image_tokens=() if text is None else text.image_tokens,
        sound=_sound(inputs, model, sites),
        edits=tuple(edits),
    )


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


def _sound(inputs: ModelInputs, model: "Model", sites: Sequence[Site]) -> Sound | None:
    """The recordings of the input, if their length is known.

    A list of alignment heads with one that the decoder lacks was written for another decoder.
    """
    sequence = inputs.sequences.get("sound")
    duration = None if sequence is None else sequence.duration
    if duration is None:
        return None
    if model.prompts is None:
        stated = getattr(getattr(model.network, "generation_config", None), "alignment_heads", None)
    else:
        stated = json.loads(model.prompts.generation).get("alignment_heads")
    heads = {(s.layer, head) for s in sites if s.kind == "cross" for head in range(s.heads)}
    named = tuple(tuple(each) for each in stated or () if isinstance(each, list | tuple))
    known = heads.issuperset(named) or not heads
    return Sound(duration.seconds, duration.heard, named if known else ())


def _of_pictures(inputs: ModelInputs, calls: Sequence[Call]) -> Iterator[str]:
    """Notes that the images of an item are traced one by one, and on pixels that no patch has."""
    image, pixels = inputs.sequences.get("image"), inputs.arguments.get(IMAGE)
    if image is None or image.layout is None:
        return
    counts = [call.pattern.batch for call in calls if call.entry.source == "image"]
    if image.layout.tiles > 1 and max(counts, default=0) > inputs.items:
        yield f"{max(counts)} images or tiles, each traced by itself: views show the first"
    boxes = {axis.grid.box for call in calls for axis in call.axes if axis.grid}
    whole = image.layout.box in boxes or image.layout.tiles > 1  # else windows are filled up
    if isinstance(pixels, Tensor) and whole:
        note = unread_note(image.layout.box, (pixels.shape[-2], pixels.shape[-1]))
        yield from [note] if note else []


def _untraceable(record: Recording) -> Iterator[str]:
    """Attention that does not go through the interface, by class and path."""
    if kinds := record.modules.untraceable:
        yield f"attention inside {', '.join(kinds)}"
    silent: dict[str, list[str]] = {}
    for kind, path in record.silent():
        silent.setdefault(kind, []).append(path)
    for kind, paths in silent.items():
        some = ", ".join(sorted(paths)[:3]) + (" and others" if len(paths) > 3 else "")
        yield f"{kind} ({some}), which does not use transformers' attention interface"


# --- what is refused rather than drawn ----------------------------------------------------------


def check_once(calls: Sequence[Call]) -> None:
    """Checks that no layer attends several times in one pass, as differential attention does.

    Raises:
        ValueError: naming the layer.
    """
    for _, group in groupby(calls, lambda call: id(call.entry)):
        first, *others = group
        if others:
            raise ValueError(
                f"{first.entry.path} attends {1 + len(others)} times in one pass: what the layer"
                " makes of its maps is not known"
            )


def check_calls(calls: Sequence[Call], output: Tensor) -> None:
    """Checks that the values are numbers where the last of the output are none, and that sampled
    rows sum to 1 over the item's own keys where there are others.

    Raises:
        ValueError: naming the layer.
    """
    check_once(calls)
    for call in calls:
        pattern, item = call.pattern, call.pattern.batch - 1
        tokens, keys = (axis.tokens[item] for axis in call.axes)
        if len(tokens) and len(keys) != pattern.keys and not pattern.weights_edits:
            _check_rows(call, item)
    last = output[-1, -1] if output.ndim == 3 else output
    if not isfinite(float(last.detach().float().sum())):
        for call in calls:
            if not values_of(call.pattern).isfinite().all():
                raise ValueError(f"{call.entry.path}: its values are not numbers")


def _check_rows(call: Call, item: int) -> None:
    pattern, (rows, keys) = call.pattern, (axis.positions_of(item) for axis in call.axes)
    sampled = rows[[0, len(rows) // 2, -1]]
    weights = pattern.weights(pattern.heads - 1, sampled, item=item).detach()
    lost = weights.sum(-1) - weights[:, keys.to(weights.device)].sum(-1)
    if not bool((lost <= ROUNDING).all()):  # which NaN is not either
        raise ValueError(
            f"{call.entry.path} attends to padding or to tokens that cannot be named: a map of the"
            f" item's own {len(keys)} keys would leave out {float(lost.max()):.2f} of a row."
            " Trace the item alone, without padding"
        )
