"""Model types of transformers that are traced, verified against the library's own eager attention.

    python -m benchmarks.coverage [--types bert t5 …]

Each type (the families of `families.py`, or those that are named) is built tiny from its default
config with random weights, with each of its usual heads, and `models.verify` compares each map with
that of the library's eager attention, and the output with that of the untouched model, for a batch
of two, whole and padded on either side. docs/coverage.md has what it prints.
"""

import logging
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
import transformers
from torch import nn

from benchmarks.coverage.families import FAMILIES
from benchmarks.coverage.inputs import Inputs, padded, run, runnable
from benchmarks.coverage.tiny import build, classes_of
from benchmarks.measure import Aim, Table, command
from models.run import load
from models.verify import verify

AIM = 1e-4  # float32, two layers, scores up to 50
MAIN = re.compile("input_|pixel_values")  # inputs that the others describe
HEAD = ("type", "heads", "inputs", "traced", "weights", "output")
EVERY = tuple(name for names in FAMILIES.values() for name in names.split())


@dataclass(frozen=True)
class Row:
    """One head of a model type, with the largest differences from the library."""

    head: str  # what is on top of the network
    result: str  # "traced", "refused", "wrong" or "not built"
    inputs: str = ""
    reason: str = ""  # why it is not traced
    weights: float = 0.0
    output: float = 0.0


@command
def main(types: tuple[str, ...] = EVERY) -> Iterator[object]:
    warnings.simplefilter("ignore")
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity(logging.CRITICAL)
    every: list[Row] = []
    families = {**FAMILIES, "Others": " ".join(sorted({*types} - {*EVERY}))}
    for family, names in families.items():
        lines = []
        for name in names.split():
            if name in types:
                print(name, file=sys.stderr)
                rows = [*tried(name)]
                lines.append(line(name, rows))
                every += rows
        if lines:
            yield f"## {family}"
            yield Table(HEAD, lines)
    traced = [row for row in every if row.result == "traced"]
    yield f"{len(traced)} of {len(every)} heads of {len(types)} types are traced."
    yield Aim(
        "largest difference of a weight", max((row.weights for row in traced), default=0), AIM
    )
    yield Aim("traced wrong", sum(row.result == "wrong" for row in every), 0)


def line(name: str, rows: Sequence[Row]) -> list[str]:
    """The line of a type: the heads that were tried, and the largest differences."""
    traced = [row for row in rows if row.result == "traced"]
    said = ["yes"] if traced else []
    said += [f"{row.result} ({row.head}): {row.reason}" for row in rows if row not in traced]
    inputs = dict.fromkeys(each for row in rows for each in row.inputs.split(", ") if each)
    largest = [max((getattr(row, n) for row in traced), default=torch.nan) for n in HEAD[-2:]]
    heads = ", ".join(row.head for row in rows)
    return [name, heads, ", ".join(inputs), "; ".join(said), *(f"{each:.1e}" for each in largest)]


def tried(name: str) -> Iterator[Row]:
    """A model type with each of its heads; what goes wrong is in the row."""
    try:
        heads = classes_of(name)
    except Exception as error:
        yield Row("–", "not built", reason=one_line(error))
        return
    for head in heads:
        try:
            model, inputs = running(name, head)
        except Exception as error:
            yield Row(head, "not built", reason=one_line(error))
        else:
            row = Row(head, "traced", ", ".join(each for each in inputs if MAIN.search(each)))
            yield verified(row, model, inputs)


def running(name: str, head: str) -> tuple[nn.Module, Inputs]:
    """A model, and inputs that it runs.

    A model whose parts do not fit once every width is small keeps its widths; where neither runs,
    the error is that of the small one.
    """
    errors = []
    for widths in (True, False):
        try:
            model = build(name, head, widths=widths)
            return model, runnable(model)
        except Exception as error:
            errors.append(error)
    raise errors[0]


def verified(row: Row, model: nn.Module, inputs: Inputs) -> Row:
    """The row of a model that runs, from its batch whole and padded on either side."""
    try:
        load(model)
    except ValueError as error:
        return replace(row, result="refused", reason=one_line(error))
    for batch in (inputs, padded(inputs, left=False), padded(inputs, left=True)):
        if batch is None:
            continue
        try:
            run(model, batch)
        except Exception:  # the library does not run it padded
            continue
        try:
            verdict = verify(model, batch)
        except Exception as error:
            return replace(row, result="wrong", reason=one_line(error))
        output = verdict.traced / max(1.0, verdict.largest)
        row = replace(row, weights=max(row.weights, verdict.maps), output=max(row.output, output))
        problems = verdict.problems(AIM) if verdict.compared else ("no map has a counterpart",)
        if problems:
            return replace(row, result="wrong", reason="; ".join(problems))
    return row


def one_line(error: BaseException) -> str:
    """An error in one line, with its class where it is none of a user's."""
    line = (str(error).strip().splitlines() or [""])[0][:300]
    readable = isinstance(error, ValueError)
    return line if readable else f"{type(error).__name__}: {line}"


if __name__ == "__main__":
    sys.exit(main())
