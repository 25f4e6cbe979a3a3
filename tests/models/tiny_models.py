"""Tiny models of every kind, an input of each, and the same networks with an edit built in.

A network with an edit built in is the library's own, or one of ours, whose attention is written out
with explicit matrices: these are changed on the way, and so is what chosen modules read or return.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple
from zlib import crc32

import torch
from torch import Tensor

from models.edits import Ablate, AblateMLP, Cover, Patch, Reference
from models.edits.routing import moved
from models.inputs.prepare import prepare_inputs
from models.model import Model
from models.run import as_model, trace
from models.trace import Site, Trace, Where
from tests.models import vision_language
from tests.models.architectures import ARCHITECTURES, BY_NAME, IMAGE_TOKEN, ids, normal
from tests.models.edits import plain as ours
from tests.models.edits.plain import CASES, HEADS, TOKENS, written_out
from tests.models.library import written

EXACT = 1e-5  # of the largest number: float32 through two layers whose scores reach 50
Change = Callable[[Tensor], Tensor]
Source = tuple[Any, Any]  # the input of a trace, and its target
LAYER = 1


def near(found: Tensor, expected: Tensor, rounding: float = EXACT) -> bool:
    return bool((found - expected).abs().max() <= rounding * max(1.0, float(expected.abs().max())))


def llava() -> dict[str, Tensor]:
    row = [50, 51, *[vision_language.IMAGE] * 25, 52, 53, 54]
    return {"input_ids": torch.tensor([row]), "pixel_values": normal(1, 3, 20, 20)}


def qwen() -> dict[str, Tensor]:
    row = torch.tensor([[3, 49, *[IMAGE_TOKEN] * 6, 48, 4, 5]])
    given = {"input_ids": row, "mm_token_type_ids": (row == IMAGE_TOKEN).int()}
    return {**given, "pixel_values": normal(24, 96), "image_grid_thw": torch.tensor([[1, 4, 6]])}


INPUTS = {"LLaVA": llava, "Qwen2-VL": qwen}  # of one item
OTHERS = ("Swin V2", "DETR", "LLaVA", "Qwen2-VL", "Idefics3")
NAMES = (*(each.name for each in ARCHITECTURES), *OTHERS, *ours.NETWORKS)
# What of a block is added to the stream behind its attention, where it is not called "mlp"
ADDED = {
    **dict.fromkeys(("BERT", "BERT with a head", "RoBERTa", "YOLOS"), "output.dense"),
    **dict.fromkeys(("Gemma 2", "Gemma 3", "OLMo 2"), "post_feedforward_layernorm"),
    **dict.fromkeys(("BART", "Pegasus", "Marian", "Whisper", "OPT", "BioGPT"), "fc2"),
    **dict.fromkeys(ours.NETWORKS, "feed_forward"),
    "GLM-4": "post_mlp_layernorm",
    "Swin V2": "layernorm_after",
    "wav2vec 2.0": "feed_forward",
}


@cache
def model(name: str) -> Model:
    if name in ours.NETWORKS:
        return ours.network(name)
    return as_model((vision_language.BY_NAME if name == "LLaVA" else BY_NAME)[name].build())


@cache
def source(name: str) -> Source:
    """An input without padding, of two items where a model takes several."""
    if name in ours.NETWORKS:
        first, *target = ours.given(name)
        return first, target[0] if target else None
    if name in OTHERS:
        return (INPUTS[name] if name in INPUTS else BY_NAME[name].inputs)(), None
    given = BY_NAME[name].inputs()
    given.pop("attention_mask", None)
    return {**given, **({"input_ids": ids(2, TOKENS)} if "input_ids" in given else {})}, None


def other(name: str) -> Source:
    """Another input of the same size."""

    def moved(x: Any) -> Any:
        return x.flip(0) * 0.5 if x.is_floating_point() else x.roll(2, 1)

    given, target = source(name)
    if not isinstance(given, dict):
        return moved(given), None if target is None else moved(target)
    alone = len({*given} - {"decoder_input_ids"}) == 1  # beside pictures, ids hold their places
    return {
        key: moved(x) if alone or x.is_floating_point() else x for key, x in given.items()
    }, None


@cache
def plain(name: str) -> Trace:
    """The pass without an edit."""
    return trace(model(name), *source(name), hidden=True)


@cache
def theirs(name: str) -> Trace:
    """The pass of the other input."""
    return trace(model(name), *other(name), hidden=True)


# --- networks with an edit built in ---------------------------------------------------------------


class Pass(NamedTuple):
    """What a pass left.

    Attributes:
        output: logits or hidden states.
        states: what enters each block, and the last one behind the final norm.
        scores: of each call of attention, `batch head query key`; a sink may have a column more.
        weights: likewise.
        values: after attention, `batch head query dim`.
    """

    output: Tensor
    states: list[Tensor]
    scores: list[Tensor]
    weights: list[Tensor]
    values: list[Tensor]


@dataclass(frozen=True)
class Built:
    """A network with an edit built in.

    Attributes:
        name: of the network.
        at: number of the call of attention that is changed; None for none.
        changes: of its q, k, v, scores, weights or values.
        hooks: of what a module returns, by its path.
        reads: of what a module reads first, by its path.
        covered: of the pixels.
    """

    name: str
    at: int | None = None
    changes: Mapping[str, Change] = field(default_factory=dict)
    hooks: Mapping[str, Change] = field(default_factory=dict)
    reads: Mapping[str, Change] = field(default_factory=dict)
    covered: Change | None = None

    def run(self, given: Source, **more: Callable[[int, Tensor], Tensor]) -> Pass:
        """A pass of some input; further changes come first, and take the number of the call."""
        left: dict[str, list[Tensor]] = {"scores": [], "weights": [], "values": []}

        def change(name: str, call: int, x: Tensor) -> Tensor:
            x = more[name](call, x.clone()) if name in more else x
            x = self.changed(name, x) if call == self.at else x
            left.get(name, []).append(x)
            return x

        every = {name: partial(change, name) for name in ("q", "k", "v", *left)}
        pixels = self.covered or (lambda x: x)
        with ExitStack() as stack:
            for reads, hooks in ((False, self.hooks), (True, self.reads)):
                for path, do in hooks.items():
                    stack.enter_context(hooked(model(self.name).network, path, do, reads))
            run = _ours if self.name in ours.NETWORKS else _library
            return Pass(*run(self.name, given, every, pixels), **left)

    def changed(self, name: str, x: Tensor) -> Tensor:
        return self.changes[name](x.clone()) if name in self.changes else x


def _library(
    name: str, given: Source, changes: Mapping[str, Any], pixels: Change
) -> tuple[Tensor, list[Tensor]]:
    inputs = dict(given[0]) if isinstance(given[0], Mapping) else {"input_ids": given[0]}
    if "pixel_values" in inputs:
        inputs["pixel_values"] = pixels(inputs["pixel_values"])
    network: Any = model(name).network
    out = written(network, {**inputs, "output_hidden_states": True}, **changes).output
    names = ("logits", "logits_per_image", "last_hidden_state")
    states = getattr(out, "decoder_hidden_states", getattr(out, "hidden_states", None))
    return next(getattr(out, n) for n in names if hasattr(out, n)), list(states or ())


def _ours(
    name: str, given: Source, changes: Mapping[str, Any], pixels: Change
) -> tuple[Tensor, list[Tensor]]:
    arguments = dict(prepare_inputs(model(name), *given).arguments)
    if "pixels" in arguments:
        arguments["pixels"] = pixels(arguments["pixels"])
    network: Any = model(name).network
    with ExitStack() as stack:
        for call, site in enumerate(plain(name).sites):
            here = {each: partial(do, call) for each, do in changes.items()}
            stack.enter_context(written_out(network, site, **here))
        out = network(**arguments)
    return out.result[1], [*out.states, out.hidden]


@contextmanager
def hooked(network: Any, path: str, change: Change, reads: bool = False) -> Iterator[None]:
    """Inside, what a module returns, or reads, is changed."""

    def returned(_: Any, __: tuple, out: Any) -> Any:
        if isinstance(out, Tensor):
            return change(out.clone())
        return type(out)((change(out[0].clone()), *out[1:]))

    def read(_: Any, given: tuple, named: dict[str, Any]) -> Any:
        if given:
            return (change(given[0].clone()), *given[1:]), named
        return given, {**named, "hidden_states": change(named["hidden_states"].clone())}

    module = network.get_submodule(path)
    if reads:
        hook = module.register_forward_pre_hook(read, with_kwargs=True)
    else:
        hook = module.register_forward_hook(returned, prepend=True)
    try:
        yield
    finally:
        hook.remove()


# --- edits, and what is built for them -----------------------------------------------------------


def shuffled(values: Tensor) -> Tensor:
    """Rows along the axis before the last, dealt out item by item."""
    orders = [torch.Generator().manual_seed(SEED + item) for item in range(len(values))]
    return torch.stack(
        [
            x[..., torch.randperm(x.shape[-2], generator=o), :]
            for x, o in zip(values, orders, strict=True)
        ]
    )


def averaged(values: Tensor) -> Tensor:
    return values.mean(-2, keepdim=True).expand_as(values)


def noisy(site: Site, values: Tensor) -> Tensor:
    """Noise with the mean and deviation of each feature, drawn head by head and row by row."""
    drawn = torch.empty_like(values)
    for item, head, row in torch.cartesian_prod(*map(torch.arange, values.shape[:3])).tolist():
        seed = crc32(f"{SEED} {site.where} {item} {HEADS[head]} {row}".encode())
        dice = torch.Generator().manual_seed(seed)
        drawn[item, head, row] = torch.randn(values.shape[-1], generator=dice)
    return averaged(values) + values.std(-2, correction=0, keepdim=True) * drawn


def of_heads(instead: Change) -> dict[str, Change]:
    def change(values: Tensor) -> Tensor:
        values[:, HEADS] = instead(values[:, HEADS])
        return values

    return {"values": change}


def block_of(name: str, site: Site) -> str:
    """The path of the block of a site."""
    found = re.match(r".*blocks\.\d+|.*?\d+", str(site.module))
    return "" if found is None else found[0]


def added_of(name: str, site: Site) -> str:
    part = ADDED.get(name, "mlp")
    if name == "T5":
        part = f"layer.{2 if site.tower == 'decoder' else 1}.DenseReluDense"
    return f"{block_of(name, site)}.{part}"


SEED = 3
MEANS: dict[str, Change] = {"zero": torch.zeros_like, "mean": averaged, "shuffled": shuffled}
PATCHED, BY = (2, 4), (3, 4)  # tokens that are patched, and by which of the other input
PATCHES: dict[str, tuple[Any, Any, Any]] = {  # tokens, those of the other input, and heads
    "q": (3, None, 1),
    "k": ((1, 4), (6, 2), (0, 1)),  # a target of ours has no token 6
    "v": ((0, 2, 5), 1, None),
    "head": (PATCHED, BY, 1),
}
EDITS = (
    *(f"Ablate {how}" for how in (*MEANS, "noise")),
    *(f"AblateMLP {how}" for how in MEANS),
    *CASES,
    *(f"Patch {what}" for what in (*PATCHES, "hidden")),
    "Cover",
    "Ablate reference",
)


def edited(name: str, edit: str, place: int) -> tuple[Any, Built]:
    """An edit of a site, or of its block, and the network into which it is built."""
    site = plain(name).sites[place]
    at: dict[str, Any] = {"layer": site.layer, "kind": site.kind, "tower": site.tower}
    block: dict[str, Any] = {"layer": site.layer, "tower": site.tower}
    kind, _, how = edit.partition(" ")
    if edit in CASES:
        made = moved(CASES[edit].make(site.layer, site.kind), Where(**at))
        return made, Built(name, place, CASES[edit].changes)
    if how == "reference":
        both = [noted(name, place, "values", each(name))[:, HEADS] for each in (source, other)]
        mean = torch.cat([x.transpose(0, 1).flatten(1, 2) for x in both], 1).mean(1)[:, None]
        over = Reference.of("both", [plain(name), theirs(name)])
        made = Ablate(head=HEADS, how="mean", over=over, **at)
        return made, Built(name, place, of_heads(lambda _: mean))
    if kind == "Ablate":
        changes = of_heads(partial(noisy, site) if how == "noise" else MEANS[how])
        return Ablate(head=HEADS, how=how, seed=SEED, **at), Built(name, place, changes)  # pyright: ignore
    if kind == "AblateMLP":
        hooks = {added_of(name, site): MEANS[how]}
        made = AblateMLP(how=how, seed=SEED, **block)  # pyright: ignore
        return made, Built(name, hooks=hooks)
    if kind == "Cover":
        return Cover((1, 3), "mean"), Built(name, covered=partial(covered, grid_of(name)))
    if how == "hidden":
        block["layer"] = layer = NAMES.index(name) % 3  # before, between and behind blocks
        count, states = len(plain(name).queries(site)), theirs(name)
        rows = torch.stack([states.hidden(layer, i, tower=site.tower) for i in range(count)])

        def put(x: Tensor) -> Tensor:
            x[:, PATCHED] = rows[: len(x), BY]
            return x

        patch = Patch(what="hidden", source=states, token=PATCHED, source_token=BY, **block)
        above, _, number = block_of(name, site).rpartition(".")
        path = f"{above}.{int(number) - site.layer + max(layer - 1, 0)}"
        built = Built(name, hooks={path: put}) if layer else Built(name, reads={path: put})
        return patch, built
    where = {"head": "values"}.get(how, how)
    there = noted(name, place, where, other(name))
    token, by, head = PATCHES[how]
    rows, own = (torch.tensor(each).reshape(-1) for each in (token, token if by is None else by))
    heads = torch.arange(there.shape[1]) if head is None else torch.tensor(head).reshape(-1)

    def change(x: Tensor) -> Tensor:
        x[:, heads[:, None], rows] = there[: len(x), heads[:, None], own]
        return x

    patch = Patch(what=how, source=theirs(name), token=token, source_token=by, head=head, **at)  # pyright: ignore
    return patch, Built(name, place, {where: change})


@torch.no_grad()
def noted(name: str, place: int, what: str, given: Source) -> Tensor:
    """A tensor of a call of attention in a pass of some input."""
    found: list[Tensor] = []

    def note(call: int, x: Tensor) -> Tensor:
        found.extend([x.clone()] if call == place else [])
        return x

    Built(name).run(given, **{what: note})
    return found[0]


def grid_of(name: str) -> Any:
    """Rows and columns of the patches of a picture, where there are some."""
    grids = (plain(name).query_grid(site) for site in plain(name).sites)
    return next((grid for grid in grids if grid is not None), None)


def covered(grid: Any, pictures: Tensor) -> Tensor:
    """Patches 1 and 3 in the mean colour."""
    high, wide = pictures.shape[2] // grid[0], pictures.shape[3] // grid[1]
    whole = pictures.clone()
    for patch in (1, 3):
        row, col = divmod(patch, grid[1])
        part = slice(row * high, (row + 1) * high), slice(col * wide, (col + 1) * wide)
        whole[:, :, *part] = pictures.mean((2, 3), keepdim=True)
    return whole


def places_of(name: str) -> list[int]:
    """Sites that are edited: of the second layer of each kind and tower, with three heads."""
    layer = {"layer": 0, "Swin": 3, "Swin V2": 3}.get(name, LAYER)
    return [i for i, site in enumerate(plain(name).sites) if site.layer == layer and site.heads > 2]
