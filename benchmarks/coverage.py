"""Coverage of transformers architectures, compared with the library's eager attention.

    python -m benchmarks.coverage [--json] [--write] [--only BERT T5]

Each is built tiny, with weights drawn wide, saved by the library and opened from its folder; two
texts with padding, or two images of other sizes than it was built for. `--write` puts the table
into docs/coverage.md, with what eight threads do to one another in a minute (benchmarks.threads).
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from benchmarks import threads
from benchmarks.architectures import ARCHITECTURES, UNREACHED, Architecture
from benchmarks.measure import as_json, machine, table

DOC = Path(__file__).parents[1] / "docs" / "coverage.md"
AIM = 1e-5


@dataclass(frozen=True)
class Row:
    """One architecture.

    Attributes:
        name: of the architecture.
        model: the library's class.
        sites: how many places attended.
        kinds: of its attention.
        paths: how values were computed.
        weights: largest difference of any weight of a real token.
        output: largest difference of the output, over the largest number in it.
        reason: why it is not traced; empty if it is.
    """

    name: str
    model: str
    sites: int = 0
    kinds: str = ""
    paths: str = ""
    weights: float = 0.0
    output: float = 0.0
    reason: str = ""


def main(arguments: list[str] | None = None) -> int:
    """Try every architecture and print. Returns 1 if one differs by more than the aim."""
    options = parse(arguments)
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    chosen = [a for a in ARCHITECTURES if not options.only or a.name in options.only]
    rows = [tried(architecture) for architecture in chosen]
    rows += [] if options.only else [refused(*each) for each in UNREACHED]
    if options.json:
        print(
            as_json(
                {"machine": machine(("torch", "transformers")), "rows": list(map(asdict, rows))}
            )
        )
    else:
        print(table(HEAD, [cells(row) for row in rows]))
    if options.write:
        DOC.write_text(document(rows, threads.run(options.seconds)), encoding="utf-8")
    return int(any(row.weights > AIM or row.reason for row in rows[: len(chosen)]))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Which architectures of transformers are traced.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--write", action="store_true", help="write docs/coverage.md")
    parser.add_argument("--only", nargs="+", default=[], help="these architectures")
    parser.add_argument("--seconds", type=float, default=60.0, help="of eight threads, for --write")
    return parser.parse_args(arguments)


def tried(architecture: Architecture) -> Row:
    """One architecture, saved, opened and compared; what goes wrong is the reason."""
    from models.run import load

    name, model = architecture.name, architecture.model
    try:
        with tempfile.TemporaryDirectory() as place:
            built: Any = architecture.build()
            built.save_pretrained(place)
            theirs = type(built).from_pretrained(place)
            mine = load(place, door="transformers")
        given = [make() for make in (architecture.inputs, architecture.other) if make is not None]
        parts = [compared(theirs, mine, inputs) for inputs in given]
    except Exception as error:  # whatever it is, it is what the table has to say
        return Row(name, model, reason=f"{type(error).__name__}: {error!s:.90}")
    sites, kinds, paths = parts[0][2:]
    return Row(name, model, sites, kinds, paths, max(p[0] for p in parts), max(p[1] for p in parts))


def compared(
    theirs: nn.Module, mine: Any, inputs: dict[str, Any]
) -> tuple[float, float, int, str, str]:
    """Largest difference of weights and output, and what there was to compare."""
    from models.run import trace
    from models.verify import verify
    from tests.models.library import eager, stitched

    with torch.no_grad():
        expected = eager(theirs, inputs)
    found = trace(mine, inputs)
    weights = expected.weights
    if len(weights[0]) != found.patterns[0].batch:
        weights = list(stitched(theirs, inputs, expected))
    whole = [
        off(pattern, theirs, found.axes[site][0])
        for site, pattern, theirs in zip(found.sites, found.patterns, weights, strict=True)
    ]
    verdict = verify(mine, inputs)
    return (
        max(whole),
        verdict.difference / max(1.0, verdict.largest),
        len(found.sites),
        ", ".join(sorted({site.kind for site in found.sites})),
        ", ".join(sorted({pattern.path for pattern in found.patterns})),
    )


def off(pattern: Any, weights: Tensor, rows: Any) -> float:
    """Largest difference over rows of real tokens."""
    real = torch.zeros(pattern.batch, pattern.queries, dtype=torch.bool)
    for item in range(pattern.batch):
        real[item, rows.positions_of(item)] = True
    difference = (pattern.weights().detach() - weights).abs().amax((1, 3))
    return float(difference[real].max())


def refused(name: str, build: Callable[[], nn.Module]) -> Row:
    """An architecture that is not traced, and the reason it is given."""
    from models.run import load

    module = build()
    try:
        load(module)
    except ValueError as error:
        return Row(name, type(module).__name__, reason=str(error).partition(": ")[2] or str(error))
    return Row(name, type(module).__name__, reason="it should have been refused")


# --- the table ------------------------------------------------------------------------------------

HEAD = ["architecture", "class", "sites", "kinds", "path", "weights", "output"]


def cells(row: Row) -> list[str]:
    """One line of the table."""
    if row.reason:
        return [row.name, row.model, "–", "–", "–", "–", row.reason]
    numbers = [f"{row.weights:.1e}", f"{row.output:.1e}"]
    return [row.name, row.model, str(row.sites), row.kinds, row.paths, *numbers]


def document(rows: Sequence[Row], together: threads.Report) -> str:
    """docs/coverage.md."""
    traced = [row for row in rows if not row.reason]
    worst = max(row.weights for row in traced)
    lines = [
        "# Architectures of transformers that are traced",
        "",
        f"`python -m benchmarks.coverage --write` made this table with transformers"
        f" {version('transformers')} and torch {version('torch').partition('+')[0]}. Each model is"
        " tiny, with weights drawn wide (standard deviation 0.3), saved by the library and opened"
        " from its folder. *Weights* is the largest difference of any weight of a real token to"
        " the library's own eager attention, over all sites, with padding in front and behind, or"
        " with images of other sizes. *Output* is the largest difference of the model's untouched"
        " output to one in which every layer's values are made again from the weights shown, over"
        " the largest number in it.",
        "",
        f"{len(traced)} architectures are traced; the largest difference of a weight is"
        f" {worst:.1e}.",
        "",
        f"| {' | '.join(HEAD)} |",
        f"|{'---|' * len(HEAD)}",
        *(f"| {' | '.join(cells(row))} |" for row in traced),
        "",
        "## Not traced",
        "",
        "| architecture | class | why |",
        "|---|---|---|",
        *(f"| {row.name} | {row.model} | {row.reason} |" for row in rows if row.reason),
        "",
        "## At the same time",
        "",
        f"{threads.line(together)}.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
