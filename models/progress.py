"""Progress of a forward pass, layer by layer. An exception from the callback ends the pass."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Progress = Callable[[int, int], None]  # called with the number of finished layers and their total
Block = TypeVar("Block")
DELAY = 2.0


def no_progress(done: int, total: int) -> None:
    """The default callback: does nothing."""


def bar(title: str) -> Progress:
    """A progress bar on a terminal or in a notebook, once `DELAY` seconds have passed."""
    from tqdm.auto import tqdm

    bars: list[Any] = []

    def report(done: int, total: int) -> None:
        if not bars:
            bars.append(tqdm(total=total, desc=title, delay=DELAY, disable=None, leave=False))
        bars[0].total = total
        bars[0].update(done - bars[0].n)
        if done >= total:
            bars.pop().close()

    return report


def each(blocks: Iterable[Block], progress: Progress) -> Iterator[Block]:
    """The blocks one by one; reports before each of them and after the last."""
    blocks = list(blocks)
    for done, block in enumerate(blocks):
        progress(done, len(blocks))
        yield block
    progress(len(blocks), len(blocks))


def stretched(progress: Progress, part: int, parts: int) -> Progress:
    """Reports the progress of one of several equal parts as that of the whole."""

    def report(done: int, total: int) -> None:
        progress(part * total + done, parts * total)

    return report


def stretch(progress: Progress, before: int, total: int) -> Progress:
    """Reports a part of the layers as a part of all of them.

    Args:
        progress: of all layers.
        before: layers before this part.
        total: number of all layers.
    """

    def report(done: int, _: int) -> None:
        progress(before + done, total)

    return report
