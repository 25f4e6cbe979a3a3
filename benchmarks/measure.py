"""Shared by the benchmarks: interleaved rounds, spreads, aims, tables, and the command line.

Load and clock speed vary over time, so measuring cases one after the other is not comparable. Cases
are interleaved, the order within a round rotates, and ratios are taken within a round.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("torch", "transformers", "streamlit", "playwright")


@dataclass(frozen=True)
class Spread:
    """Repeated measurements, shown as "1.03 (0.99–1.08)": the median, and where 8 of 10 lie.

    NaN is one that got lost.
    """

    values: Sequence[float]

    def quantile(self, share: float) -> float:
        return float(np.nanquantile(self.values, share))

    @property
    def median(self) -> float:
        return self.quantile(0.5)

    @property
    def p95(self) -> float:
        return self.quantile(0.95)

    @property
    def latency(self) -> str:
        """As in "17.5/30.3": p50 and p95."""
        lost = int(np.isnan(self.values).sum())
        return f"{number(self.median)}/{number(self.p95)}{f', {lost} LOST' if lost else ''}"

    def __str__(self) -> str:
        low, high = (number(self.quantile(share)) for share in (0.1, 0.9))
        if len(self.values) == 1:
            return number(self.median)
        return f"{number(self.median)} ({low}–{high})"


@dataclass(frozen=True)
class Table:
    """Rows of names and cells, in Markdown; an empty cell is None."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __str__(self) -> str:
        cells = [[_text(cell) for cell in row] for row in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        cells.insert(1, ["-" * width for width in widths])
        padded = ([*map(str.ljust, row, widths)] for row in cells)
        return "\n".join(f"| {' | '.join(row)} |" for row in padded)


@dataclass(frozen=True)
class Aim:
    """The most that something may be."""

    what: str
    value: float
    most: float

    def __str__(self) -> str:
        verdict = "met" if self.value <= self.most else "MISSED"
        return f"aim: {self.what} ≤ {number(self.most)}: {number(self.value)}, {verdict}"


def number(value: float) -> str:
    """Three digits, or as many as there are before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _text(cell: object) -> str:
    if isinstance(cell, float):
        return number(cell)
    return "–" if cell is None else str(cell)


def rotations(cases: Sequence[Any], rounds: int) -> Iterator[list[Any]]:
    """The order of each round: every case once, and in every position equally often."""
    for index in range(rounds):
        first = index % len(cases)
        yield [*cases[first:], *cases[:first]]


def interleaved(
    cases: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    settle: Callable[[], object] = lambda: None,
    clock: Callable[[], float] = time.perf_counter,
    warm: bool = True,
) -> dict[str, list[float]]:
    """Seconds each case took, round by round: entry i of every list is from round i.

    Args:
        cases: what to time, by name.
        rounds: how often.
        settle: waits for work that a case only started (a GPU's queue).
        clock: in seconds.
        warm: whether each case runs once, untimed, before the first round.
    """
    for case in cases.values() if warm else ():
        case()
    settle()
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for order in rotations([*cases], rounds):
        for name in order:
            start = clock()
            result = cases[name]()
            settle()
            seconds[name].append(clock() - start)
            del result  # freeing is not timed
    return seconds


def ratios(these: Sequence[float], those: Sequence[float]) -> Spread:
    """Pair by pair: how many times longer these took than those."""
    return Spread([this / that for this, that in zip(these, those, strict=True)])


def command(measured: Callable[..., Iterable[object]]) -> Callable[..., int]:
    """The `main` of a benchmark, from a function that makes its tables, aims and sentences.

    Its parameters are the options: False is a flag, a tuple takes several values. The docstring of
    its module says what they are. `main` takes arguments, those of the process if there are none,
    prints the parts, and returns 1 if an aim was missed.
    """

    def main(arguments: Sequence[str] | None = None) -> int:
        doc, formatter = measured.__globals__["__doc__"], argparse.RawDescriptionHelpFormatter
        parser = argparse.ArgumentParser(description=doc, formatter_class=formatter)
        for name, parameter in signature(measured).parameters.items():
            value = parameter.default
            how: dict[str, Any] = {"action": "store_true"}
            if isinstance(value, tuple):
                how = {"type": type(value[0]), "nargs": "+"}
            elif value is not False:
                how = {"type": type(value)}
            parser.add_argument(f"--{name.replace('_', '-')}", default=value, **how)
        missed = False
        try:
            for part in chain([machine()], measured(**vars(parser.parse_args(arguments)))):
                print(part, end="\n\n", flush=True)
                missed |= isinstance(part, Aim) and part.value > part.most
        except (RuntimeError, ValueError) as error:
            print(f"{parser.prog}: {error}", file=sys.stderr)
            return 1
        return int(missed)

    return main


def machine() -> str:
    """Processor, load, threads and versions in one line."""
    processor = platform.processor()
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
        processor = next(names, processor)
    load, threads = os.getloadavg()[0], os.environ.get("OMP_NUM_THREADS", "all")
    facts = (f"{os.cpu_count()} cpus", f"load {load:.1f}", f"{threads} threads")
    versions = (f"{name} {version(name)}" for name in PACKAGES)
    return " · ".join([processor, *facts, f"Python {platform.python_version()}", *versions])
