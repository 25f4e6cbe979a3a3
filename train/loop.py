"""The training loop, for any network and task.

Everything that happens at a step follows from the settings' seed and the step's number: batches
and dropout. So a run that goes on from a snapshot repeats, loss by loss, the run that was never
interrupted. The loop yields after every step and keeps nothing outside of itself.
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
    """How to train.

    Attributes:
        steps: how many.
        batch: items in each.
        rate: the highest learning rate.
        warmup: the share of the steps in which the rate rises; then it falls, as a cosine does.
        decay: weight decay of the matrices (AdamW, Loshchilov and Hutter 2019).
        clip: the gradient's largest norm.
        every: after so many steps there is a test on held-out items and a snapshot.
        tested: how many items that test has.
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
    """All that training needs to go on from a step.

    Attributes:
        step: how many steps were made.
        weights: of the network.
        optimiser: its state.
        schedule: its state.
        seconds: spent on them, by the clock.
        processor: seconds, over all cores.
    """

    step: int
    weights: Mapping[str, Any]
    optimiser: Mapping[str, Any]
    schedule: Mapping[str, Any]
    seconds: float = 0.0
    processor: float = 0.0


@dataclass(frozen=True, eq=False)
class Progress:
    """Where training is after a step.

    Attributes:
        step: which.
        steps: how many there will be.
        loss: of its batch.
        rate: the learning rate it was made with.
        seconds: spent until now.
        left: how many more seconds it will take at this pace.
        score: of held-out items, where they were tested at this step.
        snapshot: where one was taken at this step.
        problem: why training ends here; the network is as the last good snapshot had it.
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
        network: ours, on the device it is to be trained on.
        task: what to learn.
        settings: how.
        start: a snapshot of the same network, task and settings to go on from.

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
        """By the clock, those before the snapshot that it goes on from included."""
        return perf_counter() - self.began[0]

    @property
    def processor(self) -> float:
        """Likewise, over all cores."""
        return process_time() - self.began[1]

    @property
    def rate(self) -> float:
        return self.optimiser.param_groups[0]["lr"]

    def step(self, step: int, task: Task) -> tuple[float, bool]:
        """One step; the loss, and whether it is sound. If not, the weights are left alone."""
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
    """The state, free of what goes on changing."""
    if isinstance(state, Tensor):
        return state.detach().clone()
    if isinstance(state, Mapping):
        return {key: _copied(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_copied(value) for value in state]
    return state
