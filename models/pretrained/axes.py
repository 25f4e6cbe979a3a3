"""Token axes of attention in transformers models: what rows and columns stand for.

An axis is that of the input sequence its tokens come from (models/pretrained/sources.py says
which); one that comes from none (learned queries), or has other tokens than the sequence (frames
after convolutions), is numbered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Bool, Int
from torch import Tensor

from models.inputs.layout import Layout, patch_sides, vision_part
from models.inputs.sequences import InputSequences, named_tokens
from models.picture_grid import (
    WHOLE,
    Box,
    Part,
    PictureGrid,
    cells_box,
    centred,
    frame_name,
    row_by_row,
)
from models.pretrained.windows import Slots
from models.text import Tokens
from models.trace import PatchGrid, Sound, TokenAxis

STRIDES = (4, 8, 16, 32, 64)  # of convolutional backbones


def window_axes(
    slots: Slots, batch: int, pixels: Any = None, config: Any = None
) -> tuple[TokenAxis, TokenAxis]:
    """Rows and columns of an image, whose pixels may be known, after its windows were merged."""
    layout = Layout(*(slots.grid or (0, 0)))
    if isinstance(pixels, Tensor) and pixels.ndim == 4:
        layout = replace(layout, box=_stage_box(layout, pixels.shape[-2:], config))
    patches = layout.tokens(batch)
    outside = named_tokens([f"outside {row},{col}" for row, col in slots.outside])
    columns = tuple(each + outside if outside.ids else each for each in patches)
    return TokenAxis(patches, grid=layout.grid), TokenAxis(columns, grid=layout.grid)


def _stage_box(layout: Layout, size: Sequence[int], config: Any) -> Box:
    """The area of the patches of a stage, whose sides are twice as long as those of the one before.

    It is larger than the picture where that was filled up to whole patches.
    """
    part, cells = vision_part(config), (layout.rows, layout.cols)
    steps = getattr(part, "patch_stride", None)  # of patches that overlap
    sides = (steps[0], steps[0]) if isinstance(steps, list) else patch_sides(part)
    while all(sides) and max(sides) <= max(size):
        pairs = zip(cells, size, sides, strict=True)
        if all(count in (pixels // side, ceil(pixels / side)) for count, pixels, side in pairs):
            first = centred(sides[0]) if isinstance(steps, list) else 0.0
            return cells_box(cells, sides, (size[0], size[1]), first)
        sides = 2 * sides[0], 2 * sides[1]
    return WHOLE


def axis_of(
    source: str | None, sequences: InputSequences, length: int, batch: int, config: Any
) -> TokenAxis | None:
    """The axis of a source, repeated for several items of each; None if its tokens are others."""
    sequence = sequences.get(source or "")
    if sequence is None:
        return None
    items, layout = len(sequence.tokens), sequence.layout
    if layout is not None and layout.fits(items, batch):
        return _layout_axis(layout, length, batch, config)
    if layout is not None or sequence.length != length or batch % items:
        return None
    positions, repeats = sequence.positions, range(batch // items)
    return TokenAxis(
        tuple(tokens for tokens in sequence.tokens for _ in repeats),
        None if positions is None else tuple(each for each in positions for _ in repeats),
        pictures=tuple(grids for grids in sequence.pictures for _ in repeats),
    )


def _layout_axis(layout: Layout, length: int, batch: int, config: Any) -> TokenAxis | None:
    """The patches of an image or a spectrogram between the special tokens of the network."""
    if layout.length != length:
        special = layout.with_special(length, config) if layout.kind == "patch" else None
        if special is None:
            return None
        layout = special
    return TokenAxis(layout.tokens(batch), grid=layout.grid)


def cells_axis(
    arguments: Mapping[str, Any], length: int, batch: int, *, overlapping: bool = True
) -> TokenAxis | None:
    """The cells of a feature map that a convolutional backbone makes of the pixels.

    None unless the length belongs to exactly one of the usual strides. Cells of convolutions that
    overlap lie around every so many pixels, from the first one on.
    """
    pixels = arguments.get("pixel_values")
    if not isinstance(pixels, Tensor) or pixels.ndim != 4 or batch % len(pixels):
        return None
    high, wide = pixels.shape[-2:]
    grids = []
    for side in STRIDES:
        cells = ceil(high / side), ceil(wide / side)
        box = cells_box(cells, (side, side), (high, wide), centred(side) if overlapping else 0.0)
        grids.append(PatchGrid(*cells, box=box))
    return _only_grid(grids, length, batch, "cell")


TILED = ("mllama",)  # model types that lay the tiles of a picture along one axis


def tiles_axis(parts: Sequence[Part], length: int, batch: int, config: Any) -> TokenAxis | None:
    """The tiles of each picture one after another: a class token, patches, and padding.

    Source: the Llama 3 team 2024, section 7.2; tiles are padded to a multiple of 8 tokens.

    Args:
        parts: the tiles, those that fill up a batch included.
        length: of the axis.
        batch: of the layer: the pictures, or the texts that they belong to.
        config: of the model.
    """
    if getattr(config, "model_type", None) not in TILED or not parts or length * batch % len(parts):
        return None
    patch, each, tiles = vision_part(config).patch_size, length * batch // len(parts), len(parts)
    rows, cols = parts[0].rows // patch, parts[0].cols // patch
    inner = cells_box((rows, cols), (patch, patch), (parts[0].rows, parts[0].cols))
    if each <= rows * cols or tiles % batch:
        return None
    layout = Layout(rows, cols, before=("[CLS]",))
    padding = named_tokens(["padding"] * (each - layout.length))
    empty = named_tokens(["empty tile"] * each)
    tokens, pictures = [], []
    for item in range(batch):
        mine = parts[item * tiles // batch : (item + 1) * tiles // batch]
        labels = [_named(layout.tokens(1)[0], part.name) + padding for part in mine]
        axis = [label if part.real else empty for label, part in zip(labels, mine, strict=True)]
        tokens.append(sum(axis[1:], axis[0]))
        pictures.append(
            tuple(
                PictureGrid(
                    part.picture,
                    row_by_row(rows, cols, index * each + 1),
                    inner.inside(part.box),
                    part.name,
                )
                for index, part in enumerate(mine)
                if part.real
            )
        )
    return TokenAxis(tuple(tokens), pictures=tuple(pictures))


def _named(tokens: Tokens, name: str) -> Tokens:
    """The tokens, with the name of their tile in front of their labels."""
    front = f"{name}, " if name else ""
    return replace(tokens, labels=tuple(front + label for label in tokens.labels))


def over_parts(axis: TokenAxis, parts: Sequence[Part], patches: PatchGrid | Layout) -> TokenAxis:
    """The patches of an image, where the items are parts of pictures."""
    seen, size = [part for part in parts if part.real], patches.rows * patches.cols
    pictures = next((some for some in (seen, parts) if len(some) == len(axis.tokens)), ())
    patch_masks = [[not special for special in tokens.special] for tokens in axis.tokens]
    if axis.pictures or not pictures or any(sum(each) != size for each in patch_masks):
        return axis
    grids = []
    for part, each in zip(pictures, patch_masks, strict=True):
        places = row_by_row(patches.rows, patches.cols, each.index(True))
        box = patches.box.inside(part.box)
        grids.append((PictureGrid(part.picture, places, box, part.name),))
    return replace(axis, pictures=tuple(grids))


def reduced_axis(queries: PatchGrid, length: int, batch: int) -> TokenAxis | None:
    """Keys made of the queries' cells by a convolution whose stride is its size: square areas.

    Source: Wang et al. 2021 (PVT), section 3.3; Xie et al. 2021 (SegFormer), section 3.1.

    Returns:
        None unless exactly one grid of areas has this many.
    """
    if queries.prefix or queries.frames > 1:
        return None
    size = queries.rows, queries.cols
    grids: dict[tuple[int, int], PatchGrid] = {}
    for stride in range(2, min(size) + 1):
        cells = size[0] // stride, size[1] // stride
        box = cells_box(cells, (stride, stride), size).inside(queries.box)
        grids[cells] = PatchGrid(*cells, box=box)  # of several strides the last leaves out least
    return _only_grid(grids.values(), length, batch, "area")


def _only_grid(grids: Iterable[PatchGrid], length: int, batch: int, name: str) -> TokenAxis | None:
    """The axis of the only grid that has this many cells; None if there are none or several."""
    fitting = [grid for grid in grids if grid.rows * grid.cols == length]
    if len(fitting) != 1:
        return None
    (grid,) = fitting
    labels = [f"{name} {row},{col}" for row in range(grid.rows) for col in range(grid.cols)]
    return TokenAxis((named_tokens(labels, special=False),) * batch, grid=grid)


def packed_axis(
    grid: Sequence[Sequence[int]],
    merge: int,
    window: Int[Tensor, " square"] | None = None,
    depth: int = 1,
    *,
    video: bool = False,
) -> TokenAxis:
    """The patches of packed images or videos.

    Squares of `merge` × `merge` patches, which become one token of text, follow each other.

    Source: Wang et al. 2024 (Qwen2-VL), section 2.1.

    Args:
        grid: tubes of frames, rows and columns of each item.
        merge: patches along a side of the squares.
        window: the squares of all items, in the order of their windows; None for that of squares.
        depth: frames of a tube.
        video: whether an item of a single tube is a video.
    """
    order = "(t r a c b) -> (t r c a b)"
    places = [
        rearrange(torch.arange(t * rows * cols), order, t=t, a=merge, b=merge, c=cols // merge)
        for t, rows, cols in grid
    ]
    if window is not None:
        squares = torch.cat(places).view(-1, merge**2)[window.cpu()]
        places = list(squares.flatten().split([len(each) for each in places]))
    layouts = [
        Layout(
            rows,
            cols,
            frames=tuple(range(0, tubes * depth, depth)) if tubes > 1 or video else (),
            chosen=order[None],
        )
        for (tubes, rows, cols), order in zip(grid, places, strict=True)
    ]
    tokens = tuple(layout.tokens(1)[0] for layout in layouts)
    sizes = zip(grid, places, layouts, strict=True)
    return TokenAxis(tokens, pictures=tuple(_over(item, *e, depth) for item, e in enumerate(sizes)))


def _over(
    item: int, size: Sequence[int], order: Int[Tensor, " token"], layout: Layout, depth: int
) -> tuple[PictureGrid, ...]:
    """Where the tokens of an item lie on its picture, or on the frames of its video that share
    them."""
    tubes, rows, cols = size
    cells = order.argsort().view(tubes, rows, cols)
    if not layout.frames:
        return (PictureGrid(item, cells[0]),)
    frames = (range(first, first + depth) for first in layout.frames)
    return tuple(
        PictureGrid(item, places, name=frame_name(those), frames=tuple(those))
        for places, those in zip(cells, frames, strict=True)
    )


def numbered_axis(
    source: str | None,
    length: int,
    batch: int,
    padding: Bool[Tensor, "batch token"] | None,
    sound: Sound | None = None,
) -> TokenAxis:
    """An axis of numbers, or of times.

    Args:
        source: of its tokens.
        length: of the axis.
        batch: number of items.
        padding: True at tokens that are none of an item's own.
        sound: the recordings; None numbers their frames.
    """
    what = {"sound": "frame", "image": "position", "text": "position", "target": "position"}
    what = what.get(source or "image", str(source).replace("_hidden_states", " state"))
    labels = [f"{what} {index}" for index in range(length)]
    if source == "sound" and sound is not None:
        labels = sound.labels(length)
    if padding is None:
        return TokenAxis((named_tokens(labels, special=False),) * batch)
    places = tuple((~row).nonzero().flatten() for row in padding.cpu())
    tokens = tuple(
        named_tokens([labels[place] for place in each.tolist()], special=False) for each in places
    )
    return TokenAxis(tokens, places)


def padding_of_argument(arguments: Mapping[str, Any], source: str | None) -> Tensor | None:
    """Padding of states that are themselves an argument, by the mask given beside them."""
    mask = arguments.get(str(source).replace("hidden_states", "attention_mask"))
    if source not in arguments or not isinstance(mask, Tensor) or mask.ndim != 2:
        return None
    return None if mask.bool().all() else ~mask.bool()
