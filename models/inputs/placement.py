"""Where the image tokens of a prompt lie on its pictures.

Ids or types tell which tokens of the text stand for pictures. What the model sees of a picture is
told by its own processor, which is given one of the same size whose colours are coordinates. In
which order the tokens of it follow each other is a rule of the family: one without a rule gets no
grids, and a reason.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.inputs.layout import patch_sides, vision_part
from models.inputs.sequences import InputSequence
from models.picture_grid import (
    WHOLE,
    Box,
    Part,
    PictureGrid,
    cells_box,
    centred,
    frame_name,
    row_by_row,
    tokens_of,
)

if TYPE_CHECKING:
    from PIL.Image import Image

STEP, MOST_PICTURES = 10, 12  # levels of blue that tell pictures apart, above those of margins
KINDS = {1: "image", 2: "video"}  # of mm_token_type_ids
ONE_PART = ("llava", "paligemma", "gemma3", "florence2")  # the tower sees each picture at once
BY_PART = (*ONE_PART, "idefics3", "smolvlm", "internvl")  # row by row, as many for each part
GRIDS = {"image_grid_thw", "video_grid_thw"}  # arguments of Qwen2-VL, and of what follows it
QUERIES = "its image tokens are learned queries, each of which reads all of it"


class NoGridError(ValueError):
    """Image tokens cannot be placed on the pictures; the message says why."""


def coordinates(width: int, height: int, picture: int) -> "Image":
    """A picture of this size: red grows to the right, green downwards, blue tells which it is.

    Raises:
        ValueError: for more pictures than can be told apart.
    """
    from PIL import Image as Pillow

    if picture >= MOST_PICTURES:
        raise ValueError(f"pictures: expected at most {MOST_PICTURES} in a prompt")
    levels = np.full((height, width, 3), 255 - STEP * picture, dtype=np.uint8)
    levels[..., 0] = np.round(255 * (np.arange(width) + 0.5) / width)
    levels[..., 1] = np.round(255 * (np.arange(height) + 0.5) / height)[:, None]
    return Pillow.fromarray(levels)


def parts_of(levels: Tensor) -> tuple[Part, ...]:
    """What the tower sees of each picture.

    Args:
        levels: `… channel row col`, of pictures of coordinates that a processor resized and cut,
            0 to 255.
    """
    rows, cols = levels.shape[-2:]
    parts: list[Part] = []
    tiles = Counter[int]()
    for each in levels.reshape(-1, 3, rows, cols).float().numpy():
        location = _seen(each)
        if location is None:
            parts.append(Part(0, WHOLE, rows, cols, real=False))
            continue
        picture, box = location
        whole = max(abs(a - b) for a, b in zip(box, WHOLE, strict=True)) < 0.02
        tiles[picture] += not whole
        parts.append(Part(picture, box, rows, cols, 0 if whole else tiles[picture]))
    several = Counter(part.picture for part in parts if part.real)
    return tuple(replace(p, tile=0) if several[p.picture] == 1 else p for p in parts)


def _seen(levels: Float[np.ndarray, "channel row col"]) -> tuple[int, Box] | None:
    """Which picture a part shows, and the area of it."""
    red, green, blue = levels
    number = (255 - blue) / STEP
    nearest = np.round(number)
    known = (np.abs(number - nearest) < 0.3) & (nearest >= 0) & (nearest < MOST_PICTURES)
    if known.sum() < 4:
        return None
    picture = int(np.bincount(nearest[known].astype(int)).argmax())
    inside = known & (nearest == picture)
    (left, right), (top, bottom) = _edges(red, inside), _edges(green.T, inside.T)
    return picture, Box(left, top, right, bottom)


def _edges(
    levels: Float[np.ndarray, "across along"], inside: Bool[np.ndarray, "across along"]
) -> tuple[float, float]:
    """Coordinates of both edges of a part, by a straight line through those of its pixels."""
    counts = inside.sum(0)
    (places,) = counts.nonzero()
    if len(places) < 2:
        return 0.0, 1.0
    shares = np.where(inside, levels, 0).sum(0)[places] / counts[places] / 255
    kept = slice(1, -1) if len(places) > 4 else slice(None)  # filters bend the line at the edges
    slope, start = np.polyfit(places[kept] + 0.5, shares[kept], 1)
    return float(start), float(start + slope * len(counts))


# --- tokens -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Item:
    """An item of the batch: columns of its image tokens by kind, and what the model is given."""

    columns: Mapping[str, list[int]]
    arguments: Mapping[str, Any]
    config: Any
    parts: Sequence[Part]


Placed = tuple[list[PictureGrid], dict[int, str]]  # grids, and labels of tokens that are in none


def with_places(
    text: InputSequence, arguments: Mapping[str, Any], config: Any, parts: Sequence[Part]
) -> tuple[InputSequence, tuple[str, ...]]:
    """A text whose image tokens have their places on pictures, and a note where these are not
    certain: then they are numbered.

    Args:
        text: what the model reads.
        arguments: of its forward.
        config: of the model.
        parts: what the tower sees of the pictures; () where that is not known.
    """
    columns = [_columns(arguments, config, item) for item in range(len(text.tokens))]
    if not any(each for kinds in columns for each in kinds.values()):
        return text, ()
    notes: tuple[str, ...] = ()
    try:
        placed = [_placed(_Item(each, arguments, config, parts)) for each in columns]
    except NoGridError as error:
        notes = (f"image tokens are shown without a picture: {error}",)
        every = (sorted(chain(*kinds.values())) for kinds in columns)
        placed = [([], {place: f"image token {i}" for i, place in enumerate(e)}) for e in every]
    items = [_relabelled(text, item, *each) for item, each in enumerate(placed)]
    tokens, grids, alone = zip(*items, strict=True)
    if notes:
        return replace(text, tokens=tokens, image_tokens=alone), notes
    return replace(text, tokens=tokens, pictures=grids), notes


def _columns(arguments: Mapping[str, Any], config: Any, item: int) -> dict[str, list[int]]:
    """Positions of the tokens that stand for pictures and for videos."""
    ids, types = arguments["input_ids"][item], arguments.get("mm_token_type_ids")
    columns: dict[str, list[int]] = {}
    for kind, name in KINDS.items():
        named = (getattr(config, f"{name}_token_{end}", None) for end in ("id", "index"))
        token = next(filter(None, named), None)
        here = types[item] == kind if token is None and types is not None else ids == token
        columns[name] = [] if isinstance(here, bool) else here.nonzero().flatten().tolist()
    return columns


def _placed(item: _Item) -> Placed:
    """The grids of an item's image tokens, and labels of tokens that are in none."""
    family = item.config.model_type
    if GRIDS & item.arguments.keys() and hasattr(vision_part(item.config), "spatial_merge_size"):
        grids, labels = _merged(item), dict[int, str]()
    elif family == "mllama":  # one token stands for a picture, whose patches are keys of others
        grids, labels = [], dict.fromkeys(item.columns["image"], "<picture>")
    elif family not in (*BY_PART, "llava_next"):
        unknown = f"how {family} lays out its image tokens is not known here"
        raise NoGridError(QUERIES if family == "blip-2" else unknown)
    else:
        item = replace(item, parts=item.parts or _whole(family, item.arguments.get("pixel_values")))
        grids, labels = _unpadded(item) if family == "llava_next" else _by_part(item)
    count, places = sum(map(len, item.columns.values())), len(tokens_of(grids)) + len(labels)
    if places != count:
        raise NoGridError(
            f"the processor wrote {count} image tokens, where its grids have {places}"
        )
    return grids, labels


