"""Whether the labels and grids of a trace name the part of the input that each token is made of.

With all attention ablated, a token's queries, keys and hidden states depend on nothing but what
the token itself is made of. One patch (frame, id) of the input is changed, and the token that
changes most must be the one that is labelled so: on every axis that names patches, frames, times
or the text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import EllipsisType
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.coverage.eager import SEED, arguments
from benchmarks.coverage.model_inputs import BATCH, HEARING, Inputs, setting
from models.edits import Ablate
from models.run import trace
from models.trace import PatchGrid, TokenAxis, Trace

ABLATED = [Ablate(None, None)]
MOST = 16  # changes of each kind of input
FEW = 6  # where each takes a pass of its own
LEAST = 1e-5  # a vector that changes by this much, in proportion to its length, changes
REACH = 3  # tokens, of the convolutions that embed the input; between blocks it may be more
SHARE = 0.1  # of the largest change, that the named token changes at least
UNREACHED = "nothing changes"
WORDS = 60  # ids below are no placeholders
PIXELS = ("pixel_values", "pixel_values_videos")
PACKED = ("pixel_values", "hidden_states")
GRIDS = ("image_grid_thw", "grid_thw")
SOUND = ("input_features", "input_values", "audio_values")
IDS = {"input_ids": "text", "decoder_input_ids": "target"}
BINS = ("num_mel_bins", "feature_size", "input_feat_per_channel", "mel_bins", "n_mels")
BINS += ("feature_projection_input_dim", "input_dim", "mel_dim", "num_mels")
IMAGE_TOKEN = "image token "  # of one without a place on a picture, before its number
PATCH = re.compile(r"(?:frame (\d+), )?(patch|cell|area) (\d+),(\d+)$")
BAND = re.compile(r"(?:band (\d+), )?(?:frame (\d+)|([\d.]+) s)$")


@dataclass(frozen=True)
class Change:
    """One changed place of the input.

    Attributes:
        kind: "patch", "frame", "text" or "target".
        start: of the place along each axis of its input, as a share of the whole: of frames, rows
            and columns; of bands and time; of tokens.
        name: of the argument.
        box: the numbers of the argument that are changed, in the first item.
        tile: which of several images of an item is changed.
        entry: of the argument along its first axis: an item, or a patch of packed images.
        ids: of a text, as labels.
    """

    kind: str
    start: tuple[float, ...]
    name: str
    box: tuple[slice | int | EllipsisType, ...]
    tile: int = 0
    entry: int | slice = 0
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of a trace, and what its tokens hold.

    Attributes:
        name: where it is.
        labels: by item.
        grid: that the trace claims.
        vectors: by item, `token number`.
    """

    name: str
    labels: tuple[tuple[str, ...], ...]
    grid: PatchGrid | None
    vectors: tuple[Tensor, ...]


Pair = tuple[Change, list[Axis], list[Axis]]


@dataclass(frozen=True)
class Verdict:
    """What the perturbation says of a model.

    Attributes:
        kinds: of changes that some axis names: "patch", "frame", "text", "target".
        axes: how many were checked.
        wrong: which of them name another token, one line each.
    """

    kinds: tuple[str, ...] = ()
    axes: int = 0
    wrong: tuple[str, ...] = ()


def judged(model: nn.Module, inputs: Inputs, most: int = MOST) -> Verdict:
    """Changes one place of the input after another, and compares what changes with the labels.

    Args:
        model: with the library's own attention.
        inputs: a batch.
        most: changes of each kind of input.

    Raises:
        Exception: what the trace raises.
    """
    inputs = {**inputs, **_order(model, inputs)}
    base = axes_of(_ablated(model, inputs))
    places = list(changes(inputs, base, model.config, most))
    places += packed_changes(inputs, base, positions_of(model, inputs), most)
    reach = reach_of(model)
    if all(not isinstance(x, Tensor) or (x.ndim and len(x) == BATCH) for x in inputs.values()):
        verdict = _verdict(together(model, inputs, places), reach)
        if not verdict.wrong:
            return _all_changed(model, inputs, places, base, verdict)
    kinds = dict.fromkeys(place.kind for place in places)
    few = [each for kind in kinds for each in [p for p in places if p.kind == kind][:FEW]]
    verdict = _verdict(one_by_one(model, inputs, few, base), reach)
    return _all_changed(model, inputs, places, base, verdict)


