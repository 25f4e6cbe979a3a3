"""Shared by the benchmarks: interleaved rounds, statistics, tables, machine info.

Load and clock speed vary over time, so measuring cases one after the other is not comparable. Cases
are interleaved, the order within a round rotates, and ratios are taken within a round, not between
medians.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Spread:
    """Summary statistics of repeated measurements."""

    median: float
    p10: float
    p90: float
    p95: float
    count: int

    @staticmethod
    def of(values: Sequence[float]) -> "Spread":
        """Raises ValueError where nothing was measured."""
        if not values:
            raise ValueError("expected at least one measurement, received none")
        p10, p90, p95 = (percentile(values, share) for share in (0.10, 0.90, 0.95))
        return Spread(median(values), p10, p90, p95, len(values))

    def text(self, digits: int = 2) -> str:
        """As in "1.03 (0.99–1.08)": the median, and where eight of ten lie."""
        return f"{self.median:.{digits}f} ({self.p10:.{digits}f}–{self.p90:.{digits}f})"


def percentile(values: Sequence[float], share: float) -> float:
    """The quantile of a share, with linear interpolation."""
    ranked = sorted(values)
    place = share * (len(ranked) - 1)
    below = int(place)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (place - below) * (ranked[above] - ranked[below])


def rotations(names: Sequence[str], rounds: int) -> Iterator[tuple[str, ...]]:
    """The order of each round: every name once, and in every position equally often."""
    for index in range(rounds):
        first = index % len(names)
        yield (*names[first:], *names[:first])


def interleaved(
    cases: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    settle: Callable[[], object] = lambda: None,
) -> dict[str, list[float]]:
    """Seconds each case took, round by round: entry i of every list is from round i.

    Args:
        cases: what to time, by name; each runs once, untimed, before the first round.
        rounds: how often.
        settle: waits for work that a case only started (a GPU's queue).
    """
    for case in cases.values():
        case()
    settle()
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for order in rotations(list(cases), rounds):
        for name in order:
            start = time.perf_counter()
            result = cases[name]()
            settle()
            seconds[name].append(time.perf_counter() - start)
            del result  # freeing is not timed
    return seconds


def ratios(these: Sequence[float], those: Sequence[float]) -> list[float]:
    """Pair by pair: how many times longer these took than those."""
    return [this / that for this, that in zip(these, those, strict=True)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text: the first to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def machine(packages: Sequence[str]) -> dict[str, Any]:
    """The system, processor and package versions."""
    facts: dict[str, Any] = {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cpus": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "load": [round(share, 2) for share in os.getloadavg()] if hasattr(os, "getloadavg") else [],
        "python": platform.python_version(),
    }
    for package in packages:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    return facts


def machine_line(facts: Mapping[str, Any]) -> str:
    """The machine in one line."""
    return " · ".join(
        f"{name} {' '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in facts.items()
        if value not in ("", [])
    )


def as_json(result: Mapping[str, Any]) -> str:
    """The result as JSON; every `Spread` becomes an object."""
    return json.dumps(result, default=_plain, ensure_ascii=False, indent=2)


def _plain(value: object) -> object:
    if isinstance(value, Spread):
        return asdict(value)
    raise TypeError(f"expected plain values and spreads, received {type(value).__name__}")


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [
                line.split(":", 1)[1].strip() for line in file if line.startswith("model name")
            ]
    except OSError:
        names = []
    return names[0] if names else platform.processor()
