"""Coverage of transformers model types, compared with the library's own eager attention.

    python -m benchmarks.coverage [--json] [--write] [--only bert t5] [--family vision audio]
                                  [--rows FILE]

Every model type of the installed transformers that can be built tiny from its config is tried: a
batch of two, padded right and left, its second item alone, and in bfloat16. Each map is compared
with the weights that the library's eager attention leaves, row by row, and the output with that of
the untouched model. `--write` puts the table into docs/coverage.md, with what eight threads do to
one another in a minute (benchmarks.threads). `--rows FILE` keeps every row in a file: a run that
was stopped goes on where it was, if neither the code nor the libraries have changed.
"""

import argparse
import gc
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import transformers

from benchmarks import threads
from benchmarks.coverage import report
from benchmarks.coverage.rows import RowFile
from benchmarks.coverage.tiny import model_types
from benchmarks.coverage.trying import Row, tried
from benchmarks.measure import as_json, machine, table

DOC = Path(__file__).parents[2] / "docs" / "coverage.md"


def main(arguments: list[str] | None = None) -> int:
    """Try every model type and print. Returns 1 if one is broken."""
    options = parse(arguments)
    warnings.simplefilter("ignore")
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    rows, file = [], None if options.rows is None else RowFile(options.rows)
    known = {} if file is None else file.read()
    for row in tried_types(options.only, options.family, known):
        rows.append(row)
        if file is not None and row.name not in known:
            file.add(row)
        if not options.quiet and row.name not in known:
            print(report.progress(row), file=sys.stderr, flush=True)
    if options.json:
        content = {"machine": machine(("torch", "transformers")), "rows": [asdict(r) for r in rows]}
        print(as_json(content))
    else:
        tried = [row for row in rows if row.result != "untried"]
        print(table(report.HEAD, [report.cells(row) for row in report.in_order(tried)]))
        print(report.summary(rows))
    if options.write:
        page = report.document(rows, threads.run(options.seconds))
        DOC.write_text(page, encoding="utf-8")
    return int(any(row.result == "broken" for row in rows))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Which model types of transformers are traced.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--write", action="store_true", help="write docs/coverage.md")
    parser.add_argument("--only", nargs="+", default=[], help="these model types")
    parser.add_argument(
        "--family", nargs="+", default=[], help="families: the first word is enough"
    )
    parser.add_argument("--rows", type=Path, help="keep the rows in this file, to go on from")
    parser.add_argument("--quiet", action="store_true", help="no line for each type on stderr")
    parser.add_argument("--seconds", type=float, default=60.0, help="of eight threads, for --write")
    return parser.parse_args(arguments)


def tried_types(
    only: Sequence[str] = (),
    families: Sequence[str] = (),
    known: dict[str, Row] | None = None,
) -> Iterator[Row]:
    """The row of each model type; those that are known already are not tried again."""
    for kind in model_types(only):
        if isinstance(kind, tuple):
            if not families:
                yield Row(kind[0], reason=kind[1])
        elif families and not any(part in kind.family for part in families):
            continue
        elif known and kind.name in known:
            yield known[kind.name]
        else:
            yield tried(kind)
            gc.collect()


if __name__ == "__main__":
    sys.exit(main())
