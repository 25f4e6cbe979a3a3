"""Random weights that depend on their seed alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

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
