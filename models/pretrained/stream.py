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
from models.pretrained.block_outputs import blocks_of
from models.pretrained.linear_maps import factor_of, norm_of
from models.pretrained.observation import ModuleCall, observe
from models.pretrained.recording import Call
from models.pretrained.site_maps import SiteMaps
from models.projections import Norm, split_columns
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

Key = tuple[str | None, int, int]
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
    maps: SiteMaps
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
    tokens = _tokens(source.inputs, item, places)
    every: list[ModuleCall] = []
    record, calls, _ = observe(source.model, source.inputs, source.edits, tokens, blocks=every)
    keys: list[Key] = [
        (call.entry.path, call.entry.layer, call.entry.part) for call in record.calls
    ]
    entry = record.calls[keys.index(key)].entry
    end = len(record.calls) if to_end else keys.index(key) + 1
    indices = [
        index
        for index, call in enumerate(record.calls[:end])
        if (call.entry.place.tower, call.entry.source) == (entry.place.tower, entry.source)
    ]
    stops = [*indices[1:], len(record.calls) if to_end else indices[-1]]
    layers = [
        _layer(record.calls[i], source.maps(keys[i]), i, calls, stop)
        for i, stop in zip(indices, stops, strict=True)
    ]
    before = [call for call in calls if call.before == indices[0]]
    paths = blocks_of(source.model.network, record.modules)
    tower = entry.place.tower
    mine = {path for name, path, _ in paths if name == tower}
    blocks = _Blocks([call for call in every if call.path in mine], source.mixing_parts(tower))
    blocks.check(layers, indices)
    start = blocks.start(layers[0])
    steps = [*_embedding(before, source.inputs, item, places, start)]
    steps += blocks.writes(start, -1, layers[0].number, layers[0].x)
    ends = [(layer.number, layer.x) for layer in layers[1:]]
    ends += [(len(blocks.calls), blocks.calls[-1].output)] if to_end else []
    for layer, (number, following) in zip(layers, ends, strict=False):
        steps += _block(layer, number, following, blocks, item, places)
    return Stream(tuple(steps), ends[-1][1] if ends else layers[0].x)


