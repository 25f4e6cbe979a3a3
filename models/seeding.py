"""Random weights that depend on their seed alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

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