def reach_of(model: nn.Module) -> int:
    """How many tokens away a change may be largest: half the widest kernel that moves along time.

    Depthwise convolutions between attention layers (Conformer, Gulati et al. 2020, section 2.2;
    the memory of SAN-M, Gao et al. 2020, section 2.2) weigh tokens that far apart alike, and those
    of a codec spread each code over its frames (Mimi, Défossez et al. 2024, section 3.3.1).
    """
    kernels = [
        each.kernel_size[0]
        for each in model.modules()
        if isinstance(each, nn.Conv1d | nn.ConvTranspose1d) and each.groups == each.in_channels > 1
    ]
    return max([REACH, *(kernel // 2 for kernel in kernels)])


def _all_changed(
    model: nn.Module, inputs: Inputs, places: Sequence[Change], base: list[Axis], verdict: Verdict
) -> Verdict:
    """The verdict, with the axes whose tokens are named as parts of an input and do not change
    when all of it does: a special token among them."""
    wrong = {}
    for name in dict.fromkeys(p.name for p in places if p.kind in ("patch", "frame")):
        kind = next(p.kind for p in places if p.name == name)
        whole = Change(kind, (), name, (...,), entry=slice(None))
        after = axes_of(_ablated(model, changed(inputs, whole)))
        form = PATCH if kind == "patch" else BAND
        for axis, other in zip(base, after, strict=True):
            named = [i for i, label in enumerate(axis.labels[0]) if form.match(label)]
            same = (axis.vectors[0] - other.vectors[0]).norm(dim=-1) == 0
            still = [i for i in named if same[i]]
            if still and len(still) < len(named):
                wrong[axis.name] = (
                    f"{axis.name}: {axis.labels[0][still[0]]} holds none of the input"
                )
    return replace(verdict, wrong=(*verdict.wrong, *wrong.values()))


def _verdict(pairs: Iterable[Pair], reach: int) -> Verdict:
    kinds: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for change, before, after in pairs:
        for axis, other in zip(before, after, strict=True):
            token, near = named_tokens(axis, change, reach)
            if token is None:
                continue
            fault = misplaced(axis, other, change.tile, token, near)
            if fault != UNREACHED:
                kinds[axis.name] = change.kind
            if fault and (fault != UNREACHED or change.kind == "patch"):
                wrong.setdefault(axis.name, f"{axis.name}: {fault}")
    faults = tuple(fault for name, fault in wrong.items() if name in kinds)
    return Verdict(tuple(dict.fromkeys(kinds.values())), len(kinds), faults)


def one_by_one(
    model: nn.Module, inputs: Inputs, places: Sequence[Change], base: list[Axis]
) -> Iterator[Pair]:
    """Each change in a pass of its own, with the axes of the first item before and after it."""
    for change in places:
        yield change, base, axes_of(_ablated(model, changed(inputs, change)))


def together(model: nn.Module, inputs: Inputs, places: Sequence[Change]) -> Iterator[Pair]:
    """The first item and all its changes in one pass, of inputs that have an entry an item."""
    if not places:
        return
    single = {name: x[:1] if isinstance(x, Tensor) else x for name, x in inputs.items()}
    every = [single, *(changed(single, change) for change in places)]
    whole = {
        name: torch.cat([each[name] for each in every]) if isinstance(x, Tensor) else x
        for name, x in single.items()
    }
    axes = axes_of(_ablated(model, whole))
    count = len(every)
    split = [axis for axis in axes if len(axis.labels) % count == 0]
    parts = [[_item(axis, index, count) for axis in split] for index in range(count)]
    for index, change in enumerate(places):
        yield change, parts[0], parts[1 + index]


def _item(axis: Axis, index: int, count: int) -> Axis:
    """The axis of one item of the input, of which a site may have several parts."""
    each = len(axis.labels) // count
    items = slice(index * each, (index + 1) * each)
    return replace(axis, labels=axis.labels[items], vectors=axis.vectors[items])


def _order(model: nn.Module, inputs: Inputs) -> Inputs:
    """The noise that a masked autoencoder sorts patches by, the same in each pass and item."""
    pixels = inputs.get("pixel_values")
    if pixels is None or not hasattr(model.config, "mask_ratio"):
        return {}
    config: Any = model.config
    count = pixels.shape[-2] * pixels.shape[-1] // config.patch_size**2
    dice = torch.Generator().manual_seed(SEED)
    return {"noise": torch.rand(1, count, generator=dice).expand(len(pixels), -1)}


def _ablated(model: nn.Module, inputs: Inputs) -> Trace:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        try:
            return trace(model, inputs, edits=ABLATED, hidden=True)
        except (KeyError, TypeError, AttributeError, NotImplementedError):
            return trace(model, inputs, edits=ABLATED)


# --- axes -----------------------------------------------------------------------------------------


def axes_of(t: Trace) -> list[Axis]:
    """Rows and columns of every site, and the tokens of every hidden state."""
    axes = []
    for site in t.sites:
        pattern = t.pattern(site)
        items = range(len(t.items(site)))
        places = [t.positions(site, item) for item in items]
        sides = (
            ("queries", t.queries(site), t.query_grid(site), pattern.q, 0),
            ("keys", t.keys(site), t.key_grid(site), pattern.k, 1),
        )
        for name, tokens, grid, x, side in sides:
            vectors = tuple(
                x[item][:, places[item][side].to(x.device)].transpose(0, 1).flatten(1).float()
                for item in items
            )
            labels = tuple(each.labels for each in tokens)
            axes.append(Axis(f"{site.module} {site.part} {name}", labels, grid, vectors))
    for tower, states in t.hidden_states.items():
        for layer, axis in enumerate(states.axes):
            axes.append(_states(f"hidden {tower} {layer}", axis, states.states[layer]))
    return axes


def _states(name: str, axis: TokenAxis, states: Tensor) -> Axis:
    items = range(len(axis.tokens))
    vectors = tuple(states[item][axis.positions_of(item)].float() for item in items)
    return Axis(name, tuple(each.labels for each in axis.tokens), axis.grid, vectors)


def misplaced(before: Axis, after: Axis, part: int, token: int, near: set[int]) -> str:
    """Which other token than the one named changes; "" if it is that one.

    Where convolutions reach beyond their own patch, several change, and one near it may change
    more.

    Args:
        before: of the first item of a site.
        after: likewise.
        part: of the site, that holds the changed image.
        token: named as the changed place.
        near: tokens beside it, and itself.
    """
    each = [
        (x - y).norm(dim=-1) / x.norm(dim=-1).clamp(min=1e-6)
        for x, y in zip(before.vectors, after.vectors, strict=True)
    ]
    apart = nn.utils.rnn.pad_sequence(each, batch_first=True)
    largest = float(apart.max())
    label = before.labels[0][token]
    if largest < LEAST:
        return UNREACHED
    item, place = divmod(int(apart.argmax()), apart.shape[1])
    alone = int((apart > LEAST).sum()) == 1
    if (item, place) == (part, token):
        return ""
    if (
        not alone
        and item == part
        and place in near
        and float(apart[part, token]) >= SHARE * largest
    ):
        return ""
    return f"of {label} changes {before.labels[item][place]}" + (
        f" of part {item}" if item != part else ""
    )


def named_tokens(axis: Axis, change: Change, reach: int) -> tuple[int | None, set[int]]:
    """The token that an axis names as the changed place, None if none, and those beside it."""
    if change.kind in ("text", "target"):
        return _words(axis, change)
    return _patches(axis, change) if change.kind == "patch" else _frames(axis, change, reach)


def _words(axis: Axis, change: Change) -> tuple[int | None, set[int]]:
    """Of an axis that is labelled with the ids themselves, image tokens aside; other layers than
    attention may carry a change on to the tokens behind it, and MobileBERT embeds a token with both
    neighbours."""
    token, count = int(change.start[0]), len(change.ids)
    near = set(range(max(0, token - 1), count))
    labels = axis.labels[0]
    same = len(labels) == count and all(
        label == id or label.startswith(IMAGE_TOKEN)
        for label, id in zip(labels, change.ids, strict=True)
    )
    return (token, near) if same else (None, set())


def _patches(axis: Axis, change: Change) -> tuple[int | None, set[int]]:
    places = {
        (int(match[1] or 0), int(match[3]), int(match[4])): token
        for token, label in enumerate(axis.labels[0])
        if (match := PATCH.match(label))
    }
    if not places:
        return None, set()
    first = sorted({place[0] for place in places})
    sizes = len(first), *(1 + max(place[i] for place in places) for i in (1, 2))
    frame, row, col = (int(at * size + 1e-6) for at, size in zip(change.start, sizes, strict=True))
    beside = {
        token
        for (f, r, c), token in places.items()
        if f == first[frame] and max(abs(r - row), abs(c - col)) <= REACH
    }
    return places.get((first[frame], row, col)), beside


def _frames(axis: Axis, change: Change, reach: int) -> tuple[int | None, set[int]]:
    places = [(token, BAND.match(label)) for token, label in enumerate(axis.labels[0])]
    token_bands = [(token, int(match[1] or 0)) for token, match in places if match]
    if not token_bands:
        return None, set()
    bands = 1 + max(band for _, band in token_bands)
    band = int(change.start[0] * bands + 1e-6)
    tokens = [token for token, each in token_bands if each == band]
    middle = int(change.start[1] * len(tokens) + 1e-6)
    near = max(reach, len(tokens) // 30)
    if bands == 1:  # convolutions reach special tokens too
        return tokens[middle], set(range(tokens[middle] - near, tokens[middle] + near + 1))
    beside = {
        token
        for token, each in token_bands
        if abs(each - band) <= 1 and abs((token - token_bands[0][0]) % len(tokens) - middle) <= near
    }
    return tokens[middle], beside


# --- changes --------------------------------------------------------------------------------------


def changes(
    inputs: Inputs, axes: Sequence[Axis], config: Any, most: int = MOST
) -> Iterator[Change]:
    """The changed places: of the finest grid, of the finest frames, and of texts."""
    dice = torch.Generator().manual_seed(SEED)

    def some(places: Sequence[Any]) -> list[Any]:
        order = torch.randperm(len(places), generator=dice)[:most]
        return [places[index] for index in order.tolist()]

    for name in PIXELS:
        pixels = inputs.get(name)
        grid = _finest(axes)
        if isinstance(pixels, Tensor) and pixels.ndim in (4, 5) and grid is not None:
            for place in some(list(product(*map(range, grid)))):
                yield _box(name, pixels, place, grid)
    for name in SOUND:
        sound = inputs.get(name)
        counts = [sum(bool(BAND.match(label)) for label in axis.labels[0]) for axis in axes]
        if isinstance(sound, Tensor) and max(counts, default=0) > 1:
            yield from _sounds(name, sound, axes, time_of(sound, inputs, config), some)
    for name, kind in IDS.items():
        ids = inputs.get(name)
        if isinstance(ids, Tensor) and ids.ndim == 2:
            labels = tuple(map(str, ids[0].tolist()))
            for place in some([i for i, token in enumerate(ids[0].tolist()) if token < WORDS]):
                yield Change(kind, (place,), name, (place,), ids=labels)


def positions_of(model: nn.Module, inputs: Inputs) -> Tensor | None:
    """Row and column of each packed patch, as the network itself hands them to a layer (rotary
    embeddings); None if it hands out none."""
    counts = {len(inputs[name]) for name in PACKED if isinstance(inputs.get(name), Tensor)}
    positions: list[Tensor] = []

    def note(_: nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> None:
        positions.extend(
            x
            for x in (*args, *kwargs.values())
            if isinstance(x, Tensor)
            and not x.is_floating_point()
            and x.ndim == 2
            and x.shape[1] == 2
            and len(x) in counts
        )

    if any(name in inputs for name in GRIDS):
        hooks = [m.register_forward_pre_hook(note, with_kwargs=True) for m in model.modules()]
        with torch.no_grad():
            model(**arguments(model, inputs))
        for hook in hooks:
            hook.remove()
    return positions[0] if positions else None


def packed_changes(
    inputs: Inputs, axes: Sequence[Axis], positions: Tensor | None, most: int
) -> Iterator[Change]:
    """Changed patches of the first of several packed images."""
    grid = next((inputs[name] for name in GRIDS if name in inputs), None)
    name = next((n for n in PACKED if isinstance(inputs.get(n), Tensor)), None)
    if positions is None or grid is None or name is None or _finest(axes) is None:
        return
    frames, rows, cols = grid[0].tolist()
    dice = torch.Generator().manual_seed(SEED)
    for place in torch.randperm(frames * rows * cols, generator=dice)[:most].tolist():
        row, col = positions[place].tolist()
        start = (place // (rows * cols) / frames, row / rows, col / cols)
        yield Change("patch", start, name, (...,), entry=place)


def time_of(sound: Tensor, inputs: Inputs, config: Any) -> int:
    """Which axis of a sound is time: as long as its mask, or no channel and not as long as there
    are bins."""
    masks = {x.shape[1] for n, x in inputs.items() if "mask" in n and x.ndim == 2}
    bins = {setting(config, name, parts=HEARING) for name in BINS}
    axes = [axis for axis in range(1, sound.ndim) if sound.shape[axis] > 1]
    masked = [axis for axis in axes if sound.shape[axis] in masks - bins]
    free = [axis for axis in axes if sound.shape[axis] not in bins]
    return next(iter((*masked, *free)), max(axes, key=lambda axis: sound.shape[axis]))


def _finest(axes: Sequence[Axis]) -> tuple[int, int, int] | None:
    """Frames, rows and columns of the grid with most cells that labels name."""
    sizes = []
    for axis in axes:
        matches = [match for label in axis.labels[0] if (match := PATCH.match(label))]
        if matches:
            parts = [tuple(int(part or 0) for part in m.group(1, 3, 4)) for m in matches]
            frames = len({part[0] for part in parts})
            rows, cols = (1 + max(part[i] for part in parts) for i in (1, 2))
            sizes.append((frames, rows, cols))
    return max(sizes, key=lambda size: size[1] * size[2], default=None)


def _box(
    name: str, pixels: Tensor, place: tuple[int, int, int], grid: tuple[int, int, int]
) -> Change:
    high, wide = pixels.shape[-2:]
    start = tuple(at / count for at, count in zip(place, grid, strict=True))
    rows, cols = (
        slice(at * size // count, max(at * size // count + 1, (at + 1) * size // count))
        for at, size, count in zip(place[1:], (high, wide), grid[1:], strict=True)
    )
    if pixels.ndim == 4:
        return Change("patch", start, name, (slice(None), rows, cols))
    frames, each = pixels.shape[1], pixels.shape[1] // grid[0]
    if grid[0] > 1:
        items = slice(place[0] * each, (place[0] + 1) * each)
        return Change("patch", start, name, (items, slice(None), rows, cols))
    tile = (place[1] + place[2]) % frames
    return Change("patch", start, name, (tile, slice(None), rows, cols), tile)


def _sounds(
    name: str, sound: Tensor, axes: Sequence[Axis], time: int, some: Any
) -> Iterator[Change]:
    matches = [[BAND.match(label) for label in axis.labels[0]] for axis in axes]
    longest = max(([m for m in each if m] for each in matches), key=len)
    bands = len({m.group(1) for m in longest})
    count = len(longest) // bands
    for band, at in some(list(product(range(bands), range(count)))):
        box = [slice(None)] * (sound.ndim - 1)
        length = sound.shape[time]
        box[time - 1] = slice(at * length // count, (at + 1) * length // count)
        if bands > 1:
            other = sound.ndim - time if sound.ndim == 3 else sound.ndim - 1
            size = sound.shape[other]
            box[other - 1] = slice(band * size // bands, (band + 1) * size // bands)
        yield Change("frame", (band / bands, at / count), name, tuple(box))


def changed(inputs: Mapping[str, Any], change: Change) -> Inputs:
    """The inputs with one place drawn anew."""
    value = inputs[change.name].clone()
    old = value[change.entry][change.box]
    dice = torch.Generator().manual_seed(SEED + 1)
    if value.is_floating_point():
        value[change.entry][change.box] = old + 2 * torch.randn(old.shape, generator=dice).to(old)
    else:
        value[change.entry][change.box] = (old + 1) % WORDS
    return {**inputs, change.name: value}
