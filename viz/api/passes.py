"""Forward passes of the app: how many at a time, and on how many cores."""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from viz.api import pool

if TYPE_CHECKING:
    from models.model import Model

AT_ONCE = 2  # over all users
LARGE = 5_000_000  # parameters from which on a pass gets all cores
LONG = 10**10  # FLOPs from which on it does: half a second on one core, about
_FORWARDS = threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def forward_pass(
    model: "Model", *, long: bool = False, meanwhile: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Limits concurrent forward passes, over all users.

    A large model or a long pass gets all cores. Everything else that the app does in PyTorch is
    small and gets one core: more threads would only add overhead.

    Args:
        model: of the pass.
        long: whether the pass is long.
        meanwhile: see `pool.wait`, while others run.
    """
    import torch

    large = sum(weights.numel() for weights in model.network.parameters()) > LARGE
    pool.wait(lambda seconds: _FORWARDS.acquire(timeout=seconds), meanwhile)
    try:
        torch.set_num_threads(cores() if large or long else 1)
        yield
    finally:
        torch.set_num_threads(1)
        _FORWARDS.release()


@cache
def imports_stay() -> None:
    """Freezes imported objects, so that later garbage collections are faster."""
    gc.collect()
    gc.freeze()


@cache
def cores() -> int:
    """PyTorch's default number of threads; must be called before it is changed."""
    import torch

    return torch.get_num_threads()
