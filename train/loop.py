"""The training loop, for any network and task.

Batches and dropout of a step depend only on the seed and the step number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from random import Random
from zlib import crc32

import torch
from torch import Tensor, nn

from models.card import Measure
from models.seeding import seeded
from train.task import Task, draw, logits_of, loss_of, score


@dataclass(frozen=True)
class Settings:
    """Training hyperparameters.

    Attributes:
        steps: number of steps.
        batch: batch size.
        rate: peak learning rate.
        warmup: share of the steps with linear warm-up; cosine decay follows.
        decay: weight decay of the matrices (AdamW, Loshchilov and Hutter 2019).
        clip: maximum gradient norm.
        every: steps between evaluations on held-out items.
        tested: number of items in an evaluation.
        seed: of batches and dropout.
    """

    steps: int = 1000
    batch: int = 64
    rate: float = 3e-3
    warmup: float = 0.1
    decay: float = 0.01
    clip: float = 1.0
    every: int = 100
    tested: int = 200
    seed: int = 0


def fit(network: nn.Module, task: Task, settings: Settings) -> Iterator[tuple[int, float]]:
    """Trains a network in place, and yields number and loss of every step, counted from 1.

    Raises:
        ValueError: at a loss or gradient that is not finite, before it changes a weight.
    """
    parameters = list(network.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings.decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=settings.rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser,
        settings.rate,
        total_steps=settings.steps + 1,
        pct_start=settings.warmup,
        cycle_momentum=False,
    )
    for step in range(1, settings.steps + 1):
        loss = _loss(network, task, settings, step)
        optimiser.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(parameters, settings.clip)
        if not (isfinite(loss.item()) and isfinite(norm.item())):
            raise ValueError(f"the loss or its gradient is not a finite number at step {step}")
        optimiser.step()
        schedule.step()
        yield step, loss.item()
    network.eval()


def held_out(network: nn.Module, task: Task, settings: Settings) -> Measure:
    """How well a network does on the held-out items of an evaluation."""
    dice = Random(f"tested {settings.seed}")
    return score(network, task, draw(task, settings.tested, dice, held_out=True))


def _loss(network: nn.Module, task: Task, settings: Settings, step: int) -> Tensor:
    """The loss of a step's own batch, with its own dropout."""
    dice = Random(f"batch {settings.seed} {step}")
    batch = task.batch(draw(task, settings.batch, dice))
    network.train()
    with seeded(crc32(f"dropout {settings.seed} {step}".encode())):
        return loss_of(logits_of(network(**batch.arguments), batch), batch)
