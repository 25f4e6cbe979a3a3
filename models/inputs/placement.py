"""Where the image tokens of a prompt lie on its pictures.

Which columns of the text hold image tokens is told by `image_token_id` or `mm_token_type_ids`; what
the model sees of a picture, by its own processor, which is given a picture of the same size whose
colours are coordinates. How the tokens of what it sees follow each other is a rule of the family.
A family without a rule here gets no grids, and a reason.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from models.inputs.layout import patch_sides, vision_part
from models.inputs.sequences import InputSequence
from models.patches import Sizes
from models.picture_grid import (
    Box,
    Part,
    PictureGrid,
    cells_box,
    centred,
    frame_name,
    row_by_row,
    tokens_of,
)
from models.text import Tokens

if TYPE_CHECKING:
    from PIL.Image import Image

STEP, MOST_PICTURES = 10, 12  # levels of blue that tell pictures apart, above those of margins
IMAGE_TYPE, VIDEO_TYPE = 1, 2  # of mm_token_type_ids
Grids = tuple[PictureGrid, ...]


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


def parts_of(pixels: Tensor, processor: Any) -> tuple[Part, ...]:
    """What the tower sees of each picture, from processed pictures of coordinates.

    Args:
        pixels: `… channel row col`.
        processor: of the images, which scaled their levels.
    """
    rows, cols = pixels.shape[-2:]
    parts: list[Part] = []
    tiles = Counter[int]()
    for levels in _levels(pixels.reshape(-1, 3, rows, cols).float(), processor):
        location = _seen(levels)
        if location is None:
            parts.append(Part(0, Box(), rows, cols, real=False))
            continue
        picture, box = location
        left, top, right, bottom = box
        whole = max(abs(left), abs(top), abs(right - 1), abs(bottom - 1)) < 0.02
        tiles[picture] += not whole
        parts.append(Part(picture, box, rows, cols, 0 if whole else tiles[picture]))
    alone = {picture for picture, count in tiles.items() if count == 1}
    several = Counter(part.picture for part in parts if part.real)
    return tuple(
        replace(part, tile=0) if part.picture in alone and several[part.picture] == 1 else part
        for part in parts
    )


def _levels(pixels: Tensor, processor: Any) -> Float[np.ndarray, "part channel row col"]:
    """The levels 0 to 255 that the processor scaled."""
    values = pixels.numpy()
    if getattr(processor, "do_normalize", False):
        mean, std = (
            np.asarray(getattr(processor, name), dtype=np.float32).reshape(-1, 1, 1)
            for name in ("image_mean", "image_std")
        )
        values = values * std + mean
    if getattr(processor, "do_rescale", False):
        values = values / processor.rescale_factor
    return values


def _seen(levels: Float[np.ndarray, "channel row col"]) -> tuple[int, Box] | None:
    """Which picture a part shows, and the area of it, by straight lines through coordinates."""
    red, green, blue = levels
    number = (255 - blue) / STEP
    nearest = np.round(number)
    known = (np.abs(number - nearest) < 0.3) & (nearest >= 0) & (nearest < MOST_PICTURES)
    if known.sum() < 4:
        return None
    picture = int(np.bincount(nearest[known].astype(int)).argmax())
    inside = known & (nearest == picture)
    rows, cols = inside.shape
    across = _line(np.where(inside, red, np.nan), axis=0)
    down = _line(np.where(inside, green, np.nan), axis=1)
    (left, right), (top, bottom) = _ends(across, cols), _ends(down, rows)
    return picture, Box(left, top, right, bottom)


def _line(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixels along an axis, and the mean coordinate of those of the picture there."""
    visible = ~np.isnan(values)
    places = np.flatnonzero(visible.any(axis=axis))
    total = np.where(visible, values, 0).sum(axis=axis)[places]
    return places, total / visible.sum(axis=axis)[places] / 255


def _ends(line: tuple[np.ndarray, np.ndarray], count: int) -> tuple[float, float]:
    """Coordinates of both edges of so many pixels."""
    places, shares = line
    if len(places) < 2:
        return 0.0, 1.0
    kept = slice(1, -1) if len(places) > 4 else slice(None)  # filters bend the line at the edges
    slope, start = np.polyfit(places[kept] + 0.5, shares[kept], 1)
    return float(start), float(start + slope * count)


