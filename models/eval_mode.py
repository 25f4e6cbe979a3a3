"""Eval mode for the duration of a pass, shared by passes that run at the same time.

A network in training mode goes back to it after the last of the passes that run through it, not
after the first: under the others, dropout would set in.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from torch import nn


@dataclass(eq=False)
class _Running:
    """The passes that run through a module now, and its mode before the first of them."""

    training: bool
    passes: int = 0


_lock = Lock()
_running: dict[nn.Module, _Running] = {}  # counted per module: networks can share parts


@contextmanager
def without_dropout(network: nn.Module) -> Iterator[None]:
    """Eval mode for one pass: a network that is being trained goes on in training mode."""
    parts = tuple(network.modules())
    with _lock:
        for part in parts:
            _running.setdefault(part, _Running(part.training)).passes += 1
        if any(part.training for part in parts):
            network.eval()
    try:
        yield
    finally:
        with _lock:
            for part in parts:
                _leave(part)


def _leave(part: nn.Module) -> None:
    """One pass less; the last one restores the mode."""
    running = _running[part]
    running.passes -= 1
    if not running.passes:
        del _running[part]
        part.training = running.training