def _whole(family: str, pixels: Tensor | None) -> list[Part]:
    """Pictures that came as pixels, where the tower sees each at once."""
    if family not in ONE_PART or pixels is None or pixels.ndim != 4:
        raise NoGridError("how its tiles were cut is told by a prompt with pictures alone")
    rows, cols = pixels.shape[-2:]
    return [Part(number, WHOLE, rows, cols) for number in range(len(pixels))]


def _by_part(item: _Item) -> Placed:
    """As many tokens for each part, row by row.

    Of Florence-2 the mean of all patches comes first, and its convolutions overlap.
    """
    parts, columns = [part for part in item.parts if part.real], item.columns["image"]
    if not parts or len(columns) % len(parts):
        raise NoGridError(f"{len(columns)} image tokens for {len(parts)} pictures or tiles")
    overlapping = item.config.model_type == "florence2"
    each, before = len(columns) // len(parts), int(overlapping)
    patch = 1 if overlapping else patch_sides(vision_part(item.config))[0] or 1
    grids, labels = [], {}
    for index, part in enumerate(parts):
        mine = columns[index * each : (index + 1) * each]
        patches = (part.rows // patch) * (part.cols // patch)
        side = patch * isqrt(patches // (each - before)) if each > before else 0
        rows, cols = (part.rows // side, part.cols // side) if side else (0, 0)
        if not side or rows * cols != each - before:
            raise NoGridError(f"{each} image tokens for {part.rows} × {part.cols} pixels")
        first = centred(side) if overlapping else 0.0
        box = cells_box((rows, cols), (side, side), (part.rows, part.cols), first)
        labels |= dict.fromkeys(mine[:before], "mean of the patches")
        places = torch.tensor(mine[before:]).view(rows, cols)
        grids.append(PictureGrid(part.picture, places, box.inside(part.box), part.name))
    return grids, labels


def _unpadded(item: _Item) -> Placed:
    """LLaVA-NeXT: the picture at a glance, then its tiles as one grid without their margin, and a
    token at the end of each row."""
    from transformers.models.llava_next.modeling_llava_next import (
        get_anyres_image_grid_shape,
        unpad_image,
    )

    columns, first, vision = item.columns["image"], 0, item.config.vision_config
    side, rest = divmod(vision.image_size, vision.patch_size)
    if rest:
        raise NoGridError("its patches leave out an edge of each tile, so that tiles do not join")
    grids: list[PictureGrid] = []
    labels: dict[int, str] = {}
    for picture, size in enumerate(item.arguments["image_sizes"]):
        glance, *tiles = (part for part in item.parts if part.picture == picture and part.real)
        pinpoints = item.config.image_grid_pinpoints
        high, wide = get_anyres_image_grid_shape(size, pinpoints, vision.image_size)
        if len(tiles) != high * wide:
            raise NoGridError(f"{len(tiles)} tiles for a grid of {high} × {wide}")
        whole = high * side, wide * side
        kept = unpad_image(row_by_row(*whole)[None], size)[0]
        rows, cols = kept.shape
        ends = first + side**2, first + side**2 + rows * (cols + 1)
        places = torch.tensor(columns[first : ends[0]]).view(side, side)
        lines = torch.tensor(columns[ends[0] : ends[1]]).view(rows, cols + 1)
        labels |= {place: f"end of row {row}" for row, place in enumerate(lines[:, -1].tolist())}
        joined, corners = Box(*tiles[0].box[:2], *tiles[-1].box[2:]), (kept[0, 0], kept[-1, -1])
        begin, end = (joined.cell(*divmod(int(each), whole[1]), *whole) for each in corners)
        box, first = Box(*begin[:2], *end[2:]), ends[1]
        grids.append(PictureGrid(picture, places, glance.box))
        grids.append(PictureGrid(picture, lines[:, :-1], box, "tiles"))
    return grids, labels


def _merged(item: _Item) -> list[PictureGrid]:
    """Qwen2-VL and what follows it: squares of patches, row by row, frame pair by frame pair.

    Of a video, each of the parts is a frame; the last one can be alone in its pair.
    """
    vision = vision_part(item.config)
    depth, merge = getattr(vision, "temporal_patch_size", 1), vision.spatial_merge_size
    grids: list[PictureGrid] = []
    picture = 0
    for kind, columns in item.columns.items():
        first, sizes = 0, item.arguments.get(f"{kind}_grid_thw")
        for frames, *sides in () if sizes is None else sizes.tolist():
            rows, cols = (side // merge for side in sides)
            for frame in range(frames):
                places = columns[first : first + rows * cols]
                if len(places) < rows * cols:
                    raise NoGridError(f"{len(columns)} tokens for the grids of each {kind}")
                first += rows * cols
                seen = range(frame * depth, (frame + 1) * depth)
                if item.parts:
                    seen = seen[: max(1, len(item.parts) - seen.start)]
                grid = PictureGrid(picture, torch.tensor(places).view(rows, cols))
                video = {"name": frame_name(seen), "frames": tuple(seen)}
                grids.append(replace(grid, **video) if kind == "video" else grid)
            picture += 1
    return grids


def _relabelled(
    text: InputSequence, item: int, grids: Sequence[PictureGrid], labels: Mapping[int, str]
) -> tuple[Any, tuple[PictureGrid, ...], tuple[int, ...]]:
    """The tokens of an item with the places of its image tokens as labels; the grids, of places
    among them; and the tokens with labels that are in no grid."""
    tokens = text.tokens[item]
    columns = range(len(tokens)) if text.positions is None else text.positions[item].tolist()
    place = {column: index for index, column in enumerate(columns)}
    names = {place[column]: label for column, label in labels.items()}
    alone, several = tuple(sorted(names)), len({grid.picture for grid in grids}) > 1
    regridded = []
    for grid in grids:
        places = grid.places.clone().apply_(place.__getitem__)
        regridded.append(replace(grid, places=places))
        front = f"picture {grid.picture + 1}, " if several else ""
        front += f"{grid.name}, " if grid.name else ""
        for row, line in enumerate(places.tolist()):
            names |= {each: f"{front}patch {row},{col}" for col, each in enumerate(line)}
    labelled = tuple(names.get(index, label) for index, label in enumerate(tokens.labels))
    special = tuple(each and i not in names for i, each in enumerate(tokens.special))
    return replace(tokens, labels=labelled, special=special), tuple(regridded), alone
