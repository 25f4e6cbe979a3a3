"""The worked notebooks: every cell runs, in order, and its last value can be shown."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.shown_code import beside_the_facade

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
EXERCISES = sorted(FOLDER.glob("exercises/*.ipynb"))


def cells(path: Path) -> list[str]:
    book = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(each["source"]) for each in book["cells"] if each["cell_type"] == "code"]


def run(source: str, names: dict[str, Any]) -> Any:
    """The value of a cell's last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path: Path) -> None:
    names: dict[str, Any] = {}
    shown = 0
    for source in cells(path):
        value = run(source, names)
        if hasattr(value, "_repr_mimebundle_"):
            data, _ = value._repr_mimebundle_()
            assert {"application/vnd.jupyter.widget-view+json", "image/png"} <= data.keys()
            shown += 1
    assert shown == sum("explore(" in source for source in cells(path))


@pytest.mark.parametrize("path", [*NOTEBOOKS, *EXERCISES], ids=lambda path: path.stem)
def test_cells_use_the_facade_alone(path: Path) -> None:
    assert [name for source in cells(path) for name in beside_the_facade(source)] == []
