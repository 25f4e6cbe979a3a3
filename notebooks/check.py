"""Checks the exercises: `python -m notebooks.check [name …]` reports what is wrong, and where.

It runs the cells of the notebooks in notebooks/exercises, on the machine it is called on; in a
notebook, `check("attention", attention)` does the same for one function. `--solutions` prints the
model solutions and checks them.
"""

import argparse
import ast
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from notebooks import solutions
from notebooks.grading import attention, ends, layers
from notebooks.grading.exercise import SHAPES, Exercise, judge, stopped

FOLDER = Path(__file__).with_name("exercises")


@cache
def exercises() -> Mapping[str, Exercise]:
    """All exercises by the name of their function, in the order of the notebooks."""
    every = (*attention.exercises(), *layers.exercises(), *ends.exercises())
    return {each.name: each for each in sorted(every, key=lambda each: each.notebook)}


def check(name: str, written: Callable[..., Any]) -> None:
    """Says in a notebook whether a function is right, and if not, what is wrong and where.

    Raises:
        ValueError: for a name that is no exercise.
    """
    if name not in exercises():
        raise ValueError(f"expected one of {', '.join(exercises())}, received {name!r}")
    sys.stdout.write(verdict(name, written) + "\n")


def verdict(name: str, written: Callable[..., Any] | None) -> str:
    """One line, or a few with hints."""
    problem = judge(exercises()[name], written)
    return f"✗ {name}: {problem}" if problem else f"✓ {name} is right"


def of_notebook(path: Path) -> Iterator[str]:
    """The verdict on every exercise of a notebook; one line if a cell of it cannot run."""
    names: dict[str, Any] = {}
    for number, source in enumerate(cells(path), 1):
        file = f"cell {number}"
        try:
            exec(compile(_without_checks(source), file, "exec"), names)
        except Exception as error:  # a slip in the cell itself, such as a bracket that is missing
            yield f"✗ {path.name}: {stopped(error, file, SHAPES)}"
            return
    for exercise in exercises().values():
        if exercise.notebook == path.stem:
            yield verdict(exercise.name, names.get(exercise.name))


def cells(path: Path) -> list[str]:
    """The code cells of a notebook."""
    book = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(each["source"]) for each in book["cells"] if each["cell_type"] == "code"]


def _without_checks(source: str) -> ast.Module:
    """A cell without its calls of `check`, whose verdicts come at the end."""
    tree = ast.parse(source)
    tree.body = [each for each in tree.body if not _is_check(each)]
    return tree


def _is_check(line: ast.stmt) -> bool:
    call = line.value if isinstance(line, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "check"


def solved(names: list[str]) -> Iterator[str]:
    """The source of every model solution, and its verdict."""
    for name in names:
        written = getattr(solutions, name)
        yield f"{inspect.getsource(written)}\n# {verdict(name, written)}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the exercises.")
    parser.add_argument("name", nargs="*", help="of a function or a notebook; all without a name")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the notebooks are")
    parser.add_argument("--solutions", action="store_true", help="print and check the solutions")
    options = parser.parse_args()
    books = sorted(options.folder.glob("*.ipynb"))
    known = [*exercises(), *(path.stem for path in books)]
    if unknown := [name for name in options.name if name.removesuffix(".ipynb") not in known]:
        parser.error(f"expected names among {', '.join(known)}, received {', '.join(unknown)}")
    wanted = {name.removesuffix(".ipynb") for name in options.name or known}
    chosen = [each for each in exercises().values() if {each.name, each.notebook} & wanted]
    if options.solutions:
        lines = list(solved([each.name for each in chosen]))
    else:
        notebooks = {each.notebook for each in chosen}
        lines = [line for path in books if path.stem in notebooks for line in of_notebook(path)]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(any("✗" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
