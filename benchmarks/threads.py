"""Eight threads tracing three models at once: isolation and leaks.

    python -m benchmarks.threads [--seconds 60] [--json]

Some traces are edited, and some fail on purpose in the middle of a pass. Every result is compared
with the same trace made alone.
"""

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measure import as_json
from models.where import Where
from tests.models.architectures import ARCHITECTURES

THREADS, MODELS = 8, ("BERT", "Llama", "T5")
AIM = 1e-5  # float32; sums may be split otherwise among threads
FAILING = 7  # every so many traces one fails


@dataclass(frozen=True)
class Report:
    """The result of a run.

    Attributes:
        traces: that went well.
        failures: that were meant to fail, and did.
        apart: largest difference of a weight or output to the same trace alone.
        leaked: tensors that were there at the end and not before.
        left: what the traces left behind in the models, by name; nothing should.
    """

    traces: int
    failures: int
    apart: float
    leaked: int
    left: tuple[str, ...]

    @property
    def good(self) -> bool:
        return self.apart <= AIM and not self.leaked and not self.left


class BrokenError(ValueError):
    """What a failing trace raises."""


@dataclass(frozen=True)
class Breaks:
    """An edit that fails in the middle of a pass."""

    where: Where = Where(1)

    def edit_values(self, values: Tensor, pattern: Any) -> Tensor:
        raise BrokenError


def main(arguments: list[str] | None = None) -> int:
    """Run and print. Returns 1 if anything mixed, leaked or stayed."""
    parser = argparse.ArgumentParser(description="Eight threads tracing three models.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a line")
    options = parser.parse_args(arguments)
    report = run(options.seconds)
    print(as_json(asdict(report)) if options.json else line(report))
    return int(not report.good)


def line(report: Report) -> str:
    """The report in a sentence."""
    return (
        f"{report.traces:,} traces and {report.failures:,} that failed on purpose, in {THREADS}"
        f" threads over {', '.join(MODELS)}: largest difference to the same alone"
        f" {report.apart:.1e}, {report.leaked} tensors leaked,"
        f" left behind: {', '.join(report.left) or 'nothing'}"
    )


def run(seconds: float, least: int = 0) -> Report:
    """Traces for so long, and at least so often in each thread, then looks at what is left."""
    by_name = {architecture.name: architecture for architecture in ARCHITECTURES}
    models = [(by_name[name].build(), by_name[name].inputs()) for name in MODELS]
    plans = [(*each, edits) for each in models for edits in _edits()]
    alone = [_numbers(*plan) for plan in plans]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    before = _tensors()
    until = time.monotonic() + seconds

    def work(first: int) -> tuple[int, int, float]:
        good = bad = 0
        worst = 0.0
        while good + bad < least or time.monotonic() < until:
            index = (first + good + bad) % len(plans)
            model, inputs, edits = plans[index]
            if (good + bad) % FAILING == first % FAILING:
                bad += _fails(model, inputs)
            else:
                good += 1
                worst = max(worst, _apart(_numbers(model, inputs, edits), alone[index]))
        return good, bad, worst

    with ThreadPoolExecutor(THREADS) as pool:
        done = list(pool.map(work, range(THREADS)))
    torch.set_num_threads(threads)
    left = tuple(what for model, _ in models for what in _left(model))
    good, bad, worst = zip(*done, strict=True)
    return Report(sum(good), sum(bad), max(worst), max(0, _tensors() - before), left)


def _edits() -> tuple[tuple[Any, ...], ...]:
    from models.edits import Ablate, Temperature

    return (), (Ablate(1, 2),), (Temperature(0.5, layer=0),)


def _numbers(model: nn.Module, inputs: Any, edits: Sequence[Any]) -> list[Tensor]:
    from models.run import trace

    t = trace(model, inputs, edits=edits)
    return [*(pattern.weights() for pattern in t.patterns), t.output.values]


def _apart(these: list[Tensor], those: list[Tensor]) -> float:
    return max(float((a - b).abs().max()) for a, b in zip(these, those, strict=True))


def _fails(model: nn.Module, inputs: Any) -> int:
    """1 if the trace failed as it was meant to."""
    from models.run import trace

    try:
        trace(model, inputs, edits=[Breaks()])
    except BrokenError:
        return 1
    return 0


def _left(model: nn.Module) -> list[str]:
    """Names of ours, hooks and recordings that outlived the traces."""
    from models.pretrained.attention_modules import configs_of
    from models.pretrained.implementation import TracedName
    from models.pretrained.interface import _recording

    leftovers = ["a recording"] if _recording.get() is not None else []
    names = (config._attn_implementation_internal for config in configs_of(model))
    leftovers += ["a name" for name in names if isinstance(name, TracedName)]
    return leftovers + ["a hook" for part in model.modules() if part._forward_pre_hooks]


def _tensors() -> int:
    gc.collect()
    return sum(issubclass(type(each), Tensor) for each in gc.get_objects())


if __name__ == "__main__":
    sys.exit(main())
