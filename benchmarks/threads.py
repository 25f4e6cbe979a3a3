"""Eight threads tracing three models at once: isolation and leaks.

    python -m benchmarks.threads [--seconds 60]

Some traces are edited, and some fail on purpose in the middle of a pass. Every result is compared
with the same trace made alone.
"""

import gc
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from benchmarks.measure import Aim, command
from models.edits import Ablate, Temperature
from models.pretrained.attention_modules import configs_of
from models.pretrained.implementation import TracedName
from models.pretrained.interface import _recording
from models.run import trace
from models.where import Where
from tests.models.architectures import ARCHITECTURES

THREADS, MODELS = 8, ("BERT", "Llama", "T5")
EDITS: tuple[list[Any], ...] = ([], [Ablate(1, 2)], [Temperature(0.5, layer=0)])
FAILING = 7  # every so many traces one fails


class Report(NamedTuple):
    """The result of a run."""

    traces: int  # that went well
    failures: int  # that were meant to fail, and did
    apart: float  # largest difference of a weight or output to the same trace alone
    leaked: int  # tensors that were there at the end and not before
    left: tuple[str, ...]  # what the traces left behind in the models, by name


class BrokenError(ValueError):
    """What a failing trace raises."""


@dataclass(frozen=True)
class Breaks:
    """An edit that fails in the middle of a pass."""

    where: Where = Where(1)

    def edit_values(self, values: Tensor, pattern: Any) -> Tensor:
        raise BrokenError


@command
def main(seconds: float = 60.0) -> Iterator[object]:
    report = run(seconds)
    yield f"{report.traces:,} traces, and {report.failures:,} that failed on purpose"
    yield Aim("largest difference to the same trace alone", report.apart, 1e-5)
    yield Aim("tensors leaked", report.leaked, 0)
    yield Aim(f"left behind: {', '.join(report.left) or 'nothing'}", len(report.left), 0)


def run(seconds: float, least: int = 0) -> Report:
    """Traces for so long, and at least so often in each thread, then looks at what is left."""
    by_name = {architecture.name: architecture for architecture in ARCHITECTURES}
    models = [(by_name[name].build(), by_name[name].inputs()) for name in MODELS]
    plans = [(*each, edits) for each in models for edits in EDITS]
    alone = [_numbers(*plan) for plan in plans]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    before = _tensors()
    until = time.monotonic() + seconds

    def work(first: int) -> tuple[int, int, float]:
        good = bad = 0
        apart = [0.0]
        while good + bad < least or time.monotonic() < until:
            index = (first + good + bad) % len(plans)
            model, inputs, edits = plans[index]
            try:
                fails = (good + bad) % FAILING == first % FAILING
                numbers = _numbers(model, inputs, [Breaks()] if fails else edits)
            except BrokenError:
                bad += 1
            else:
                good += 1
                pairs = zip(numbers, alone[index], strict=True)
                apart = [max([*apart, *(float((a - b).abs().max()) for a, b in pairs)])]
        return good, bad, apart[0]

    with ThreadPoolExecutor(THREADS) as pool:
        good, bad, apart = zip(*pool.map(work, range(THREADS)), strict=True)
    torch.set_num_threads(threads)
    left = tuple(what for model, _ in models for what in _left(model))
    return Report(sum(good), sum(bad), max(apart), max(0, _tensors() - before), left)


def _numbers(model: nn.Module, inputs: Any, edits: list[Any]) -> list[Tensor]:
    t = trace(model, inputs, edits=edits)
    return [*(pattern.weights() for pattern in t.patterns), t.output.values]


def _left(model: nn.Module) -> list[str]:
    """Names of ours, hooks and recordings that outlived the traces."""
    left = ["a recording"] if _recording.get() is not None else []
    names = (config._attn_implementation_internal for config in configs_of(model))
    left += ["a name" for name in names if isinstance(name, TracedName)]
    return left + ["a hook" for part in model.modules() if part._forward_pre_hooks]


def _tensors() -> int:
    gc.collect()
    return sum(issubclass(type(each), Tensor) for each in gc.get_objects())


if __name__ == "__main__":
    sys.exit(main())
