"""Whether a word of an answer needs an area of a picture: the model reads again without the area.

The difference between "attended" and "needed": beside the word's probability with the area in the
mean colour of the picture stands that with areas of the same size, at places drawn by a seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from analysis.grounding import answer, rows_of
from models.inputs.pictures import opened
from models.inputs.prompt import Prompt
from models.inputs.video import Video, read_video
from models.picture_grid import Box, PictureGrid
from models.run import Model, as_model, trace
from models.trace import Site, Trace

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

DRAWS = 100  # of places, to find some that do not overlap
SHARED = 0.5  # of an area, at most, with one that it is compared with


@dataclass(frozen=True)
class Need:
    """The probability of a word, with and without an area of a picture.

    Attributes:
        before: with the picture as it is.
        after: with the area masked.
        elsewhere: with areas of the same size masked, one for each place; () where the area leaves
            no room for others.
        places: where those are.
    """

    before: float
    after: float
    elsewhere: tuple[float, ...]
    places: tuple[Box, ...]


def need(
    model: Model | Any,
    prompt: Prompt,
    written: Int[Tensor, " token"],
    places: Sequence[int],
    area: Box,
    *,
    picture: int = 0,
    frames: Sequence[int] = (),
    controls: int = 5,
    seed: int = 0,
) -> Need:
    """Whether a word needs an area of a picture.

    Args:
        model: from `load`.
        prompt: with pictures, or a video, which counts as one picture.
        written: ids of the answer, which every pass reads.
        places: tokens of the word, counted within the answer.
        area: of the picture.
        picture: which one.
        frames: of a video, those whose area is masked; () for all.
        controls: number of areas elsewhere, at most.
        seed: of their places.

    Raises:
        ValueError: for an area outside the picture.
    """
    if not (0 <= area.left < area.right <= 1 and 0 <= area.top < area.bottom <= 1):
        raise ValueError(f"area: expected shares of the picture from 0 to 1, received {area}")
    count = len(prompt.images) if prompt.video is None else 1
    if not 0 <= picture < count:
        raise ValueError(f"picture: expected 0 to {count - 1}, received {picture}")
    model = as_model(model)
    target, others = read_whole(model, written), elsewhere(area, controls, seed)

    def seen(asked: Prompt) -> float:
        return probability(trace(model, asked, target), places)

    without = [seen(masked(prompt, picture, where, frames)) for where in (area, *others)]
    return Need(seen(prompt), without[0], tuple(without[1:]), others)


def read_whole(model: Model, written: Int[Tensor, " token"]) -> Int[Tensor, "1 _"]:
    """The target of passes that read a whole answer.

    The decoder of an encoder–decoder reads all but the last token of its target.
    """
    last = (
        written[-1:] if getattr(model.network.config, "is_encoder_decoder", False) else written[:0]
    )
    return torch.cat([written, last])[None]


def probability(t: Trace, places: Sequence[int]) -> float:
    """The probability of some tokens of the answer, each after those before it: their product."""
    tokens, _ = answer(t)
    total = 0.0
    for place, row in zip(places, rows_of(t, places), strict=True):
        total += float(t.output.row(row).float().log_softmax(-1)[tokens.ids[place]])
    return exp(total)


def masked(prompt: Prompt, picture: int, area: Box, frames: Sequence[int] = ()) -> Prompt:
    """The prompt with an area of a picture, or of some frames, in its mean colour."""
    if prompt.video is not None:
        read = read_video(prompt.video)
        chosen = frames or range(len(read.frames))
        seen = [
            painted(image, area) if number in chosen else image
            for number, image in enumerate(read.frames)
        ]
        return replace(prompt, video=Video(seen, read.fps))
    images = [opened(each).image.convert("RGB") for each in prompt.images]
    images[picture] = painted(images[picture], area)
    return replace(prompt, images=tuple(images))


def painted(image: "Picture", area: Box) -> "Picture":
    """The picture with an area in its mean colour."""
    from PIL import ImageStat

    (wide, high), result = image.size, image.copy()
    left, top = min(round(area.left * wide), wide - 1), min(round(area.top * high), high - 1)
    right, bottom = round(area.right * wide), round(area.bottom * high)
    mean = tuple(round(each) for each in ImageStat.Stat(image).mean)
    result.paste(mean, (left, top, max(left + 1, right), max(top + 1, bottom)))
    return result


def grids_of(t: Trace, site: Site, picture: int, frames: Sequence[int] = ()) -> list[PictureGrid]:
    """The grids of a site's keys on a picture; of a video, those that some of the frames share."""
    return [
        grid
        for grid in t.key_pictures(site)
        if grid.picture == picture and (not frames or {*frames} & {*grid.frames})
    ]


def elsewhere(area: Box, count: int, seed: int) -> tuple[Box, ...]:
    """Areas of the same size at drawn places: of many draws those that overlap the least.

    () where each of them shares more than half of the area.
    """
    dice = np.random.default_rng(seed)
    wide, high = area.right - area.left, area.bottom - area.top
    corners = dice.random((DRAWS * max(1, count), 2)) * (1 - wide, 1 - high)
    boxes = [Box(left, top, left + wide, top + high) for left, top in corners.tolist()]
    apart = [box for box in boxes if _overlap(area, box) <= SHARED * wide * high]
    return tuple(sorted(apart, key=lambda box: _overlap(area, box))[:count])


def _overlap(one: Box, other: Box) -> float:
    across = min(one.right, other.right) - max(one.left, other.left)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    return max(0.0, across) * max(0.0, down)


def ids_of(t: Trace) -> Int[Tensor, " token"]:
    """The ids of the answer, as `need` reads them."""
    return torch.tensor(answer(t)[0].ids, dtype=torch.long)
