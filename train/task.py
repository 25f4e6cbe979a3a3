"""Tasks: sampling of items, the held-out split, and scoring.

Whether an item is held out depends only on its key, so training never sees a test item or another
item with the same key.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, runtime_checkable
from zlib import crc32

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from analysis.corpus.intervals import interval
from models.card import Measure
from models.output import cross_entropy
from models.structure import evaluating
from train.vocabulary import IGNORED

ABSENT = -1e9  # logit of a class that a question does not have; −inf · 0 would be NaN
HELD_OUT = 7  # one key in seven is held out
AT_ONCE = 64  # items of a batch in an evaluation


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of items as tensors.

    Attributes:
        arguments: of the network's forward.
        target: the correct class at each position; `IGNORED` where there is no loss.
        graded: positions that count in evaluations; None for all. The others contribute to the loss
            only, as they cannot be predicted with certainty. Both kinds must occur.
        emphasis: share of the loss for graded positions.
        rivals: at each position, the one class that must be less likely for the answer to be
            correct; where `IGNORED` (or None for all positions), every other class must be.
        classes: of each question about an image; () where all have as many.
        tolerance: in evaluations, classes this far from the target count as correct.
    """

    arguments: dict[str, Tensor | None]
    target: Int[Tensor, "batch place"]
    graded: Bool[Tensor, "batch place"] | None = None
    emphasis: float = 0.5
    rivals: Int[Tensor, "batch place"] | None = None
    classes: tuple[int, ...] = ()
    tolerance: int = 0

    @property
    def counted(self) -> Bool[Tensor, "batch place"]:
        """The positions that count in evaluations."""
        asked = self.target != IGNORED
        return asked if self.graded is None else asked & self.graded


@runtime_checkable
class Task(Protocol):
    """A learning task. One with a finite number of items lists them as `every`."""

    def draw(self, dice: Random) -> Any:
        """A random item, from either split."""
        ...

    def key(self, item: Any) -> str:
        """The key that determines the split of an item."""
        ...

    def batch(self, items: Sequence[Any]) -> Batch:
        """The items as a batch."""
        ...


@runtime_checkable
class PictureTask(Task, Protocol):
    """A task that asks questions about pictures."""

    @property
    def questions(self) -> Mapping[str, tuple[str, ...]]:
        """The classes of each question."""
        ...

    def pictures(self, items: Sequence[Any]) -> UInt8[Tensor, "batch channel row col"]:
        """The images of some items."""
        ...


def is_held_out(key: str) -> bool:
    """Whether items with this key are held out."""
    return crc32(key.encode()) % HELD_OUT == 0


def draw(task: Task, count: int, dice: Random, *, held_out: bool = False) -> list[Any]:
    """Random items of one split."""
    items: list[Any] = []
    while len(items) < count:
        item = task.draw(dice)
        if is_held_out(task.key(item)) == held_out:
            items.append(item)
    return items


def exam(task: Task, count: int) -> list[Any]:
    """`count` distinct held-out items, or all if the task lists its items."""
    every: Sequence[Any] | None = getattr(task, "every", None)
    if every is not None:
        return [item for item in every if is_held_out(task.key(item))]
    dice, items = Random("exam 0"), {}
    while len(items) < count:
        (item,) = draw(task, 1, dice, held_out=True)
        items[repr(item)] = item
    return list(items.values())


def logits_of(out: Any, batch: Batch) -> Float[Tensor, "batch place class"]:
    """The logits at each position, or for each question about an image.

    Questions with fewer classes than others are filled up with `ABSENT`.
    """
    logits: Tensor = out.logits
    if logits.ndim == 3:
        return logits
    if not batch.classes:
        return logits.unflatten(1, (batch.target.shape[1], -1))
    parts = logits.split(batch.classes, dim=1)
    return pad_sequence([part.mT for part in parts], padding_value=ABSENT).permute(2, 1, 0)


def loss_of(logits: Tensor, batch: Batch) -> Float[Tensor, ""]:
    """Mean cross entropy over all targets.

    If only some positions are graded, it is the mean over these and the mean over the others,
    weighted by the emphasis.
    """
    target, graded = batch.target, batch.graded
    if graded is None:
        return cross_entropy(logits, target, padding=IGNORED)
    predictable = cross_entropy(logits, target.where(graded, IGNORED), padding=IGNORED)
    others = cross_entropy(logits, target.where(~graded, IGNORED), padding=IGNORED)
    return batch.emphasis * predictable + (1 - batch.emphasis) * others


def right(logits: Tensor, batch: Batch) -> Bool[Tensor, " batch"]:
    """Which items are correct at every position that counts."""
    counted = batch.counted
    wanted = batch.target.where(counted, 0)[..., None]
    good = ((logits.argmax(-1, keepdim=True) - wanted).abs() <= batch.tolerance)[..., 0]
    if batch.rivals is not None:
        one = batch.rivals != IGNORED
        rivals = batch.rivals.where(one, 0)[..., None]
        likelier = (logits.gather(-1, wanted) > logits.gather(-1, rivals))[..., 0]
        good = likelier.where(one, good)
    return (good | ~counted).all(-1)


def score(
    network: nn.Module, task: Task, items: Sequence[Any], *, name: str = "", aim: float = 0.0
) -> Measure:
    """How many items the network gets right in eval mode, with the 95 % interval of the share."""
    count, of = sum(int(right(*pair).sum()) for pair in _answered(network, task, items)), len(items)
    share = count / of
    variance = share * (1 - share) * of / max(of - 1, 1)
    low, high = interval(share, variance, float(of), share=True)
    return Measure(name, count, of, float(low), float(high), aim)


@torch.no_grad()
def _answered(
    network: nn.Module, task: Task, items: Sequence[Any]
) -> Iterator[tuple[Tensor, Batch]]:
    """The logits for the items, with each batch, on the CPU."""
    device, network = next(network.parameters()).device, evaluating(network)
    for first in range(0, len(items), AT_ONCE):
        batch = task.batch(items[first : first + AT_ONCE])
        given = {name: None if v is None else v.to(device) for name, v in batch.arguments.items()}
        yield logits_of(network(**given), batch).cpu(), batch
