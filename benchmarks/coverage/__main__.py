"""Model types of transformers that are traced, compared with the library's own eager attention.

    python -m benchmarks.coverage [bert t5 …] [--write]

Each type (the families of `families.py`, or those that are named) is built tiny from its default
config with random weights, with each of its usual heads; a batch of two goes through, padded on
either side. Each map is compared with the softmax that the library's eager attention computes, and
the output with that of the untouched model. `--write` puts the table into docs/coverage.md.
"""

import argparse
import logging
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
import transformers
from torch import nn

from benchmarks.coverage.families import FAMILIES
from benchmarks.coverage.inputs import Inputs, padded, runnable
from benchmarks.coverage.judging import AIM, MismatchError, output_apart, weights_apart
from benchmarks.coverage.library import SEED, run, watched
from benchmarks.coverage.tiny import build, classes_of, eager_copy
from benchmarks.measure import table
from models.run import load, trace

MAIN = re.compile("input_|pixel_values")  # inputs that the others describe
DOC = Path(__file__).parents[2] / "docs" / "coverage.md"
HEAD = ["type", "heads", "inputs", "traced", "weights", "output"]


@dataclass(frozen=True)
class Row:
    """One head of a model type.

    Attributes:
        name: of the type.
        head: what is on top of the network.
        result: "traced", "refused", "wrong" or "not built".
        inputs: what went in.
        reason: why it is not traced.
        weights: the largest difference of a weight.
        output: the largest difference of the output, over the largest number in it.
    """

    name: str
    head: str
    result: str
    inputs: str = ""
    reason: str = ""
    weights: float = 0.0
    output: float = 0.0


def main(arguments: list[str] | None = None) -> int:
    """Tries the types and prints the table. Returns 1 if one is traced wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks.coverage", description=__doc__)
    parser.add_argument("types", nargs="*", help="model types (default: those of families.py)")
    parser.add_argument("--write", action="store_true", help="write docs/coverage.md")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity(logging.CRITICAL)
    every = [name for names in FAMILIES.values() for name in names.split()]
    rows: list[Row] = []
    for name in options.types or every:
        for row in tried(name):
            rows.append(row)
            print(f"{name} ({row.head}): {row.result} {row.reason}".strip(), file=sys.stderr)
    print(table(HEAD, cells(rows)), summary(rows), sep="\n\n")
    if options.write:
        DOC.write_text(document(rows), encoding="utf-8")
    return int(any(row.result == "wrong" for row in rows))


def tried(name: str) -> Iterator[Row]:
    """A model type with each of its heads; what goes wrong is in the row."""
    try:
        heads = classes_of(name)
    except Exception as error:
        yield Row(name, "–", "not built", reason=one_line(error))
        return
    for head in heads:
        try:
            model, reference, inputs = running(name, head)
        except Exception as error:
            yield Row(name, head, "not built", reason=one_line(error))
        else:
            row = Row(name, head, "traced", ", ".join(n for n in inputs if MAIN.search(n)))
            yield compared(row, model, reference, inputs)


def running(name: str, head: str) -> tuple[nn.Module, nn.Module, Inputs]:
    """A model, the same with eager attention, and inputs that it runs.

    A model whose parts do not fit once every width is small keeps its widths; where neither runs,
    the error is that of the small one.
    """
    errors = []
    for widths in (True, False):
        try:
            model = build(name, head, widths=widths)
            reference = eager_copy(model)
            return model, reference, runnable(reference, partial(watched, reference))
        except Exception as error:
            errors.append(error)
    raise errors[0]


def compared(row: Row, model: nn.Module, reference: nn.Module, inputs: Inputs) -> Row:
    """The row of a model that runs, from its batch whole and padded on either side."""
    try:
        load(model)
    except ValueError as error:
        return replace(row, result="refused", reason=one_line(error))
    for batch in (inputs, padded(inputs, left=False), padded(inputs, left=True)):
        if batch is None:
            continue
        try:
            weights, output = apart(model, reference, batch)
        except Exception as error:
            return replace(row, result="wrong", reason=one_line(error))
        row = replace(row, weights=max(row.weights, weights), output=max(row.output, output))
    if row.weights > AIM or row.output > 10 * AIM:
        return replace(row, result="wrong", reason="weights or output differ")
    return row


def apart(model: nn.Module, reference: nn.Module, inputs: Inputs) -> tuple[float, float]:
    """The largest difference of a weight and of the output; none if the library does not run it.

    Raises:
        MismatchError: for maps that have no counterpart.
        Exception: what the trace raises.
    """
    try:
        expected, untouched = watched(reference, inputs), run(model, inputs)
    except Exception:
        return 0.0, 0.0
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        traced = trace(model, inputs)
    return weights_apart(traced, expected), output_apart(traced, untouched, inputs)


def one_line(error: BaseException) -> str:
    """An error in one line, with its class where it is none of a user's."""
    line = (str(error).strip().splitlines() or [""])[0][:300]
    readable = isinstance(error, MismatchError | ValueError)
    return line if readable else f"{type(error).__name__}: {line}"


def cells(rows: Sequence[Row]) -> list[list[str]]:
    """A line for each type: the heads that were tried, and the largest differences."""
    lines = []
    for name in dict.fromkeys(row.name for row in rows):
        here = [row for row in rows if row.name == name]
        traced = [row for row in here if row.result == "traced"]
        others = [f"{row.result} ({row.head}): {row.reason}" for row in here if row not in traced]
        inputs = dict.fromkeys(each for row in here for each in row.inputs.split(", ") if each)
        lines.append([name, ", ".join(row.head for row in here), ", ".join(inputs)])
        lines[-1].append("; ".join([*(["yes"] if traced else []), *others]))
        for number in ("weights", "output"):
            largest = max((getattr(row, number) for row in traced), default=None)
            lines[-1].append("–" if largest is None else f"{largest:.1e}")
    return lines


def summary(rows: Sequence[Row]) -> str:
    """How many types and heads are traced, and the largest difference, in one sentence."""
    traced = [row for row in rows if row.result == "traced"]
    types, every = ({row.name for row in some} for some in (traced, rows))
    largest = max((row.weights for row in traced), default=0.0)
    return (
        f"{len(types)} of {len(every)} types are traced, with {len(traced)} of {len(rows)} heads;"
        f" the largest difference of a weight is {largest:.1e}."
    )


def document(rows: Sequence[Row]) -> str:
    """docs/coverage.md."""
    versions = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}
    lines = [INTRODUCTION.format(**versions)]
    lines += [summary(rows), ""]
    for family, names in FAMILIES.items():
        here = [row for row in rows if row.name in names.split()]
        if here:
            lines += [f"## {family}", "", f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
            lines += [*(f"| {' | '.join(line)} |" for line in cells(here)), ""]
    return "\n".join(lines)


INTRODUCTION = """\
# Model types of transformers that are traced

Any type whose layers look up their attention in the library's `AttentionInterface` opens, listed
here or not. A type that computes its weights itself is refused by the name of the layer.
`python -m benchmarks.coverage --write` made this page, with transformers {transformers} and torch
{torch}; `python -m benchmarks.coverage NAME` tries any other type.

- *weights*: the largest difference of any weight shown to the library's own eager attention, in
  float32, over a batch of two that is whole, padded on the right and padded on the left.
- *output*: that of the traced output to the untouched model's, over the largest number in it.
"""

if __name__ == "__main__":
    sys.exit(main())
