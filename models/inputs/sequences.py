"""Input sequences of a model: text, image patches, audio frames, or decoder targets."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Int
from torch import Tensor

from models.text import Tokenizer, Tokens, tokens_of_ids
from models.trace import PatchGrid, TokenAxis

Name = Literal["text", "image", "sound", "target"]
MOST_PREFIX = 64  # tokens beside the patches: class, registers, detections


@dataclass(frozen=True)
class Duration:
    """The length of a recording as the model reads it, padding included.

    Attributes:
        seconds: the length.
        stride: seconds from one frame to the next, if the model states it.
    """

    seconds: float
    stride: float | None = None

    def labels(self, frames: int) -> list[str]:
        """When each frame begins, such as "0.02 s"."""
        step = self.seconds / frames
        if self.stride is not None and round(self.seconds / self.stride) - frames in (0, 1, 2):
            step = self.stride  # convolutions without padding leave out the last frames
        digits = 2 if step >= 0.01 else 3
        return [f"{index * step:.{digits}f} s" for index in range(frames)]


@dataclass(frozen=True, eq=False)
class InputSequence:
    """One input sequence.

    Attributes:
        name: which.
        tokens: one entry per item.
        length: padded length.
        positions: positions of each item's tokens; None means the first ones.
        grid: rows and columns of patches, of an image or of each frame.
        prefix: number of tokens before the patches.
        frames: of a video, or tubes of frames.
        duration: of sound, if it is known.
    """

    name: Name
    tokens: tuple[Tokens, ...]
    length: int
    positions: tuple[Int[Tensor, "_"], ...] | None = None
    grid: tuple[int, int] | None = None
    prefix: int = 0
    frames: int = 1
    duration: Duration | None = None

    @property
    def patches(self) -> PatchGrid | None:
        return None if self.grid is None else PatchGrid(*self.grid, self.prefix, self.frames)

    @property
    def axis(self) -> TokenAxis:
        return TokenAxis(self.tokens, self.positions, self.patches)


InputSequences = Mapping[str, InputSequence]


def text_sequence(
    name: Name,
    ids: Int[Tensor, "batch token"],
    shown: Tensor | None,
    tokens: Sequence[Tokens] = (),
    tokenizer: Tokenizer | None = None,
) -> InputSequence:
    """A text sequence.

    Args:
        name: which.
        ids: padding included.
        shown: 0 at padding; None without any.
        tokens: one entry per item; () reads them from the ids.
        tokenizer: decodes ids; None labels them with their numbers.
    """
    real = torch.ones_like(ids, dtype=torch.bool) if shown is None else shown.bool()
    real = real.cpu()
    own = tuple(row.nonzero().flatten() for row in real)
    if not tokens:
        pairs = zip(ids.cpu(), own, strict=True)
        tokens = [tokens_of_ids(row[places].tolist(), tokenizer) for row, places in pairs]
    return InputSequence(name, tuple(tokens), ids.shape[1], None if real.all() else own)


def image_sequence(pixels: Tensor, config: Any, length: int | None = None) -> InputSequence | None:
    """The patches of an image row by row, after their prefix; None without a patch size.

    The patches of a video follow frame by frame, or tube by tube.

    Args:
        pixels: `batch channel row col`, or `batch frame channel row col`.
        config: of the model, or of its vision tower.
        length: length of the attention axis; None means the patches alone.
    """
    part = getattr(config, "vision_config", None) or config
    inner = getattr(config, "encoder", None)
    if getattr(part, "patch_size", None) is None and hasattr(inner, "patch_size"):
        part = inner  # of a vision encoder–decoder
    patch = getattr(part, "patch_size", None)
    high, wide = (patch, patch) if isinstance(patch, int) else tuple(patch or (0, 0))[:2]
    if pixels.ndim not in (4, 5) or not high or not wide:
        return None
    rows, cols = pixels.shape[-2] // high, pixels.shape[-1] // wide
    if pixels.ndim == 5:
        return _video_sequence(pixels, getattr(part, "tubelet_size", None), rows, cols)
    extra = 0 if length is None else length - rows * cols
    if not 0 <= extra <= MOST_PREFIX:
        return None
    tokens = patch_tokens(part, extra, rows, cols)
    behind = getattr(part, "num_detection_tokens", 0)
    grid, prefix = (rows, cols), extra - behind
    return InputSequence("image", (tokens,) * len(pixels), len(tokens), None, grid, prefix)


def _video_sequence(pixels: Tensor, depth: Any, rows: int, cols: int) -> InputSequence | None:
    """The patches of a video whose tokens cover `depth` frames each."""
    if not isinstance(depth, int) or depth < 1:
        return None
    frames = range(0, pixels.shape[1], depth)
    places = itertools.product(frames, range(rows), range(cols))
    labels = [f"frame {frame}, patch {row},{col}" for frame, row, col in places]
    tokens, grid = named_tokens(labels, special=False), (rows, cols)
    return InputSequence(
        "image", (tokens,) * len(pixels), len(tokens), None, grid, frames=len(frames)
    )


def patch_tokens(config: Any, extra: int, rows: int, cols: int) -> Tokens:
    """Labels of the patches and of the tokens before and after them."""
    behind = min(extra, getattr(config, "num_detection_tokens", 0))
    registers = min(extra - behind, getattr(config, "num_register_tokens", 0) or 0)
    first = extra - behind - registers
    names = ["[CLS]", "[DIST]"][:first] if first <= 2 else [f"extra {i}" for i in range(first)]
    names += [f"register {index + 1}" for index in range(registers)]
    patches = Tokens.of_patches(names, rows, cols)
    if not behind:
        return patches
    return patches + named_tokens([f"[DET] {index + 1}" for index in range(behind)])


def named_tokens(labels: Sequence[str], *, special: bool = True) -> Tokens:
    count = len(labels)
    ids = tuple(range(count))
    return Tokens(ids, tuple(labels), (special,) * count, (0,) * count, (None,) * count)
