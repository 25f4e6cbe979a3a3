"""Compares a trace of a transformers model with what the library computes by itself.

The references are independent of the trace: the untouched model, and a twin of it (the same
weights in modules of its own) with the library's eager attention, whose layers return their maps.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from models.attention.edit_protocols import ValuesEdit
from models.attention.functional import values_of
from models.attention.given import GivenWeights
from models.inputs.prepare import prepare_inputs
from models.inputs.sequences import ModelInputs
from models.pretrained.attention_modules import alive, configs_of
from models.pretrained.implementation import EAGER, count_traces
from models.pretrained.interface import current_recording, observing
from models.pretrained.own_weights import asking_weights
from models.pretrained.passes import record_pass, run_network
from models.pretrained.recording import Call, Recording
from models.pretrained.run import check_once, output_of
from models.structure import hooked, twin_of
from models.verdict import ValuesFromWeights, Verdict, sums_apart

if TYPE_CHECKING:
    from models.model import Model

REFERENCE = "headscope_reference"  # the library's eager attention, call by call
Maps = Mapping[str, Sequence[Tensor]]
Part = tuple[int, Tensor, Tensor, Tensor]  # item, rows, columns and weights, `head row column`


@torch.no_grad()
def compare(model: "Model", source: Any, target: Any) -> Verdict:
    """Runs the model with and without a trace, and with the library's eager attention.

    Args:
        model: of the library.
        source: as for `trace`.
        target: as for `trace`; where the model writes by itself, it does so once.
    """
    inputs, recompute = prepare_inputs(model, source, target), ValuesFromWeights()
    untouched = output_of(run_network(model, inputs)).values
    record, _, out = record_pass(model, inputs)
    calls, by_layers = record.calls, bool(record.modules.returners)
    check_once(calls)
    if not calls:
        raise ValueError(f"{model.name} called no attention on this input")
    real = _real(calls, untouched)

    def apart(output: Tensor) -> float:
        return float((output - untouched).float().abs()[real].max())

    traced = difference = apart(output_of(out).values)
    if not by_layers:
        _, _, recomputed = record_pass(model, inputs, [recompute])
        difference = max(traced, apart(output_of(recomputed).values))
    twin = _twin(model, by_layers=by_layers)
    compared, maps, eager = 0, 0.0, None
    if twin is not None:
        if by_layers:
            reference, pairs = _returned_pass(twin, inputs, calls)
        else:
            reference, eager_maps = _reference_pass(twin, inputs)
            pairs = _matched(calls, eager_maps)
        for call, parts in pairs:
            compared += call.pattern.heads
            maps = max(maps, _apart(call, parts))
        eager = apart(reference)
    return Verdict(
        difference=difference,
        largest=float(untouched.float().abs()[real].max()),
        sites=len(calls),
        rows=sum(c.pattern.batch * c.pattern.heads * c.pattern.queries for c in calls),
        compared=compared,
        maps=maps,
        sums=max(
            sums_apart(
                call.pattern,
                [[x.positions_of(item) for x in call.axes] for item in range(call.pattern.batch)],
            )
            for call in calls
        ),
        unseen=_unseen(record),
        traced=traced,
        values=None if by_layers else max(_values_apart(call, recompute) for call in calls),
        eager=eager,
        left_out=model.left_out,
        by_layers=by_layers,
    )


def _twin(model: "Model", *, by_layers: bool) -> "Model | None":
    """The same weights in modules of their own; None for a model without eager attention.

    Hooks are shared, too: those of a trace that runs meanwhile hold tensors that have no copy.
    """
    network: Any = twin_of(model.network)
    if by_layers:
        return replace(model, network=network)
    try:
        network.set_attn_implementation("eager")
        network.set_attn_implementation(REFERENCE)
    except (ValueError, ImportError):
        return None
    return replace(model, network=network)


def _matched(calls: Sequence[Call], maps: Maps) -> Iterator[tuple[Call, list[Part]]]:
    """Each call with the library's maps of it, in the order of the calls of a layer."""
    order: Counter[str] = Counter()
    for call in calls:
        path = call.entry.place.path
        parts = _parts(call, maps.get(path, ()), order[path])
        order[path] += 1
        if parts:
            yield call, parts


def _parts(call: Call, maps: Sequence[Tensor], which: int) -> list[Part]:
    """The library's maps of a call: of each item, window or packed segment, rows of real tokens."""
    pattern, slots = call.pattern, call.slots
    theirs = [*maps[which]] if which < len(maps) else []
    if slots is None:
        parts = [(item, torch.arange(pattern.keys)) for item in range(pattern.batch)]
        real = [call.axes[0].positions_of(item) for item in range(pattern.batch)]
    else:
        theirs = theirs if slots.grid is not None else [each[0] for each in maps]
        parts = slots.parts()
        real = [(tokens < slots.tokens).nonzero().flatten() for _, tokens in parts]
    rows = [pattern.queries if slots is None else len(keys) for _, keys in parts]
    shapes = [(pattern.heads, n, len(keys)) for n, (_, keys) in zip(rows, parts, strict=True)]
    if [tuple(each.shape) for each in theirs] != shapes:
        return []
    return [
        (item, mine if slots is None else keys[mine], keys, each[:, mine])
        for (item, keys), mine, each in zip(parts, real, theirs, strict=True)
    ]


