"""The training loop, for any network and task.

Batches and dropout of a step depend only on the seed and the step number, so a resumed run
reproduces the uninterrupted run loss by loss. The loop yields after every step and has no state
outside of itself.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from math import isfinite
from random import Random
from time import perf_counter, process_time
from typing import Any
from zlib import crc32

import torch
from torch import Tensor, nn

from models.seeding import seeded
from train.task import Score, Task, draw, loss_of, moved, score


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

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "every", "tested"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, received {getattr(self, name)}")
        for name in ("rate", "clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}: expected above 0, received {getattr(self, name)}")
        if not 0 < self.warmup < 1:
            raise ValueError(f"warmup: expected between 0 and 1, received {self.warmup}")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything needed to resume training after a step.

    Attributes:
        step: number of completed steps.
        weights: of the network.
        optimiser: its state.
        schedule: its state.
        seconds: wall-clock time so far.
        processor: CPU time so far, over all cores.
    """

    step: int
    weights: Mapping[str, Any]
    optimiser: Mapping[str, Any]
    schedule: Mapping[str, Any]
    seconds: float = 0.0
    processor: float = 0.0


@dataclass(frozen=True, eq=False)
class Progress:
    """The progress of training after a step.

    Attributes:
        step: number of the step.
        steps: total number of steps.
        loss: of the batch.
        rate: learning rate of the step.
        seconds: wall-clock time so far.
        left: estimated remaining seconds.
        score: on held-out items, if this step has an evaluation.
        snapshot: if one was taken at this step.
        problem: why training stops here; the network is restored to the last good snapshot.
    """

    step: int
    steps: int
    loss: float
    rate: float
    seconds: float
    left: float
    score: Score | None = None
    snapshot: Snapshot | None = None
    problem: str | None = None


def train(
    network: nn.Module, task: Task, settings: Settings, *, start: Snapshot | None = None
) -> Iterator[Progress]:
    """Trains the network in place, and yields after every step.

    Args:
        network: one of models/, on the training device.
        task: the task to learn.
        settings: hyperparameters.
        start: snapshot of the same network, task and settings to resume from.

    Raises:
        ValueError: for a snapshot of another network.
    """
    run = _Run(network, settings)
    good = run.snapshot(0) if start is None else start
    run.restore(good)
    first, before = (0, 0.0) if start is None else (start.step, start.seconds)
    tested = draw(task, settings.tested, Random(f"tested {settings.seed}"), held_out=True)
    for step in range(first + 1, settings.steps + 1):
        rate = run.rate
        loss, sound = run.step(step, task)
        extra: dict[str, Any] = {}
        if not sound:
            run.restore(good)
            extra["problem"] = (
                f"the loss or its gradient is not a finite number at step {step}:"
                f" back at step {good.step}"
            )
        elif step % settings.every == 0 or step == settings.steps:
            good = run.snapshot(step)
            extra = {"score": score(network, task, tested), "snapshot": good}
        seconds = run.seconds
        left = (seconds - before) / (step - first) * (settings.steps - step)
        yield Progress(step, settings.steps, loss, rate, seconds, left, **extra)
        if not sound:
            break
    network.eval()


class _Run:
    """The network with its optimiser and schedule."""

    def __init__(self, network: nn.Module, settings: Settings) -> None:
        self.network, self.settings = network, settings
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
        self.began = perf_counter(), process_time()

    @property
    def seconds(self) -> float:
        """Wall-clock time, including the time before the snapshot."""
        return perf_counter() - self.began[0]

    @property
    def processor(self) -> float:
        """CPU time over all cores, including the time before the snapshot."""
        return process_time() - self.began[1]

    @property
    def rate(self) -> float:
        return self.optimiser.param_groups[0]["lr"]

    def step(self, step: int, task: Task) -> tuple[float, bool]:
        """One step: the loss, and whether it is finite. If not, the weights are not updated."""
        settings, device = self.settings, next(self.network.parameters()).device
        items = draw(task, settings.batch, Random(f"batch {settings.seed} {step}"))
        batch = moved(task.batch(items), device)
        self.network.train()
        with seeded(crc32(f"dropout {settings.seed} {step}".encode()), device):
            loss = loss_of(self.network(**batch.arguments), batch)
        self.optimiser.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), settings.clip)
        value, sound = loss.item(), isfinite(loss.item()) and isfinite(norm.item())
        if sound:
            self.optimiser.step()
            self.schedule.step()
        return value, sound

    def snapshot(self, step: int) -> Snapshot:
        parts = (self.network, self.optimiser, self.schedule)
        states = [_copied(part.state_dict()) for part in parts]
        return Snapshot(step, *states, seconds=self.seconds, processor=self.processor)

    def restore(self, snapshot: Snapshot) -> None:
        self.began = perf_counter() - snapshot.seconds, process_time() - snapshot.processor
        try:
            self.network.load_state_dict(snapshot.weights)
        except RuntimeError as error:
            line = str(error).splitlines()[-1].strip()
            raise ValueError(f"start: expected a snapshot of this network: {line}") from error
        self.optimiser.load_state_dict(deepcopy(dict(snapshot.optimiser)))
        self.schedule.load_state_dict(dict(snapshot.schedule))


def _copied(state: Any) -> Any:
    """A copy of the state that later steps do not modify."""
    if isinstance(state, Tensor):
        return state.detach().clone()
    if isinstance(state, Mapping):
        return {key: _copied(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_copied(value) for value in state]
    return state
