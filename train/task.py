"""Tasks: sampling of items, the held-out split, and scoring.

Whether an item is held out depends only on its key, so training never sees a test item or another
item with the same key.
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
from torch.nn.utils.rnn import pad_sequence

from models.eval_mode import evaluating
from models.output import cross_entropy, target_ranks

IGNORED = -100  # target of positions without a loss
ABSENT = -1e9  # logit of a class that a question does not have; −inf · 0 would be NaN
HELD_OUT = 7  # one key in seven is held out
Z = 1.959964  # quantile of the normal distribution for a 95 % interval


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


Item = TypeVar("Item")


@runtime_checkable
class Task(Protocol[Item]):
    """A learning task."""

    def draw(self, dice: Random) -> Item:
        """A random item, from either split."""
        ...

    def key(self, item: Item) -> str:
        """The key that determines the split of an item."""
        ...

    def batch(self, items: Sequence[Item]) -> Batch:
        """The items as a batch."""
        ...


def is_held_out(key: str) -> bool:
    """Whether items with this key are held out."""
    return crc32(key.encode()) % HELD_OUT == 0


def draw(task: Task[Item], count: int, dice: Random, *, held_out: bool = False) -> list[Item]:
    """Random items of one split."""
    items: list[Item] = []
    while len(items) < count:
        item = task.draw(dice)
        if is_held_out(task.key(item)) == held_out:
            items.append(item)
    return items


def exam(task: Task[Item], count: int) -> list[Item]:
    """`count` distinct held-out items, or all if the task lists its items (`every`)."""
    every: Sequence[Item] | None = getattr(task, "every", None)
    if every is not None:
        return [item for item in every if is_held_out(task.key(item))]
    dice, items = Random("exam 0"), {}
    while len(items) < count:
        (item,) = draw(task, 1, dice, held_out=True)
        items[repr(item)] = item
    return list(items.values())


# --- loss and scores ----------------------------------------------------------------------------


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


def loss_of(out: Any, batch: Batch) -> Float[Tensor, ""]:
    """Mean cross entropy over all targets.

    If only some positions are graded, it is the mean over these and the mean over the others,
    weighted by the emphasis.
    """
    logits, target, graded = logits_of(out, batch), batch.target, batch.graded
    if graded is None:
        return cross_entropy(logits, target, padding=IGNORED)
    predictable = cross_entropy(logits, target.where(graded, IGNORED), padding=IGNORED)
    others = cross_entropy(logits, target.where(~graded, IGNORED), padding=IGNORED)
    return batch.emphasis * predictable + (1 - batch.emphasis) * others


def right(out: Any, batch: Batch) -> Bool[Tensor, " batch"]:
    """Which items are correct at every graded position."""
    logits, asked = logits_of(out, batch), batch.target != IGNORED
    asked = asked if batch.graded is None else asked & batch.graded
    wanted = batch.target.where(asked, 0)[..., None]
    off = (logits.argmax(-1, keepdim=True) - wanted).abs()
    good = (off <= batch.tolerance)[..., 0]
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
    """Number of correct items.

    Attributes:
        right: correct items.
        of: all items.
    """

    right: int
    of: int

    @property
    def share(self) -> float:
        return self.right / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share (Wilson 1927)."""
        n, p = self.of, self.share
        middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z / (1 + Z * Z / n) * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


AT_ONCE, RANKED_AT_ONCE = 256, 64  # items of a batch


def score(network: nn.Module, task: Task[Item], items: Sequence[Item]) -> Score:
    """The score of the network on some items, in eval mode."""
    device, count = next(network.parameters()).device, 0
    network = evaluating(network)
    with torch.no_grad():
        for first in range(0, len(items), AT_ONCE):
            batch = moved(task.batch(items[first : first + AT_ONCE]), device)
            count += int(right(network(**batch.arguments), batch).sum())
    return Score(count, len(items))


@dataclass(frozen=True, eq=False)
class Ranking:
    """How a network ranks the right answers of some items.

    Attributes:
        ranks: of each graded answer among all classes; 1 is the first guess.
        loss: mean cross entropy of these answers, in nats.
        classes: number of classes.
    """

    ranks: Int[Tensor, " answer"]
    loss: float
    classes: int

    def accuracy(self, k: int) -> float:
        """The share of answers among the k first guesses."""
        return float((self.ranks <= k).float().mean())


def ranking(network: nn.Module, task: Task[Item], items: Sequence[Item]) -> Ranking:
    """The ranks of the graded answers to some items, in eval mode."""
    device, ranks, losses, classes = next(network.parameters()).device, [], [], 0
    network = evaluating(network)
    with torch.no_grad():
        for first in range(0, len(items), RANKED_AT_ONCE):
            batch = moved(task.batch(items[first : first + RANKED_AT_ONCE]), device)
            logits, target = logits_of(network(**batch.arguments), batch), batch.target
            if batch.graded is not None:
                target = target.where(batch.graded, IGNORED)
            ranks.append(target_ranks(logits, target, padding=IGNORED).cpu())
            losses.append(len(ranks[-1]) * cross_entropy(logits, target, padding=IGNORED).item())
            classes = logits.shape[-1]
    whole = torch.cat(ranks)
    return Ranking(whole, sum(losses) / len(whole), classes)
