"""Pictures as a model reads them: by its own processor, else by Pillow to a size; and edited."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image as Pillow
from torch import Tensor

from models.attention.edit_protocols import PixelsEdit
from models.image import Picture, fit_image, open_image, to_pixels
from models.inputs.processor import called, image_processor, notes_of, scaled_sizes, seen_image
from models.inputs.sequences import ModelInputs
from models.picture_grid import Box
from models.preprocessing import HALF, Preprocessing, default_preprocessing

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.model import Model

MIDDLE = 127.5  # of the levels 0 to 255
COLOURS = 3


@dataclass(frozen=True, eq=False)
class Processed:
    """Pictures as a model reads them.

    Attributes:
        arguments: by name; `pixel_values`, and what else the processor returns.
        image: the first picture as the model sees it: resized and cropped, in 8 bits; None
            where it is cut into parts.
        notes: what was done to the pictures, for display.
    """

    arguments: dict[str, Tensor]
    image: "Image | None"
    notes: tuple[str, ...]

    @property
    def pixels(self) -> Tensor:
        """The pixel values."""
        return self.arguments["pixel_values"]


def processed(preprocessing: Preprocessing, source: Any) -> Processed:
    """Prepares a picture, or a list of pictures.

    Args:
        preprocessing: of the model.
        source: a path, the bytes of a file, a Pillow image, a `Picture`, or a list of these.

    Raises:
        ValueError: for a picture that cannot be read, or that the model's processor refuses.
    """
    pictures = [*map(opened, source if isinstance(source, list | tuple) else [source])]
    by = _by_pillow if preprocessing.processor is None else _by_processor
    arguments, image, done = by(preprocessing, pictures)
    opening = [note for picture in pictures for note in picture.notes]
    notes = dict.fromkeys((*opening, *done, *preprocessing.notes))
    return Processed(arguments, image, tuple(notes))


def pixels_of(model: "Model", source: Any) -> Tensor:
    """The pixels `batch channel row col` that a model reads of a picture; pixels as they are, and
    those of the model's own inputs."""
    if isinstance(source, Mapping):
        source = source["pixel_values"]
    if isinstance(source, Tensor):
        return source
    preprocessing = model.preprocessing or default_preprocessing(model.network.config)
    return processed(preprocessing, source).pixels


def cropped(image: "Image", box: Box) -> "Image":
    """The area of a prepared picture that is read."""
    down, across = box.pixels(image.height, image.width)
    return image.crop((across.start, down.start, across.stop, down.stop))


def as_read(preprocessing: Preprocessing | None, source: Any, box: Box) -> "Image":
    """The area of a picture that a network reads, prepared unless it has been already."""
    picture = opened(source)
    if preprocessing is None or picture.image.size[::-1] == preprocessing.size:
        return cropped(picture.image, box)
    return cropped(processed(preprocessing, picture).image or picture.image, box)


def with_channels(model: "Model", pixels: Tensor) -> Tensor:
    """Pixels of colours, with the channels of a model.

    One channel is the mean of the colours; an untrained network reads 0 in those above three.

    Raises:
        ValueError: for a trained network with more channels, and for two.
    """
    config = model.network.config
    config = getattr(config, "vision_config", None) or config
    count = getattr(config, "num_channels", getattr(config, "channels", COLOURS))
    if pixels.ndim != 4 or count == pixels.shape[1]:
        return pixels
    if count == 1:
        return pixels.mean(1, keepdim=True)
    if model.trained or count < pixels.shape[1]:
        raise ValueError(f"{model.name} takes {count} channels: pass pixels in a notebook")
    return torch.nn.functional.pad(pixels, (0, 0, 0, 0, 0, count - pixels.shape[1]))


