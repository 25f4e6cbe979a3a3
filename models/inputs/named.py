"""Inputs by name: what a network takes, the tensors, arrays and lists that tokenizers
and processors make, and checks of pictures and sound before it runs."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from models.files.errors import first_line

if TYPE_CHECKING:
    from models.model import Model


Parameters = Mapping[str, inspect.Parameter]
PIXELS = "pixel_values"
FEATURES = (PIXELS, "pixel_values_videos", "input_features", "input_values")
LARGEST = 2.0**32  # of a feature or sample: integers of 32 bits, whose squares fit float32
UNPACKED = ("not enough values to unpack", "too many values to unpack")  # of a shape


def forward_arguments(network: nn.Module) -> Parameters:
    """The parameters of a network's forward, by name."""
    forward = network.forward
    if not inspect.ismethod(forward):  # a wrapper that belongs to this network alone
        return inspect.signature(forward).parameters
    return _parameters(forward.__func__)


@lru_cache(maxsize=1024)
def _parameters(forward: Callable[..., Any]) -> Parameters:
    every = inspect.signature(forward).parameters
    return {name: each for name, each in every.items() if name != "self"}


def as_tensors(given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with arrays and lists of numbers as tensors, and without those that are None.

    Args:
        given: a dict, or what a tokenizer or processor of transformers returns (a
            `BatchEncoding`, a `BatchFeature`), with or without `return_tensors`.

    Raises:
        ValueError: for a list of items of unequal length.
    """
    return {name: _value(name, value) for name, value in given.items() if value is not None}


def as_tensor(value: Any) -> Any:
    """An array of numbers as a tensor; anything else as it is."""
    numbers = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    return torch.tensor(value) if numbers else value


def _value(name: str, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return as_tensor(value)
    if not value or not _numeric(value):
        return value  # texts, pictures
    try:
        arrays = isinstance(value[0], np.ndarray | Tensor)
        if arrays and len({tuple(each.shape[2:]) for each in value if each.ndim == 4}) > 1:
            return type(value)(map(torch.as_tensor, value))  # feature maps of several sizes
        tensor = torch.stack([*map(torch.as_tensor, value)]) if arrays else torch.tensor(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(
            f"{name}: expected items of equal size: pad them (padding=True) or give one at a time"
        ) from error
    return tensor[None] if tensor.ndim == 1 else tensor  # the numbers of a single item


def _numeric(value: Any) -> bool:
    """Whether a list, however deep, is made of numbers, arrays and tensors."""
    if isinstance(value, list | tuple):
        return all(_numeric(part) for part in value)
    return isinstance(value, Tensor | np.ndarray | np.number | int | float)


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
