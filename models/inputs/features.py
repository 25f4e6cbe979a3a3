"""Pictures and sound as numbers that a network reads: checked before it runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from models.inputs.layout import vision_part
from models.patches import check_least

if TYPE_CHECKING:
    from models.model import Model

PIXELS, SPECTRUM, SAMPLES = "pixel_values", "input_features", "input_values"
FEATURES = (PIXELS, "pixel_values_videos", SPECTRUM, SAMPLES)
LARGEST = 2.0**32  # of a feature or sample: integers of 32 bits, whose squares fit float32
UNPACKED = ("not enough values to unpack", "too many values to unpack")  # of a shape


class Axes(NamedTuple):
    """Axes of features.

    Attributes:
        names: of the last ones.
        sizes: of each, where the network takes a single one.
        exact: whether there are no further axes, such as tiles of a picture or frames of a video.
        patch: how many numbers a patch has, which some networks read in rows; None for no patches.
        least: rows and columns of the smallest picture that has a patch.
    """

    names: tuple[str, ...]
    sizes: tuple[int | None, ...]
    exact: bool
    patch: int | None = None
    least: tuple[int, ...] = (1, 1)


def check_features(network: Any, arguments: Mapping[str, Any]) -> None:
    """Checks the arguments of a network that are no ids.

    Args:
        network: of transformers.
        arguments: of its forward.

    Raises:
        ValueError: for NaN, for features that are not finite or above `LARGEST`, and for shapes
            that the network certainly does not take; names what was expected and received.
    """
    for name, value in arguments.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            _check_numbers(name, value)
        if name in FEATURES and isinstance(value, Tensor):
            _check_shape(name, value, axes_of(network, name))


def _check_numbers(name: str, value: Tensor) -> None:
    count = int(value.isnan().sum())
    if count:
        raise ValueError(f"{name}: expected numbers, received {count:,} NaN of {value.numel():,}")
    largest = float(value.abs().max()) if name in FEATURES and value.numel() else 0.0
    if largest > LARGEST:
        raise ValueError(
            f"{name}: expected finite numbers of at most {LARGEST:.2g} in size, received"
            f" {largest:.2g}"
        )


def _check_shape(name: str, value: Tensor, axes: Axes | None) -> None:
    if axes is None:
        return
    shape, count = tuple(value.shape), len(axes.names)
    if len(shape) == 2 and shape[1] == axes.patch:
        return
    fits = len(shape) == count if axes.exact else len(shape) >= count
    sizes = zip(reversed(axes.sizes), reversed(shape), strict=False)
    if not fits or any(size not in (None, given) for size, given in sizes):
        pairs = zip(axes.names, axes.sizes, strict=True)
        wanted = " × ".join(axis if size is None else f"{size:,} {axis}" for axis, size in pairs)
        hint = "; add an axis for the batch in front" if len(shape) == count - 1 else ""
        raise ValueError(f"{name}: expected {wanted}, received {shape_text(value)}{hint}")
    if not value.numel():
        raise ValueError(f"{name}: expected at least one number, received {shape_text(value)}")
    check_least(shape[-2:], axes.least)


def axes_of(network: nn.Module, name: str) -> Axes | None:
    """The axes that a network reads features by, told by the convolution that reads them.

    None where there is no such.
    """
    config: Any = network.config
    first = next((m for m in network.modules() if isinstance(m, nn.Conv1d | nn.Conv2d)), None)
    bins = getattr(getattr(config, "audio_config", config), "num_mel_bins", None)
    if name == PIXELS and isinstance(first, nn.Conv2d):
        channels = getattr(vision_part(config), "num_channels", None)
        if first.in_channels == channels:
            names = ("batch", "channels", "rows", "columns")
            patch = first.weight[0].numel()
            least = first.kernel_size if first.padding in ((0, 0), "valid") else (1, 1)
            return Axes(names, (None, channels, None, None), False, patch, least)
    if name == SPECTRUM and config.model_type == "whisper":
        frames = 2 * config.max_source_positions  # the second convolution halves them
        return Axes(("batch", "mel bins", "frames"), (None, bins, frames), True)
    if name == SAMPLES and isinstance(first, nn.Conv2d) and bins is not None:
        return Axes(("batch", "frames", "mel bins"), (None, None, bins), True)
    if name == SAMPLES and isinstance(first, nn.Conv1d) and hasattr(config, "conv_kernel"):
        return Axes(("batch", "samples"), (None, None), True)
    return None


def shape_text(value: Tensor) -> str:
    """A shape, such as "1 × 3 × 224 × 224"."""
    return " × ".join(f"{size:,}" for size in value.shape) or "a single number"


@contextmanager
def refusing_shapes(model: "Model", arguments: Mapping[str, Any]) -> Iterator[None]:
    """Inside, what torch and Python say of shapes that do not fit becomes one line.

    Args:
        model: of transformers.
        arguments: that its network is given.

    Raises:
        ValueError: with the shapes of pictures and sound among them.
    """
    try:
        yield
    except (RuntimeError, ValueError) as error:
        unpacked = type(error) is ValueError and str(error).startswith(UNPACKED)
        if type(error) is not RuntimeError and not unpacked:  # such as out of memory, or stopped
            raise
        what = (str(error).strip().splitlines() or [type(error).__name__])[0]
        given = [
            f"{name} {shape_text(value)}"
            for name, value in arguments.items()
            if name in FEATURES and isinstance(value, torch.Tensor)
        ]
        received = f" (received {', '.join(given)})" if given else ""
        raise ValueError(
            f"{model.name} does not run on this input: {what:.160}{received}"
        ) from error