def _apart(call: Call, parts: Sequence[Part]) -> float:
    """Largest difference of a weight of a real token."""
    worst = 0.0
    for item, group in groupby(parts, lambda part: part[0]):
        weights = call.pattern.weights(item=item)
        for _, rows, keys, theirs in group:
            mine = weights[:, rows][:, :, keys]
            if mine.numel():
                worst = max(worst, float((mine - theirs.to(mine.device)).abs().max()))
    return worst


def _values_apart(call: Call, recompute: ValuesEdit) -> float:
    """Largest difference of a layer's values to those made from its weights, over the largest."""
    values = values_of(call.pattern)
    recomputed = recompute.edit_values(values, call.pattern)
    apart, largest = 0.0, 0.0
    for item in range(call.pattern.batch):
        rows = call.axes[0].positions_of(item).to(values.device)
        if len(rows):
            recorded = values[item][:, rows].float()
            apart = max(apart, float((recorded - recomputed[item][:, rows].float()).abs().max()))
            largest = max(largest, float(recorded.abs().max()))
    return apart / largest if largest else apart


def _unseen(record: Recording) -> tuple[str, ...]:
    """Layers that ran without a map, or left two of one run."""
    seen = [(call.entry.path, call.entry.layer, call.entry.part) for call in record.calls]
    twice = {each[0] for each in seen if seen.count(each) > 1}
    return tuple(sorted({path for _, path in record.silent()} | twice))


def _real(calls: Sequence[Call], output: Tensor) -> Tensor:
    """True at the output of real tokens: those of the rows of the last layer."""
    real = torch.ones_like(output, dtype=torch.bool)
    last = calls[-1]
    padding = last.axes[0].padding(last.pattern.queries)
    if padding is not None and output.shape[:2] == padding.shape:
        real[padding.to(output.device)] = False
    return real


# --- the library's eager attention, layer by layer --------------------------------------------


def _reference_pass(twin: "Model", inputs: ModelInputs) -> tuple[Tensor, Maps]:
    """Output and weights of the library's eager attention, these in the order of calls, by path."""
    record = Recording.of(twin, inputs)
    layers = [layer for _, layer in alive(record.modules.recipes)]

    def note(module: nn.Module, args: tuple, kwargs: dict, output: Any) -> None:
        _note(record, module, output[1])

    asking = hooked([(e, asking_weights) for e in layers], [(e, note) for e in layers])
    with observing(twin.network, record), asking:
        return output_of(run_network(twin, inputs)).values, record.references


def _returned_pass(
    twin: "Model", inputs: ModelInputs, calls: Sequence[Call]
) -> tuple[Tensor, Iterator[tuple[Call, list[Part]]]]:
    """The output of a network whose layers compute their weights, and the weights that it returns,
    by their shapes."""
    configs = configs_of(twin.network)
    asked = replace(inputs, arguments={**inputs.arguments, "output_attentions": True})
    count_traces(configs, 1, name=EAGER)
    try:
        out = run_network(twin, asked)
    finally:
        count_traces(configs, -1)

    def matched() -> Iterator[tuple[Call, list[Part]]]:
        theirs = [*_attentions(out)]
        for call in calls:
            mine = call.pattern.weights()
            alike = [each for each in theirs if each.shape == mine.shape]
            if alike:  # encoder, decoder and what lies between may have one shape
                match = min(alike, key=lambda each: float((each - mine).abs().mean()))
                theirs = [each for each in theirs if each is not match]
                if bool((match == match[:, :1]).all()):  # WavLM's are the mean of the heads
                    mean = mine.mean(1, keepdim=True).expand(match.shape)
                    call = replace(call, pattern=GivenWeights(mean, call.pattern.mask))
                yield call, _parts(call, [match.float()], 0)

    return output_of(out).values, matched()


def _attentions(out: Any) -> Iterator[Tensor]:
    """The weights in an output of the library, in those of its towers too."""
    for name, value in out.items():
        if name.endswith("attentions") and value is not None:
            yield from (each for each in value if each is not None)
        elif hasattr(value, "items"):
            yield from _attentions(value)


def _reference(module: nn.Module, *args: Any, **keywords: Any) -> tuple[Tensor, Any]:
    """The eager attention of the module's own file; its weights are noted."""
    function = sys.modules[type(module).__module__].eager_attention_forward
    if keywords.get("scaling", 1.0) is None:  # as fused attention reads it
        keywords["scaling"] = args[0].shape[-1] ** -0.5
    out, weights = function(module, *args, **keywords)
    record = current_recording()
    if record is not None:
        _note(record, module, weights)
    return out, weights


def _note(record: Recording, module: nn.Module, weights: Tensor) -> None:
    path = record.entry(module).place.path
    record.references.setdefault(path, []).append(weights.float())


AttentionInterface.register(REFERENCE, _reference)
AttentionMaskInterface.register(REFERENCE, eager_mask)
