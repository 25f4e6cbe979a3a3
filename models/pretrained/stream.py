"""The residual stream of a transformers network, component by component.

No family is looked up. In one more pass, what every module reads and returns at a few tokens is
noted. A block is understood if its attention, as the sum of its heads (through a norm in some
families, times a factor in others), is found added to the stream: in what a later module reads, or
beside what a later module returns. What else the block adds is its feed-forward network.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.attention.fitted_rotation import alike
from models.inputs.sequences import ModelInputs
from models.pretrained.linear_maps import factor_of, norm_of, norms_into, norms_of
from models.pretrained.observation import ModuleCall, observe
from models.pretrained.recording import Call, Key
from models.projections import Norm, Projections
from models.stream import (
    BIASES,
    EMBEDDING,
    POSITIONS,
    SEGMENTS,
    TOKENS,
    Normed,
    Stream,
    Write,
    attention_steps,
    head_writes,
    mlp_name,
    total,
)

if TYPE_CHECKING:
    from models.pretrained.origin import PretrainedOrigin

Step = Write | Normed
Rows = Float[Tensor, "token dim"]
KINDS = {"position": POSITIONS, "wpe": POSITIONS, "token_type": SEGMENTS, "segment": SEGMENTS}


@dataclass(frozen=True, eq=False)
class _Layer:
    """One attention call, with what the modules around it read and returned at the tokens.

    Attributes:
        call: of the attention.
        maps: its linear maps.
        x: the stream that it reads.
        after: calls of modules between it and the next attention.
    """

    call: Call
    maps: Projections
    x: Rows
    after: Sequence[ModuleCall]

    @property
    def number(self) -> int:
        """Of its block."""
        return self.call.entry.layer


@torch.no_grad()
def stream_at(
    source: "PretrainedOrigin",
    key: Key,
    item: int,
    places: Int[Tensor, " token"],
    *,
    to_end: bool = False,
) -> Stream:
    """The residual stream of some tokens where a site reads it.

    Args:
        source: the model, its input and the linear maps of its sites.
        key: module, layer and part of the site.
        item: index in the batch.
        places: which tokens.
        to_end: whether to go on to what leaves the last block of the site's tower.

    Raises:
        ValueError: where a layer is not understood.
    """
    source.maps(key)  # which says why there are none, before the pass
    seen = observe(source.model, source.inputs, source.edits, _rows(source.inputs, item, places))
    attention = seen.record.calls
    last = next(i for i, call in enumerate(attention) if call.key == key)
    end, entry = len(attention) if to_end else last + 1, attention[last].entry
    indices = [
        index
        for index, call in enumerate(attention[:end])
        if (call.entry.place.tower, call.entry.source) == (entry.place.tower, entry.source)
    ]
    stops = [*indices[1:], len(attention) if to_end else last]
    layers = [
        _layer(source, attention[index], index, stop, seen.calls)
        for index, stop in zip(indices, stops, strict=True)
    ]
    blocks = seen.blocks.get(entry.place.tower, [])
    _check(blocks, layers, indices)
    before = [call for call in seen.calls if call.before == indices[0]]
    first, start = layers[0], blocks[0].given
    start = first.x if alike(start, first.x) else start
    steps = [*_embedding(before, source.inputs, item, places, start)]
    steps += _between(blocks, start, -1, first.number, first.x)
    ends = [(layer.number, layer.x) for layer in layers[1:]]
    ends += [(len(blocks), blocks[-1].output)] if to_end else []
    for layer, (number, following) in zip(layers, ends, strict=False):
        steps += _block(layer, number, following, blocks, item, places)
    return Stream(tuple(steps), ends[-1][1] if ends else first.x)


def _rows(inputs: ModelInputs, item: int, places: Tensor) -> Callable[[Tensor], Tensor | None]:
    """The rows of some tokens, of tensors that have a row for each token of each item."""

    def rows(x: Tensor) -> Tensor | None:
        axes = 2 if x.is_floating_point() else 1
        if x.ndim == axes == 2 and len(x) % inputs.items == 0:  # all items in one sequence
            x = x.unflatten(0, (inputs.items, -1))
        if x.ndim != axes + 1 or x.shape[1] <= int(places.max()) or len(x) not in (1, inputs.items):
            return None
        return x[item if len(x) > 1 else 0, places.to(x.device)]

    return rows


def _layer(
    source: "PretrainedOrigin", call: Call, index: int, stop: int, calls: Sequence[ModuleCall]
) -> _Layer:
    """An attention call and its surroundings, up to the next call."""
    maps, queries = source.maps(call.key)
    before = [each for each in calls if each.before == index]
    read = next((each.given for each in reversed(before) if each.module is queries), None)
    if read is None:
        raise ValueError(f"{call.entry.path}: expected an input with a row for each token")
    if maps.norm is not None:
        _, norm = next(norms_into(before, read))
        read = norm.given
    return _Layer(call, maps, read, [each for each in calls if index < each.before <= stop])


def _check(blocks: Sequence[ModuleCall], layers: Sequence[_Layer], indices: Sequence[int]) -> None:
    """Raises ValueError unless each attention ran inside the block of its number."""
    for layer, index in zip(layers, indices, strict=True):
        number = layer.number
        fits = number < len(blocks) and blocks[number].before > index
        earlier = number == 0 or (fits and blocks[number - 1].before <= index)
        if not (fits and earlier and blocks[number].output.shape == layer.x.shape):
            raise ValueError(
                f"{layer.call.entry.path}: expected it inside block {number}, which reads and"
                " returns the stream that it reads"
            )


def _between(
    blocks: Sequence[ModuleCall], state: Rows, number: int, last: int, following: Rows
) -> Iterator[Write]:
    """What is added to a state on its way from a block's attention to the next, or to the end."""
    for each in range(max(number, 0), last):
        output = blocks[each].output
        if not alike(output, state):
            name = mlp_name(each) if each == number else f"layer {each}, without attention"
            yield Write(name, output - state)
        state = output
    if not alike(following, state):
        name = mlp_name(last) if last == number else f"layer {last}, before its attention"
        yield Write(name, following - state)