def _tokens(inputs: ModelInputs, item: int, places: Tensor) -> Callable[[Tensor], Tensor | None]:
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
    call: Call, maps: SiteMaps, index: int, calls: Sequence[ModuleCall], stop: int
) -> _Layer:
    """An attention call and its surroundings."""
    before = [each for each in calls if each.before == index]
    module = maps.query.linear.module
    read = next((each.given for each in reversed(before) if each.module is module), None)
    if read is None:
        raise ValueError(f"{call.entry.path}: expected an input with a row for each token")
    if maps.norm is not None:
        writers = (
            e for e in reversed(before) if e.output.shape == read.shape and e.output.equal(read)
        )
        read = next(each.given for each in writers if norm_of(each) is not None)
    after = [each for each in calls if index < each.before <= stop]
    return _Layer(call, maps, read, after)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The blocks of a tower, with what each read and returned at the tokens.

    Attributes:
        calls: one for each block, in order.
        mixing: paths of parts that mix tokens without traced attention.
    """

    calls: Sequence[ModuleCall]
    mixing: Sequence[str]

    def check(self, layers: Sequence[_Layer], indices: Sequence[int]) -> None:
        """Raises ValueError unless each attention ran inside the block of its number."""
        for layer, index in zip(layers, indices, strict=True):
            number = layer.call.entry.layer
            fits = number < len(self.calls) and self.calls[number].before > index
            earlier = number == 0 or (fits and self.calls[number - 1].before <= index)
            if not (fits and earlier and self.calls[number].output.shape == layer.x.shape):
                raise ValueError(
                    f"{layer.call.entry.path}: expected it inside block {number}, which reads and"
                    " returns the stream that it reads"
                )

    def start(self, first: _Layer) -> Rows:
        """What the first block reads."""
        given = self.calls[0].given
        return first.x if alike(given, first.x) else given

    def writes(self, state: Rows, number: int, last: int, following: Rows) -> Iterator[Write]:
        """What is added to a state on its way to the next attention, or to the end."""
        for each in range(max(number, 0), last):
            output = self.calls[each].output
            if not alike(output, state):
                yield Write(self._name(each, attends=each == number), output - state)
            state = output
        if not alike(following, state):
            name = mlp_name(last) if last == number else f"layer {last}, before its attention"
            yield Write(name, following - state)

    def _name(self, number: int, *, attends: bool) -> str:
        path = self.calls[number].path
        parts = [
            part.removeprefix(f"{path}.") for part in self.mixing if part.startswith(f"{path}.")
        ]
        if not attends:
            return f"layer {number}, without attention"
        return " and ".join([mlp_name(number), *dict.fromkeys(parts)])


# --- what the first block reads -----------------------------------------------------------------


def _embedding(
    calls: Sequence[ModuleCall], inputs: ModelInputs, item: int, places: Tensor, first: Rows
) -> Iterator[Step]:
    """Tokens, positions and segments, if they are found to sum to it; else it as it is."""
    looked = [c for c in calls if not c.given.is_floating_point() and c.output.shape == first.shape]
    ids = [inputs.arguments.get(name) for name in ("input_ids", "decoder_input_ids")]
    given = [x[item, places.to(x.device)] for x in ids if isinstance(x, Tensor)]
    tokens = next((c for c in looked if any(c.given.equal(x) for x in given)), None)
    if tokens is None:
        yield Write(EMBEDDING, first)
        return
    others = [call for call in looked if call is not tokens]
    sums: list[tuple[Rows, Norm | None]] = [(first, None)]
    for call in reversed(calls):
        if call.output.shape == first.shape and call.output.equal(first):
            norm = norm_of(call)
            sums += [] if norm is None else [(call.given, norm)]
    for whole, norm in sums:
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


# --- blocks -------------------------------------------------------------------------------------


def _block(
    layer: _Layer, last: int, following: Rows, blocks: _Blocks, item: int, places: Tensor
) -> Iterator[Step]:
    """What happens to the stream between an attention layer and the next, or the end."""
    entry, maps, x = layer.call.entry, layer.maps, layer.x
    word = "cross head" if layer.call.kind == "cross" else "head"
    matrices = split_columns(maps.output.matrix, len(maps.query.starts))
    writes = [
        *attention_steps(
            entry.layer,
            head_writes(layer.call.pattern, matrices, item, places),
            maps.output.bias,
            word,
        )
    ]
    added = _added(layer, writes, following)
    if added is None:
        raise ValueError(
            f"{entry.path}: expected its heads to be added to the stream that it reads. Here"
            " another branch is added with them, or something comes in between"
        )
    yield from added.writes
    name = mlp_name(entry.layer)
    if added.read is None or not _is_normed(layer.after, following):
        yield from blocks.writes(x + total(added.writes), entry.layer, last, following)
        return
    end = next(c for c in reversed(layer.after) if _returns(c, following) and norm_of(c))
    norm = norm_of(end)
    if end is not added.read and norm is not None:
        first = norm_of(added.read)
        if first is None:
            raise ValueError(f"{entry.path}: expected a norm of the sum of stream and heads")
        yield Normed(first)
        yield Write(name, end.given - added.read.output)
    if norm is not None:
        yield Normed(norm)


@dataclass(frozen=True, eq=False)
class _Added:
    """What an attention layer adds to the stream.

    Attributes:
        writes: its heads and bias, as they are added.
        read: the call of the module that reads the sum; None if no module does.
    """

    writes: list[Write]
    read: ModuleCall | None


def _added(layer: _Layer, writes: list[Write], following: Rows) -> _Added | None:
    """The heads and bias as they are added, found in what a later module reads or returns."""
    x, written = layer.x, total(writes)
    for norm in (None, *_norms(layer.after, written)):
        shares = writes if norm is None else _through(writes, written, norm)
        whole = total(shares)
        for call in layer.after:
            reads = call.given.shape == x.shape and not call.given.equal(x)
            factor = factor_of(call.given - x, whole) if reads else None
            if factor is not None:
                return _Added([Write(w.name, w.vectors * factor) for w in shares], call)
        for call in layer.after:
            beside = call.output.shape == x.shape
            factor = factor_of(following - x - call.output, whole) if beside else None
            if factor is not None:
                return _Added([Write(w.name, w.vectors * factor) for w in shares], None)
    return None


def _norms(calls: Sequence[ModuleCall], written: Rows) -> Iterator[Norm]:
    """Norms that read what the attention made."""
    for call in calls:
        if call.given.shape == written.shape and alike(call.given, written.to(call.given.dtype)):
            norm = norm_of(call)
            if norm is not None:
                yield norm


def _through(writes: list[Write], written: Rows, norm: Norm) -> list[Write]:
    """The shares of writes in the norm of their sum."""
    shares = [Write(w.name, norm.linear(w.vectors, written)) for w in writes]
    return shares if norm.bias is None else [*shares, Write(BIASES, norm.bias.expand_as(written))]


def _is_normed(calls: Sequence[ModuleCall], following: Rows) -> bool:
    """Whether the stream that the next layer reads is what a norm returned."""
    return any(_returns(call, following) and norm_of(call) is not None for call in calls)


def _returns(call: ModuleCall, x: Rows) -> bool:
    return call.output.shape == x.shape and call.output.equal(x)