# --- tokens -------------------------------------------------------------------------------------


def image_columns(arguments: Mapping[str, Any], config: Any, item: int) -> dict[int, list[int]]:
    """Positions of the tokens that stand for pictures (1) and for videos (2)."""
    ids, types = arguments["input_ids"][item], arguments.get("mm_token_type_ids")
    columns: dict[int, list[int]] = {}
    for kind, name in ((IMAGE_TYPE, "image"), (VIDEO_TYPE, "video")):
        names = (f"{name}_token_id", f"{name}_token_index")
        token = next((getattr(config, n) for n in names if getattr(config, n, None)), None)
        if token is not None:
            columns[kind] = (ids == token).nonzero().flatten().tolist()
        elif types is not None:
            columns[kind] = (types[item] == kind).nonzero().flatten().tolist()
        else:
            columns[kind] = []
    return columns


def placed(
    arguments: Mapping[str, Any], config: Any, item: int, parts: Sequence[Part]
) -> tuple[Grids, dict[int, str]]:
    """The grids of an item's image tokens, and labels of tokens that are in none.

    Args:
        arguments: of the model.
        config: of the model.
        item: of the batch.
        parts: what the tower sees of the pictures.

    Raises:
        NoGridError: where the grids are not certain.
    """
    family = config.model_type
    if family in NO_PLACES:
        raise NoGridError(NO_PLACES[family])
    rule = RULES.get(family)
    if rule is None:
        raise NoGridError(f"how {family} lays out its image tokens is not known here")
    columns = image_columns(arguments, config, item)
    grids, labels = rule(columns, arguments, config, parts)
    count = sum(map(len, columns.values()))
    if len(tokens_of(grids)) + len(labels) != count:
        raise NoGridError(
            f"the processor wrote {count} image tokens, where its grids have"
            f" {len(tokens_of(grids)) + len(labels)}"
        )
    return grids, labels


Rule = Callable[
    [Mapping[int, list[int]], Mapping[str, Any], Any, Sequence[Part]],
    tuple[Grids, dict[int, str]],
]


def _by_part(
    columns: Mapping[int, list[int]],
    arguments: Mapping[str, Any],
    config: Any,
    parts: Sequence[Part],
    before: int = 0,
    overlapping: bool = False,
) -> tuple[Grids, dict[int, str]]:
    """As many tokens for each part, row by row, after some of the whole part."""
    shown_parts = [part for part in parts if part.real]
    columns_here = columns[IMAGE_TYPE]
    if not shown_parts or len(columns_here) % len(shown_parts):
        raise NoGridError(
            f"{len(columns_here)} image tokens for {len(shown_parts)} pictures or tiles"
        )
    each = len(columns_here) // len(shown_parts)
    patch = 1 if overlapping else patch_sides(vision_part(config))[0] or 1
    grids, labels = [], {}
    for index, part in enumerate(shown_parts):
        mine = columns_here[index * each : (index + 1) * each]
        (rows, cols), side = _cells(part, each - before, patch)
        first = centred(side) if overlapping else 0.0
        box = cells_box((rows, cols), (side, side), (part.rows, part.cols), first)
        labels |= dict.fromkeys(mine[:before], "mean of the patches")
        places = torch.tensor(mine[before:]).view(rows, cols)
        grids.append(PictureGrid(part.picture, places, box.inside(part.box), part.name))
    return tuple(grids), labels


def _after_mean(*given: Any) -> tuple[Grids, dict[int, str]]:
    """Florence-2: the mean of the patches comes first, and its convolutions overlap."""
    return _by_part(*given, before=1, overlapping=True)


