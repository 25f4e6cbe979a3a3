"""Seeded random weights, or uninitialised ones for weights that are loaded."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

_one_at_a_time = threading.Lock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draws inside follow from the seed; the process's own generator is left as it was.

    PyTorch's layers draw from one generator per process, so two networks built at the same time
    wait for each other here.
    """
    with _one_at_a_time, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def xavier(module: nn.Module) -> None:
    """Matrices that keep the variance, so that even untrained heads differ; biases zero."""
    if isinstance(module, nn.Linear | nn.Conv2d):
        nn.init.xavier_uniform_(module.weight.flatten(1))  # the patches of a Conv2d do not overlap
        if module.bias is not None:
            nn.init.zeros_(module.bias)


class Undrawn(TorchFunctionMode):
    """Layers made inside keep the memory they were given as it is: weights follow from a file.

    Nothing is drawn on the meta device either, which would import PyTorch's compiler.
    """

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in (torch.rand, torch.randn):
            return torch.empty(*args, **kwargs)
        drawn = getattr(func, "__name__", "") in ("normal_", "uniform_")
        if drawn or getattr(func, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)
