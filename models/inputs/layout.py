"""The layout of an axis of image or sound tokens: their kind and order.

Labels, grids, hidden states and pictures all read this one value. Patches lie row by row (those of
a video frame by frame), between special tokens at either end. Attention layers that hold them in
windows are brought into this order when their call is recorded (models/pretrained/windows.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from jaxtyping import Float, Int
from torch import Tensor

from models.picture_grid import WHOLE, Box, cells_box
from models.text import Tokens
from models.trace import PatchGrid

MOST_SPECIAL = 64  # tokens beside the patches, detections apart: class, registers
CLASS_LAST = ("llama4_vision_model",)  # model types whose class token follows the patches


@dataclass(frozen=True, eq=False)
class Layout:
    """The kind and order of the tokens of an axis.

    Attributes:
        rows: of patches; of a spectrogram, bands of frequency.
        cols: of patches; of a spectrogram, frames.
        kind: "patch" of an image or video, "band" of a spectrogram.
        frames: of a video: the first frame of each tube of patches; () for an image.
        before: names of the special tokens in front of the patches.
        behind: names of the special tokens after them.
        chosen: by item, which patches the axis holds, in its order; None for all, row by row.
        tiles: number of images that an item consists of, each with an axis of its own.
        box: the area of the picture that the patches cover.
    """

    rows: int
    cols: int
    kind: Literal["patch", "band"] = "patch"
    frames: tuple[int, ...] = ()
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    chosen: Int[Tensor, "item place"] | None = None
    tiles: int = 1
    box: Box = WHOLE

    @property
    def patches(self) -> int:
        """Number of patches on the axis."""
        if self.chosen is not None:
            return self.chosen.shape[1]
        return self.rows * self.cols * max(1, len(self.frames))

    @property
    def length(self) -> int:
        return len(self.before) + self.patches + len(self.behind)

    @property
    def grid(self) -> PatchGrid | None:
        """The grid of the patches.

        None for a spectrogram, where patches are masked or reordered, and for a tile of a picture.
        """
        if self.kind != "patch" or self.chosen is not None or self.tiles > 1:
            return None
        frames = max(1, len(self.frames))
        return PatchGrid(self.rows, self.cols, len(self.before), frames, self.box)

    def tokens(self, items: int) -> tuple[Tokens, ...]:
        """The tokens of each item."""
        labels = self._labels
        if self.chosen is None:
            return (self._tokens(labels),) * items
        each = items // len(self.chosen)
        return tuple(
            self._tokens([labels[place] for place in order])
            for order in self.chosen.tolist()
            for _ in range(each)
        )

    def fits(self, items: int, batch: int) -> bool:
        """Whether an axis of a batch of this size is of these items."""
        if self.tiles > 1:
            return items < batch <= items * self.tiles
        return batch % items == 0

    def with_special(self, length: int, config: Any) -> "Layout | None":
        """The layout of an axis of this length, whose further tokens are special ones.

        None if it has too few tokens for the patches, or too many.
        """
        layout = self
        if self.chosen is not None and length >= self.rows * self.cols > self.patches:
            layout = replace(self, chosen=None)  # a decoder that fills the hidden patches in
        extra = length - layout.patches
        detections = getattr(vision_part(config), "num_detection_tokens", 0)
        if not 0 <= extra <= MOST_SPECIAL + detections:
            return None
        before, behind = special_tokens(config, extra)
        return replace(layout, before=before, behind=behind)

    @property
    def _labels(self) -> list[str]:
        places = list(product(range(self.rows), range(self.cols)))
        if self.kind == "band":
            return [f"band {row}, frame {col}" for row, col in places]
        if not self.frames:
            return [f"patch {row},{col}" for row, col in places]
        return [f"frame {at + 1}, patch {row},{col}" for at in self.frames for row, col in places]

    def _tokens(self, labels: Sequence[str]) -> Tokens:
        special = (True,) * len(self.before), (False,) * len(labels), (True,) * len(self.behind)
        count = sum(map(len, special))
        names = (*self.before, *labels, *self.behind)
        return Tokens(tuple(range(count)), names, sum(special, ()), (0,) * count, (None,) * count)


def special_tokens(config: Any, extra: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the tokens before and after the patches.

    Args:
        config: of the vision tower.
        extra: how many there are.
    """
    part = vision_part(config)
    leading = ("[CLS]",) if getattr(part, "model_type", None) in CLASS_LAST else ()
    last = min(extra, len(leading) + getattr(part, "num_detection_tokens", 0))
    behind = (*leading, *(f"[DET] {index + 1}" for index in range(last - len(leading))))[:last]
    registers = min(extra - last, getattr(part, "num_register_tokens", 0) or 0)
    first = extra - last - registers
    names = ("[CLS]", "[DIST]")[:first] if first <= 2 else tuple(f"extra {i}" for i in range(first))
    return names + tuple(f"register {index + 1}" for index in range(registers)), behind


