"""Inputs by name: what a network takes, and the tensors, arrays and lists that tokenizers make."""

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

Parameters = Mapping[str, inspect.Parameter]


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
