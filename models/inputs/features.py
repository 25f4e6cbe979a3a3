"""Pictures and sound as numbers that a network reads: checked before it runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch import Tensor

from models.files.errors import first_line

if TYPE_CHECKING:
    from models.model import Model

PIXELS = "pixel_values"
FEATURES = (PIXELS, "pixel_values_videos", "input_features", "input_values")
LARGEST = 2.0**32  # of a feature or sample: integers of 32 bits, whose squares fit float32
UNPACKED = ("not enough values to unpack", "too many values to unpack")  # of a shape


def check_features(arguments: Mapping[str, Any]) -> None:
    """Checks the arguments of a network that are no ids.

    Raises:
        ValueError: for NaN, and for features that are not finite, above `LARGEST`, or none.
    """
    for name, value in arguments.items():
        if not isinstance(value, Tensor) or not value.is_floating_point():
            continue
        if count := int(value.isnan().sum()):
            received = f"{count:,} NaN of {value.numel():,}"
            raise ValueError(f"{name}: expected numbers, received {received}")
        largest = float(value.abs().max()) if name in FEATURES and value.numel() else 0.0
        if largest > LARGEST:
            expected = f"finite numbers of at most {LARGEST:.2g} in size"
            raise ValueError(f"{name}: expected {expected}, received {largest:.2g}")
        if name == PIXELS and not value.numel():
            raise ValueError(f"{name}: expected at least one number, received {shape_text(value)}")


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
        given = {n: x for n, x in arguments.items() if n in FEATURES and isinstance(x, Tensor)}
        shapes = ", ".join(f"{name} {shape_text(value)}" for name, value in given.items())
        received = f" (received {shapes})" if given else ""
        what = f"does not run on this input: {first_line(error)}{received}"
        raise ValueError(f"{model.name} {what}") from error