def vision_part(config: Any) -> Any:
    """The config of the vision tower, where that is a part."""
    part = getattr(config, "vision_config", None) or config
    inner = getattr(config, "encoder", None)  # of a vision encoder–decoder
    missing = getattr(part, "patch_size", None) is None
    return inner if missing and hasattr(inner, "patch_size") else part


def image_layout(pixels: Tensor, config: Any) -> Layout | None:
    """The patches of an image, a video or several images an item; None without a patch size.

    Args:
        pixels: `batch channel row col`, or `batch frame channel row col`.
        config: of the model, or of its vision tower.
    """
    part = vision_part(config)
    high, wide = patch_sides(part)
    if pixels.ndim not in (4, 5) or not high or not wide:
        return None
    size = pixels.shape[-2], pixels.shape[-1]
    rows, cols = size[0] // high, size[1] // wide
    layout = Layout(rows, cols, box=cells_box((rows, cols), (high, wide), size))
    if pixels.ndim == 4:
        return layout
    depth = getattr(part, "tubelet_size", None)
    if depth is None:
        return replace(layout, tiles=pixels.shape[1])
    if not isinstance(depth, int) or depth < 1:
        return None
    return replace(layout, frames=tuple(range(0, pixels.shape[1] - depth + 1, depth)))


def patch_sides(part: Any) -> tuple[int, int]:
    """Rows and columns of pixels of a patch, as the config of a vision tower states them; 0 where
    it states none."""
    patch = getattr(part, "patch_size", None)
    high, wide = (patch, patch) if isinstance(patch, int) else tuple(patch or (0, 0))[-2:]
    return high, wide


def unread_note(box: Box, size: tuple[int, int]) -> str:
    """A note on the pixels that patches leave out; "" where they cover the picture.

    Args:
        box: the area that they cover.
        size: rows and columns of the picture.
    """
    down, across = box.pixels(*size)
    rows, cols = down.stop - down.start, across.stop - across.start
    where = ["right"] * (cols < size[1]) + ["bottom"] * (rows < size[0])
    if not where:
        return ""
    return (
        f"{cols} × {rows} of {size[1]} × {size[0]} pixels are read:"
        f" whole patches leave out the rest at the {' and '.join(where)}"
    )


def spectrogram_layout(values: Tensor, config: Any) -> Layout | None:
    """The patches of a spectrogram, band by band; None for a model that reads frames.

    Source: Gong et al. 2021 (AST), section 2.1: patches overlap, each band lies along time.

    Args:
        values: `batch frame bin`.
        config: of the model.
    """
    if values.ndim != 3 or not hasattr(config, "frequency_stride"):
        return None
    _, frames, bins = values.shape
    rows = (bins - config.patch_size) // config.frequency_stride + 1
    cols = (frames - config.patch_size) // config.time_stride + 1
    return Layout(rows, cols, "band", before=("[CLS]", "[DIST]"))


def unmasked(layout: Layout, noise: Float[Tensor, "batch patch"], share: float) -> Layout:
    """The layout of the patches that masking keeps: those of the least noise, in that order.

    Source: He et al. 2022 (MAE), section 3, "Simple implementation".

    Args:
        layout: of all patches.
        noise: that they are sorted by.
        share: of the patches that are hidden.
    """
    order = noise.argsort(dim=1).cpu()[:, : int(layout.patches * (1 - share))]
    if order.shape[1] == layout.patches and (order.diff() == 1).all():
        return layout
    return replace(layout, chosen=order)
