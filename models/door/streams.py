"""What the rows and columns of a library's attention stand for.

A model reads one or more streams: a text, an image, a recording, what a decoder writes. An axis of
an attention matrix is matched to a stream by the tower it is in and by its length; an axis that is
none of them (frames after convolutions, learned queries) is numbered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Int
from torch import Tensor

from models.pretrained import Call
from models.text import Tokens
from models.trace import Side

Name = Literal["text", "image", "sound", "target"]
SEEING, HEARING = ("visi", "visual", "image", "pixel"), ("audio", "speech", "sound")
MOST_PREFIX = 64  # tokens beside the patches: class, registers, detections


@dataclass(frozen=True, eq=False)
class Stream:
    """One thing a model reads.

    Attributes:
        name: which.
        tokens: one entry per item.
        length: how many positions the batch has.
        own: where each item's tokens stand; None means at the beginning.
        grid: rows and columns of an image's patches.
        prefix: how many tokens stand beside the patches, in front.
    """

    name: Name
    tokens: tuple[Tokens, ...]
    length: int
    own: tuple[Int[Tensor, "_"], ...] | None = None
    grid: tuple[int, int] | None = None
    prefix: int = 0

    @property
    def side(self) -> Side:
        return Side(self.tokens, self.own)


Streams = Mapping[str, Stream]


def text_stream(
    name: Name, ids: Int[Tensor, "batch token"], shown: Tensor | None, tokens: Sequence[Tokens] = ()
) -> Stream:
    """Ids, labelled with themselves unless their tokens are known; `shown` is 0 at padding."""
    real = torch.ones_like(ids, dtype=torch.bool) if shown is None else shown.bool()
    real = real.cpu()
    own = tuple(row.nonzero().flatten() for row in real)
    if not tokens:
        pairs = zip(ids.cpu(), own, strict=True)
        tokens = [Tokens.of_ids(row[places].tolist()) for row, places in pairs]
    return Stream(name, tuple(tokens), ids.shape[1], None if real.all() else own)


def image_stream(pixels: Tensor, config: Any, length: int | None = None) -> Stream | None:
    """Patches row by row, with what stands in front of them; None if their size is not known.

    Args:
        pixels: `batch channel row col`.
        config: of the model, or of its part that sees.
        length: how many positions attention had; None means the patches alone.
    """
    part = getattr(config, "vision_config", None) or config
    patch = getattr(part, "patch_size", None)
    high, wide = (patch, patch) if isinstance(patch, int) else tuple(patch or (0, 0))[:2]
    if pixels.ndim != 4 or not high or not wide:
        return None
    rows, cols = pixels.shape[-2] // high, pixels.shape[-1] // wide
    extra = 0 if length is None else length - rows * cols
    if not 0 <= extra <= MOST_PREFIX:
        return None
    tokens = _patches(part, extra, rows, cols)
    behind = getattr(part, "num_detection_tokens", 0)
    grid, prefix = (rows, cols), extra - behind
    return Stream("image", (tokens,) * len(pixels), len(tokens), None, grid, prefix)


def _patches(config: Any, extra: int, rows: int, cols: int) -> Tokens:
    """Patches with the tokens beside them by name."""
    behind = min(extra, getattr(config, "num_detection_tokens", 0))
    registers = min(extra - behind, getattr(config, "num_register_tokens", 0) or 0)
    first = extra - behind - registers
    names = ["[CLS]", "[DIST]"][:first] if first <= 2 else [f"extra {i}" for i in range(first)]
    names += [f"register {index + 1}" for index in range(registers)]
    patches = Tokens.of_patches(names, rows, cols)
    if not behind:
        return patches
    return patches + _named([f"[DET] {index + 1}" for index in range(behind)])


def _named(labels: Sequence[str], *, special: bool = True) -> Tokens:
    count = len(labels)
    ids = tuple(range(count))
    return Tokens(ids, tuple(labels), (special,) * count, (0,) * count, (None,) * count)


def sides_of(call: Call, streams: Streams, config: Any) -> tuple[Side, Side]:
    """What rows and columns of a call stand for."""
    pattern = call.pattern
    if call.blocks is not None and call.blocks.grid is not None:
        patches = Tokens.of_patches((), *call.blocks.grid)
        outside = _named([f"outside {row},{col}" for row, col in call.blocks.outside])
        queries = Side((patches,) * pattern.batch)
        return queries, Side(((patches + outside) if outside.ids else patches,) * pattern.batch)
    tower = (call.place.tower or "").lower()
    rows = side_of(streams, tower, pattern.queries, pattern.batch, config)
    if call.kind != "cross":
        return rows, rows
    others = {name: stream for name, stream in streams.items() if name != "target"}
    return rows, side_of(others, "", pattern.keys, pattern.batch, config)


def side_of(streams: Streams, tower: str, length: int, batch: int, config: Any) -> Side:
    """The stream an axis of this length most likely is."""
    order = ["text", "image", "sound", "target"]
    if "decoder" in tower and "target" in streams:
        order.insert(0, "target")
    elif any(part in tower for part in SEEING):
        order.insert(0, "image")
    elif any(part in tower for part in HEARING):
        order.insert(0, "sound")
    for name in dict.fromkeys(order):
        stream = streams.get(name)
        if stream is None or len(stream.tokens) != batch:
            continue
        if stream.length == length:
            return stream.side
        if name == "image" and stream.grid is not None:
            extra = length - stream.grid[0] * stream.grid[1]
            part = getattr(config, "vision_config", None) or config
            if 0 <= extra <= MOST_PREFIX:
                return Side((_patches(part, extra, *stream.grid),) * batch)
    what = "frame" if "sound" in streams else "position"
    numbered = _named([f"{what} {index}" for index in range(length)], special=False)
    return Side((numbered,) * batch)
