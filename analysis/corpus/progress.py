"""How far a run is, as its callback is told."""

from collections.abc import Callable
from dataclasses import dataclass


class StoppedError(Exception):
    """Raised by a progress callback to end a run; what was done stays, and can be gone on from."""


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        done: texts that are read.
        total: texts of the corpus; None while it is being planned.
        seconds: since this call began to read.
        left: seconds that the rest will take at this speed; None before that is known.
    """

    done: int
    total: int | None
    seconds: float = 0.0
    left: float | None = None


Control = Callable[[Progress], None]


def no_control(progress: Progress) -> None:
    """The default callback: does nothing."""
