"""The notebook benchmark: its notebook and its table by hand."""

import ast
import json

import pytest

from benchmarks import notebook
from benchmarks.measure import Spread


def test_the_notebook_is_one_that_jupyter_reads() -> None:
    book = json.loads(notebook.notebook(16))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    sources = [cell["source"] for cell in book["cells"]]
    assert "max_tokens=16" in sources[0]
    for source in sources:
        ast.parse(source)


@pytest.mark.parametrize(("p95", "verdict"), [(99.0, "met"), (101.0, "MISSED")])
def test_the_slower_of_the_two_decides(p95: float, verdict: str) -> None:
    slow, fast = Spread(50.0, 40.0, 60.0, p95, 20), Spread.of([20.0, 21.0])
    result = {"tokens": 512, "hover": fast, "head": slow, "reopened": "the view"}
    told = notebook.text({"machine": {"cpus": 2}, "results": [result]})
    assert f"50 / {p95:.0f}" in told
    assert verdict in told.splitlines()[-1].split()
    assert told.endswith("the view")