def _embedding(
    calls: Sequence[ModuleCall], inputs: ModelInputs, item: int, places: Tensor, first: Rows
) -> Iterator[Step]:
    """What the first block reads: tokens, positions and segments, if they are found to sum to it;
    else as it is."""
    looked = [c for c in calls if not c.given.is_floating_point() and c.output.shape == first.shape]
    ids = [inputs.arguments.get(name) for name in ("input_ids", "decoder_input_ids")]
    given = [x[item, places.to(x.device)] for x in ids if isinstance(x, Tensor)]
    tokens = next((c for c in looked if any(c.given.equal(x) for x in given)), None)
    if tokens is None:
        yield Write(EMBEDDING, first)
        return
    others = [call for call in looked if call is not tokens]
    sums: list[tuple[Norm | None, Rows]] = [(None, first)]
    sums += [(norm, call.given) for norm, call in norms_into(calls, first)]
    for norm, whole in sums:
        rest = torch.stack([whole, *(-call.output for call in others)]).sum(0)
        factor = factor_of(rest, tokens.output)
        if factor is None:
            continue
        yield Write(TOKENS, tokens.output * factor)
        for call in others:
            known = (name for part, name in KINDS.items() if part in call.path.lower())
            yield Write(next(known, call.path), call.output)
        if norm is not None:
            yield Normed(norm)
        return
    yield Write(EMBEDDING, first)


def _block(
    layer: _Layer,
    last: int,
    following: Rows,
    blocks: Sequence[ModuleCall],
    item: int,
    places: Tensor,
) -> Iterator[Step]:
    """What happens to the stream between an attention layer and the next, or the end."""
    entry, maps = layer.call.entry, layer.maps
    word = "cross head" if layer.call.kind == "cross" else "head"
    heads = head_writes(layer.call.pattern, maps.output, item, places)
    added = _added(layer, [*attention_steps(entry.layer, heads, maps.output_bias, word)], following)
    if added is None:
        raise ValueError(
            f"{entry.path}: expected its heads to be added to the stream that it reads. Here"
            " another branch is added with them, or something comes in between"
        )
    writes, read = added
    yield from writes
    norm, end = next(norms_into(layer.after, following), (None, None))
    if read is None or norm is None or end is None:
        yield from _between(blocks, layer.x + total(writes), entry.layer, last, following)
        return
    if end is not read:
        first = norm_of(read)
        if first is None:
            raise ValueError(f"{entry.path}: expected a norm of the sum of stream and heads")
        yield Normed(first)
        yield Write(mlp_name(entry.layer), end.given - read.output)
    yield Normed(norm)


def _added(
    layer: _Layer, writes: list[Write], following: Rows
) -> tuple[list[Write], ModuleCall | None] | None:
    """The heads and bias as they are added, found in what a later module reads or returns; and the
    call of the module that reads the sum, if one does."""
    x, written = layer.x, total(writes)
    for norm in (None, *norms_of(layer.after, written)):
        shares = writes
        if norm is not None:
            shares = [Write(w.name, norm.linear(w.vectors, written)) for w in writes]
            bias = norm.bias
            shares += [] if bias is None else [Write(BIASES, bias.expand_as(written))]
        whole, beside = total(shares), following - x
        reads = [c for c in layer.after if c.given.shape == x.shape and not c.given.equal(x)]
        sums = [(call.given - x, call) for call in reads]
        sums += [(beside - c.output, None) for c in layer.after if c.output.shape == x.shape]
        for difference, call in sums:
            factor = factor_of(difference, whole)
            if factor is not None:
                return [Write(w.name, w.vectors * factor) for w in shares], call
    return None