def grey_of(model: "Model", pixels: Tensor) -> Tensor:
    """A grey pixel as the model reads it, `channel 1 1`.

    The mean colour that its preprocessing subtracts, which becomes 0; where it subtracts none, the
    middle of the levels.
    """
    settings = {} if model.preprocessing is None else model.preprocessing.settings
    normalises = settings.get("do_normalize") is not False
    if normalises and any(settings.get("image_mean", HALF)):
        return pixels.new_zeros(pixels.shape[1], 1, 1)
    rescales = settings.get("do_rescale") is not False
    level = MIDDLE * (settings.get("rescale_factor", 1 / 255) if rescales else 1.0)
    std = settings.get("image_std", HALF) if normalises else (1.0, 1.0, 1.0)
    return (level / torch.tensor(std))[: pixels.shape[1], None, None].to(pixels)


def opened(source: Any) -> Picture:
    """A picture from a path, the bytes of a file, or a Pillow image.

    Raises:
        ValueError: for a file that is no picture.
    """
    if isinstance(source, Picture):
        return source
    return open_image(Path(source) if isinstance(source, str) else source)


Result = tuple[dict[str, Tensor], "Image | None", Sequence[str]]


def _by_processor(preprocessing: Preprocessing, pictures: Sequence[Picture]) -> Result:
    """By the model's own processor."""
    stated = preprocessing.processor
    processor = None if stated is None else image_processor(stated)
    if processor is None:
        raise ValueError("the model's image processor does not run here: pass pixel values")
    images = [picture.image for picture in pictures]
    sizes = {} if preprocessing.scale == 1 else scaled_sizes(processor, preprocessing.scale)
    arguments = called(processor, images, **sizes)
    if "pixel_values" not in arguments:
        raise ValueError(f"{type(processor).__name__} returns no pixel values")
    seen = [seen_image(processor, image, **sizes) for image in images]
    pairs = zip(images, seen, strict=True)
    return arguments, seen[0], [note for pair in pairs for note in notes_of(processor, *pair)]


def _by_pillow(preprocessing: Preprocessing, pictures: Sequence[Picture]) -> Result:
    """By Pillow, to the size of a network that was made here."""
    rows, cols = preprocessing.size or pictures[0].image.size[::-1]
    fitted = [fit_image(picture, rows, cols) for picture in pictures]
    images, notes = zip(*fitted, strict=True)
    return {"pixel_values": torch.cat([*map(to_pixels, images)])}, images[0], [*filter(None, notes)]


# --- edits ---------------------------------------------------------------------------------------


def edit_pixels(model: "Model", inputs: ModelInputs, edits: Iterable[PixelsEdit]) -> None:
    """Edits the pixels among the arguments of forward, in order.

    Raises:
        ValueError: for an input without a picture whose patches are known.
    """
    name = "pixels" if model.door == "own" else "pixel_values"
    for edit in edits:
        image, pixels = inputs.sequences.get("image"), inputs.arguments.get(name)
        grid = None if image is None else image.grid
        if grid is None or not isinstance(pixels, Tensor) or pixels.ndim != 4:
            raise ValueError(f"{edit}: {model.name} reads no picture here whose patches are known")
        area = (..., *grid.box.pixels(*pixels.shape[-2:]))
        changed = pixels.clone()
        changed[area] = edit.edit_pixels(pixels[area], grid[:2])
        inputs.arguments = {**inputs.arguments, name: changed}


def edited_image(
    image: Pillow.Image, edits: Iterable[object], grid: tuple[int, int]
) -> Pillow.Image:
    """A preprocessed picture, cut into patches, as the network reads it after edits of any kind.

    Means and blurs of colours are those of normalised numbers, which are a scale of them.
    """
    changes = [edit for edit in edits if isinstance(edit, PixelsEdit)]
    if not changes:
        return image
    pixels = torch.from_numpy(np.array(image.convert("RGB"), np.float32)).movedim(-1, 0)[None]
    for edit in changes:
        pixels = edit.edit_pixels(pixels, grid)
    levels = pixels[0].movedim(0, -1).round().clamp(0, 255).to(torch.uint8)
    return Pillow.fromarray(levels.numpy())