def _cells(part: Part, count: int, patch: int) -> tuple[Sizes, int]:
    """Rows and columns of square cells that are so many, and the pixels of a side of one."""
    patches = (part.rows // patch) * (part.cols // patch)
    side = patch * isqrt(patches // count) if count else 0
    rows, cols = (part.rows // side, part.cols // side) if side else (0, 0)
    if not count or rows * cols != count:
        raise NoGridError(f"{count} image tokens for {part.rows} × {part.cols} pixels")
    return (rows, cols), side


def _unpadded(
    columns: Mapping[int, list[int]],
    arguments: Mapping[str, Any],
    config: Any,
    parts: Sequence[Part],
) -> tuple[Grids, dict[int, str]]:
    """LLaVA-NeXT: the picture at a glance, then its tiles as one grid without their margin, and a
    token at the end of each row."""
    from transformers.models.llava_next.modeling_llava_next import (
        get_anyres_image_grid_shape,
        unpad_image,
    )

    image_columns, first = columns[IMAGE_TYPE], 0
    side, rest = divmod(config.vision_config.image_size, config.vision_config.patch_size)
    if rest:
        raise NoGridError("its patches leave out an edge of each tile, so that tiles do not join")
    grids: list[PictureGrid] = []
    labels: dict[int, str] = {}
    for picture, size in enumerate(arguments["image_sizes"]):
        mine = [part for part in parts if part.picture == picture and part.real]
        high, wide = get_anyres_image_grid_shape(
            size, config.image_grid_pinpoints, config.vision_config.image_size
        )
        if len(mine) != 1 + high * wide:
            raise NoGridError(f"{len(mine)} tiles for a grid of {high} × {wide}")
        cells = row_by_row(high * side, wide * side)
        kept = unpad_image(cells[None], size)[0]
        top, left = divmod(int(kept[0, 0]), wide * side)
        rows, cols = kept.shape
        places = torch.tensor(image_columns[first : first + side**2]).view(side, side)
        grids.append(PictureGrid(picture, places, mine[0].box))
        first += side**2
        lines = torch.tensor(image_columns[first : first + rows * (cols + 1)]).view(rows, cols + 1)
        first += lines.numel()
        labels |= {place: f"end of row {row}" for row, place in enumerate(lines[:, -1].tolist())}
        whole = Box(*mine[1].box[:2], *mine[-1].box[2:])
        box = Box(
            *whole.cell(top, left, high * side, wide * side)[:2],
            *whole.cell(top + rows - 1, left + cols - 1, high * side, wide * side)[2:],
        )
        grids.append(PictureGrid(picture, lines[:, :-1], box, "tiles"))
    return tuple(grids), labels


def _merged(
    columns: Mapping[int, list[int]],
    arguments: Mapping[str, Any],
    config: Any,
    parts: Sequence[Part],
) -> tuple[Grids, dict[int, str]]:
    """Qwen2-VL and what follows it: squares of patches, row by row, frame pair by frame pair.

    Of a video, each of the parts is a frame; the last one can be alone in its pair.
    """
    merge = config.vision_config.spatial_merge_size
    depth = getattr(config.vision_config, "temporal_patch_size", 1)
    grids: list[PictureGrid] = []
    picture = 0
    for kind, name in ((IMAGE_TYPE, "image_grid_thw"), (VIDEO_TYPE, "video_grid_thw")):
        image_columns, first, sizes = columns[kind], 0, arguments.get(name)
        for frames, high, wide in () if sizes is None else sizes.tolist():
            rows, cols = high // merge, wide // merge
            for frame in range(frames):
                places = image_columns[first : first + rows * cols]
                if len(places) < rows * cols:
                    raise NoGridError(f"{len(image_columns)} image tokens for {name}")
                first += rows * cols
                video = kind == VIDEO_TYPE
                seen = range(frame * depth, (frame + 1) * depth)
                if parts:
                    seen = seen[: max(1, len(parts) - seen.start)]
                grids.append(
                    PictureGrid(
                        picture,
                        torch.tensor(places).view(rows, cols),
                        name=frame_name(seen) if video else "",
                        frames=tuple(seen) if video else (),
                    )
                )
            picture += 1
    return tuple(grids), {}


def _none(*given: Any) -> tuple[Grids, dict[int, str]]:
    """Mllama: one token of the text stands for a picture, whose patches are keys of others."""
    return (), dict.fromkeys(given[0][IMAGE_TYPE], "<picture>")


RULES: dict[str, Rule] = {
    **dict.fromkeys(("llava", "paligemma", "gemma3", "idefics3", "smolvlm", "internvl"), _by_part),
    **dict.fromkeys(("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe"), _merged),
    "llava_next": _unpadded,
    "florence2": _after_mean,
    "mllama": _none,
}
NO_PLACES = dict.fromkeys(
    ("blip-2", "instructblip"),
    "its image tokens are learned queries, each of which reads the whole picture",
)


# --- labels and axes ----------------------------------------------------------------------------


def relabelled(
    tokens: Tokens, positions: Sequence[int], grids: Grids, labels: Mapping[int, str]
) -> tuple[Tokens, Grids]:
    """The tokens of a text with the places of its image tokens as labels.

    Args:
        tokens: of an item.
        positions: of them in the padded text.
        grids: of positions in the padded text.
        labels: of positions in no grid.

    Returns:
        The tokens; the grids, of places among them.
    """
    place = {position: index for index, position in enumerate(positions)}
    names = {place[position]: label for position, label in labels.items()}
    several = len({grid.picture for grid in grids}) > 1
    regridded = []
    for grid in grids:
        places = [place[each] for each in grid.places.flatten().tolist()]
        regridded.append(replace(grid, places=torch.tensor(places).view(grid.places.shape)))
        front = f"picture {grid.picture + 1}, " if several else ""
        front += f"{grid.name}, " if grid.name else ""
        cells = ((row, col) for row in range(grid.rows) for col in range(grid.cols))
        names |= {
            each: f"{front}patch {row},{col}"
            for each, (row, col) in zip(places, cells, strict=True)
        }
    names_now = tuple(names.get(index, label) for index, label in enumerate(tokens.labels))
    special = tuple(False if index in names else each for index, each in enumerate(tokens.special))
    return replace(tokens, labels=names_now, special=special), tuple(regridded)


def with_grids(
    text: InputSequence, arguments: Mapping[str, Any], config: Any, parts: Sequence[Part]
) -> InputSequence:
    """The text, with the grids of its image tokens.

    Raises:
        NoGridError: where they are not certain.
    """
    tokens, grids = [], []
    for item, each in enumerate(text.tokens):
        positions = range(len(each)) if text.positions is None else text.positions[item].tolist()
        spans, labels = placed(arguments, config, item, parts)
        relabelled_tokens, token_grids = relabelled(each, list(positions), spans, labels)
        tokens.append(relabelled_tokens)
        grids.append(token_grids)
    return replace(text, tokens=tuple(tokens), pictures=tuple(grids))


def without_grids(text: InputSequence, arguments: Mapping[str, Any], config: Any) -> InputSequence:
    """The text, with its image tokens numbered: they have no places on a picture."""
    tokens, image_tokens = [], []
    for item, each in enumerate(text.tokens):
        positions = range(len(each)) if text.positions is None else text.positions[item].tolist()
        columns = sorted(chain.from_iterable(image_columns(arguments, config, item).values()))
        labels = {column: f"image token {index}" for index, column in enumerate(columns)}
        tokens.append(relabelled(each, list(positions), (), labels)[0])
        numbered = {*columns}
        image_tokens.append(tuple(i for i, at in enumerate(positions) if at in numbered))
    return replace(text, tokens=tuple(tokens), image_tokens=tuple(image_tokens))


ONE_PART = ("llava", "paligemma", "gemma3", "florence2")  # the tower sees each picture at once


def has_image_tokens(arguments: Mapping[str, Any], config: Any) -> bool:
    """Whether the text of some arguments has image tokens."""
    items = range(len(arguments["input_ids"]))
    return any(any(image_columns(arguments, config, item).values()) for item in items)


def whole_pictures(pixels: Tensor, config: Any) -> tuple[Part, ...]:
    """The parts of pictures that came as pixels: whole ones, where the family cuts none."""
    if config.model_type not in ONE_PART or pixels.ndim != 4:
        if config.model_type in RULES and RULES[config.model_type] is not _merged:
            raise NoGridError("how its tiles were cut is told by a prompt with pictures alone")
        return ()
    rows, cols = pixels.shape[-2:]
    return tuple(Part(picture, Box(), rows, cols) for picture in range(len(pixels)))
