"""Pictures and sound as numbers that a network reads: checked before it runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.files.errors import first_line
from models.patches import check_least

if TYPE_CHECKING:
    from models.model import Model

PIXELS, SPECTRUM, SAMPLES = "pixel_values", "input_features", "input_values"
FEATURES = (PIXELS, "pixel_values_videos", SPECTRUM, SAMPLES)
LARGEST = 2.0**32  # of a feature or sample: integers of 32 bits, whose squares fit float32
WHISPER = "whisper"
UNPACKED = ("not enough values to unpack", "too many values to unpack")  # of a shape


def check_features(network: Any, arguments: Mapping[str, Any]) -> None:
    """Checks the arguments of a network that are no ids.

    Args:
        network: of transformers.
        arguments: of its forward.

    Raises:
        ValueError: for NaN, for features that are not finite or above `LARGEST`, and for pictures
            without a patch.
    """
    for name, value in arguments.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            _check_numbers(name, value)
        if name == PIXELS and isinstance(value, Tensor):
            _check_size(network, value)
        if name == SPECTRUM and isinstance(value, Tensor) and network.config.model_type == WHISPER:
            frames = 2 * network.config.max_source_positions  # `generate` would fill them up
            if value.shape[-1] != frames:
                expected = f"expected {frames:,} frames, received {shape_text(value)}"
                raise ValueError(f"{name}: {expected}")


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


def _check_size(network: nn.Module, pixels: Tensor) -> None:
    """Raises ValueError for pictures without a pixel, or smaller than a patch."""
    if not pixels.numel():
        raise ValueError(f"{PIXELS}: expected at least one number, received {shape_text(pixels)}")
    first = next((m for m in network.modules() if isinstance(m, nn.Conv2d)), None)
    patches = first is not None and first.padding in ((0, 0), "valid")
    if first is not None and patches and pixels.ndim >= 4:
        check_least(pixels.shape[-2:], first.kernel_size)


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
        given = [
            f"{name} {shape_text(value)}"
            for name, value in arguments.items()
            if name in FEATURES and isinstance(value, torch.Tensor)
        ]
        received = f" (received {', '.join(given)})" if given else ""
        raise ValueError(
            f"{model.name} does not run on this input: {first_line(error)}{received}"
        ) from error
