"""One traced pass of a transformers model, and what is refused rather than drawn."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.attention import Edit
from models.attention.functional import values_of
from models.attention.given import GivenWeights
from models.attnlrp import Rules
from models.edits import check
from models.inputs.layout import unread_note
from models.inputs.named import forward_arguments
from models.inputs.prepare import IMAGE
from models.inputs.sequences import ModelInputs
from models.pretrained.attention_modules import AttentionModules
from models.pretrained.edited_modules import resolved
from models.pretrained.hidden import hidden_states
from models.pretrained.origin import PretrainedOrigin
from models.pretrained.own_weights import check_fits, notes
from models.pretrained.passes import record_pass
from models.pretrained.recording import Call, Recording
from models.progress import Progress
from models.trace import Output, Site, Trace, grid_fields

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


def traced_pass(
    model: "Model",
    inputs: ModelInputs,
    edits: Sequence[Edit],
    *,
    hidden: bool,
    rules: Rules,
    logits_to_keep: int | None,
    progress: Progress,
) -> Trace:
    """Runs a transformers model once, and keeps the graph; arguments as for `models.run.trace`.

    Raises:
        ValueError: for an edit of a layer that is not there, or attention with something in it that
            is not known here.
    """
    if logits_to_keep is not None and "logits_to_keep" in forward_arguments(model.network):
        inputs.arguments = {**inputs.arguments, "logits_to_keep": logits_to_keep}
    fewer = inputs.arguments.get("logits_to_keep")  # also one of the model's own inputs
    if fewer is not None and not isinstance(fewer, int):
        raise ValueError(
            "logits_to_keep: expected how many tokens get logits, counted from the last, received"
            f" {type(fewer).__name__}"
        )
    applied = resolved(model, inputs, edits)
    check_fits(model.name, AttentionModules.find_in(model.network), model.network.config, inputs)
    record, noted, out = record_pass(
        model, inputs, applied, hidden=hidden, rules=rules, progress=progress
    )
    unseen = [*_untraceable(record)]
    if not record.calls:
        beside = "; ".join(unseen) or "nothing to show"
        raise ValueError(f"{model.name} called no attention on this input: {beside}")
    calls, last = record.calls, record.calls[-1]
    check(record.edits, [call.where for call in calls])
    output = _with_tokens(output_of(out), inputs, last, fewer=fewer is not None)
    check_calls(calls, output.values)
    sites = tuple(Site.of(call.where, call.pattern) for call in calls)
    text = inputs.sequences.get("text")
    axis = next((call for call in calls if call.kind != "cross"), calls[0]).axes[0]
    grid = axis.grid if "image" in inputs.sequences or calls[0].slots is not None else None
    return Trace(
        model.name,
        model.trained,
        axis.tokens if text is None else text.tokens,
        sites,
        output,
        tuple(call.pattern for call in calls),
        axes={site: call.axes for site, call in zip(sites, calls, strict=True)},
        notes=(
            *inputs.notes,
            *notes(model.name, calls),
            *_of_pictures(inputs, calls),
            *(f"not shown: {each}" for each in unseen),
        ),
        hidden_states=hidden_states(noted, calls),
        origin=PretrainedOrigin(model, inputs, applied),
        image_tokens=() if text is None else text.image_tokens,
        sound=inputs.sound,
        aligning=() if inputs.sound is None else _aligning(model, sites),
        **grid_fields(None if text is not None or grid is None or grid.frames > 1 else grid),
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


def _aligning(model: "Model", sites: Sequence[Site]) -> tuple[tuple[int, int], ...]:
    """The heads that the checkpoint names; a list with one that the decoder lacks was written for
    another decoder."""
    if model.prompts is None:
        stated = getattr(getattr(model.network, "generation_config", None), "alignment_heads", None)
    else:
        stated = json.loads(model.prompts.generation).get("alignment_heads")
    heads = {(s.layer, head) for s in sites if s.kind == "cross" for head in range(s.heads)}
    named = tuple((each[0], each[1]) for each in stated or ())
    return named if heads.issuperset(named) or not heads else ()


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
        why = (
            "returns no weights"
            if record.modules.returners
            else ("does not use transformers' attention interface")
        )
        yield f"{kind} ({some}), which {why}"


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


@torch.no_grad()
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
    if not isfinite(float(last.float().sum())):
        for call in calls:
            given = isinstance(call.pattern, GivenWeights)
            if not given and not values_of(call.pattern).isfinite().all():
                raise ValueError(f"{call.entry.path}: its values are not numbers")


def _check_rows(call: Call, item: int) -> None:
    pattern, (rows, keys) = call.pattern, (axis.positions_of(item) for axis in call.axes)
    sampled = rows[[0, len(rows) // 2, -1]]
    weights = pattern.weights(pattern.heads - 1, sampled, item=item)
    lost = weights.sum(-1) - weights[:, keys.to(weights.device)].sum(-1)
    if not bool((lost <= ROUNDING).all()):  # which NaN is not either
        raise ValueError(
            f"{call.entry.path} attends to padding or to tokens that cannot be named: a map of the"
            f" item's own {len(keys)} keys would leave out {float(lost.max()):.2f} of a row."
            " Trace the item alone, without padding"
        )
