"""Tasks: sampling of items, the held-out split, and scoring.

Whether an item is held out follows from its key alone: no item that a network is tested on, and no
other item with the same key, was ever trained on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from random import Random
from typing import Any, Protocol, TypeVar, runtime_checkable
from zlib import crc32

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from models.eval_mode import without_dropout
from models.output import cross_entropy

IGNORED = -100  # a place where nothing is asked
HELD_OUT = 7  # one key in so many is held out
Z = 1.959964  # of the normal distribution, for 95 %


@dataclass(frozen=True, eq=False)
class Batch:
    """Some items as a network takes them.

    Attributes:
        arguments: what its forward takes.
        target: the right class at each place; `IGNORED` where nothing is asked.
        graded: the places that count when answers are graded; None if all do. The others are
            learned from as well, though nobody could be sure of them. There must be both.
        emphasis: the share of the loss that graded places have.
        rivals: at each place, the one class that must be less likely for the answer to count as
            right; `IGNORED`, or None for all places, if all others must be.
    """

    arguments: dict[str, Tensor | None]
    target: Int[Tensor, "batch place"]
    graded: Bool[Tensor, "batch place"] | None = None
    emphasis: float = 0.5
    rivals: Int[Tensor, "batch place"] | None = None


Item = TypeVar("Item")


@runtime_checkable
class Task(Protocol[Item]):
    """Something to learn."""

    def draw(self, dice: Random) -> Item:
        """Any item."""
        ...

    def key(self, item: Item) -> str:
        """What decides on which side of the split an item is."""
        ...

    def batch(self, items: Sequence[Item]) -> Batch:
        """The items as a network takes them."""
        ...


def is_held_out(key: str) -> bool:
    """Whether items with this key are kept for the test."""
    return crc32(key.encode()) % HELD_OUT == 0


def draw(task: Task[Item], count: int, dice: Random, *, held_out: bool = False) -> list[Item]:
    """Items of one side of the split."""
    found: list[Item] = []
    while len(found) < count:
        item = task.draw(dice)
        if is_held_out(task.key(item)) == held_out:
            found.append(item)
    return found


def exam(task: Task[Item], count: int, seed: int = 0) -> list[Item]:
    """Different held-out items: so many, or all of a task that can count its items (`every`)."""
    every: Sequence[Item] | None = getattr(task, "every", None)
    if every is not None:
        return [item for item in every if is_held_out(task.key(item))]
    dice, found = Random(f"exam {seed}"), {}
    while len(found) < count:
        (item,) = draw(task, 1, dice, held_out=True)
        found[repr(item)] = item
    return list(found.values())


# --- how well it is done ------------------------------------------------------------------------


def logits_of(out: Any, batch: Batch) -> Float[Tensor, "batch place class"]:
    """The network's answer at each place; one that answers once is asked several questions."""
    logits: Tensor = out.logits
    return logits if logits.ndim == 3 else logits.unflatten(1, (batch.target.shape[1], -1))


def loss_of(out: Any, batch: Batch) -> Float[Tensor, ""]:
    """Mean cross entropy over everything that is asked.

    Where only some places are graded, it is their mean and that of all others, by the emphasis.
    """
    logits, target, graded = logits_of(out, batch), batch.target, batch.graded
    if graded is None:
        return cross_entropy(logits, target, padding=IGNORED)
    known = cross_entropy(logits, target.where(graded, IGNORED), padding=IGNORED)
    others = cross_entropy(logits, target.where(~graded, IGNORED), padding=IGNORED)
    return batch.emphasis * known + (1 - batch.emphasis) * others


def right(out: Any, batch: Batch) -> Bool[Tensor, " batch"]:
    """Which items are right at every place that counts."""
    logits, asked = logits_of(out, batch), batch.target != IGNORED
    asked = asked if batch.graded is None else asked & batch.graded
    wanted = batch.target.where(asked, 0)[..., None]
    good = (logits.argmax(-1, keepdim=True) == wanted)[..., 0]
    if batch.rivals is not None:
        one = batch.rivals != IGNORED
        rivals = batch.rivals.where(one, 0)[..., None]
        likelier = (logits.gather(-1, wanted) > logits.gather(-1, rivals))[..., 0]
        good = likelier.where(one, good)
    return (good | ~asked).all(-1)


def moved(batch: Batch, device: torch.device) -> Batch:
    """The batch on a device."""
    arguments = {k: None if v is None else v.to(device) for k, v in batch.arguments.items()}
    graded, rivals = (None if v is None else v.to(device) for v in (batch.graded, batch.rivals))
    return replace(
        batch, arguments=arguments, target=batch.target.to(device), graded=graded, rivals=rivals
    )


@dataclass(frozen=True)
class Score:
    """How many items were right.

    Attributes:
        right: so many.
        of: of so many.
    """

    right: int
    of: int

    @property
    def share(self) -> float:
        return self.right / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies, with 95 % confidence (Wilson 1927)."""
        n, p = self.of, self.share
        middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z / (1 + Z * Z / n) * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


def score(
    network: nn.Module, task: Task[Item], items: Sequence[Item], *, at_once: int = 256
) -> Score:
    """How many of the items the network gets right, dropout switched off."""
    device, count = next(network.parameters()).device, 0
    with without_dropout(network), torch.no_grad():
        for first in range(0, len(items), at_once):
            batch = moved(task.batch(items[first : first + at_once]), device)
            count += int(right(network(**batch.arguments), batch).sum())
    return Score(count, len(items))
