"""The training loop, for any network and task.

Batches and dropout of a step depend only on the seed and the step number, so a resumed run
reproduces the uninterrupted run loss by loss.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from zlib import crc32

import torch
from torch import Tensor, nn

from models.card import Measure
from models.seeding import seeded
from models.whole_file import write_whole
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
        every: steps between evaluations on held-out items, each with a snapshot.
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


class Training:
    """A network in training.

    Attributes:
        step: number of completed steps.
    """

    def __init__(self, network: nn.Module, task: Task, settings: Settings) -> None:
        self.network, self.task, self.settings = network, task, settings
        matrices = [p for p in network.parameters() if p.ndim > 1]
        others = [p for p in network.parameters() if p.ndim < 2]
        groups = [
            {"params": matrices, "weight_decay": settings.decay},
            {"params": others, "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=settings.rate, betas=(0.9, 0.98))
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimiser,
            settings.rate,
            total_steps=settings.steps + 1,
            pct_start=settings.warmup,
            cycle_momentum=False,
        )
        self.step = 0
        self._began = perf_counter(), process_time()

    @property
    def seconds(self) -> tuple[float, float]:
        """Wall-clock and CPU time so far, with the time before a snapshot."""
        return perf_counter() - self._began[0], process_time() - self._began[1]

    def run(self) -> Iterator[float]:
        """Trains the network in place, and yields the loss after every step.

        Raises:
            ValueError: at a loss or gradient that is not finite, before it changes a weight.
        """
        while self.step < self.settings.steps:
            loss = self._loss(self.step + 1)
            self.optimiser.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
            if not (isfinite(loss.item()) and isfinite(norm.item())):
                raise ValueError(
                    f"the loss or its gradient is not a finite number at step {self.step + 1}"
                )
            self.optimiser.step()
            self.schedule.step()
            self.step += 1
            yield loss.item()
        self.network.eval()

    def score(self) -> Measure:
        """How well the network does on held-out items."""
        dice = Random(f"tested {self.settings.seed}")
        items = draw(self.task, self.settings.tested, dice, held_out=True)
        return score(self.network, self.task, items)

    def save(self, path: Path) -> None:
        """Writes all that is needed to resume after this step; on failure an old file is kept.

        Raises:
            OSError: if there is no space or no permission.
        """
        packed = BytesIO()
        states = [part.state_dict() for part in (self.network, self.optimiser, self.schedule)]
        torch.save((self.step, self.seconds, *states), packed)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, packed.getvalue())

    def resume(self, path: Path) -> None:
        """Returns to the step at which a file of this network, task and settings was written.

        Raises:
            ValueError: if there is none, it is unreadable, or of another network.
        """
        try:
            self.step, before, *states = torch.load(path, weights_only=True)
            parts = (self.network, self.optimiser, self.schedule)
            for part, state in zip(parts, states, strict=True):
                part.load_state_dict(state)
        except Exception as error:  # a damaged archive can raise anything
            line = str(error).strip().splitlines()[-1:]
            raise ValueError(
                f"{path.name}: expected a snapshot of this network, received: {' '.join(line)}"
            ) from error
        self._began = perf_counter() - before[0], process_time() - before[1]

    def _loss(self, step: int) -> Tensor:
        """The loss of a step's own batch, with its own dropout."""
        dice = Random(f"batch {self.settings.seed} {step}")
        batch = self.task.batch(draw(self.task, self.settings.batch, dice))
        self.network.train()
        with seeded(crc32(f"dropout {self.settings.seed} {step}".encode())):
            return loss_of(logits_of(self.network(**batch.arguments), batch), batch)
