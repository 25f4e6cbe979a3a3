"""The reprs of results: one line, with shapes in place of numbers."""

import pytest

from analysis.heads import heads
from analysis.relevance import explain
from analysis.split import split
from models.run import load, trace


@pytest.fixture(scope="module")
def results():
    model = load("induction")
    t = trace(model, "a b c a b", hidden=True)
    return {
        "Pattern": t.pattern(layer=1),
        "Output": t.output,
        "HeadValues": heads(t),
        "Projections": t.projections(1),
        "Relevance": explain(model, "a b c a b", target=None, method="chefer"),
        "Split": split(t, 1, 0, 3, 1),
    }


@pytest.mark.parametrize(
    "name",
    ["Pattern", "Output", "HeadValues", "Projections", "Relevance", "Split"],
)
def test_a_result_is_a_line_without_numbers_of_tensors(results, name) -> None:
    text = repr(results[name])
    assert text.startswith(f"{name}(")
    assert "\n" not in text
    assert "tensor(" not in text
    assert len(text) < 700


def test_tensors_are_named_by_their_shapes(results) -> None:
    pattern = results["Pattern"]
    assert f"q={' × '.join(map(str, pattern.q.shape))}, k=" in repr(pattern)
    assert "temperature" not in repr(pattern)  # none is set
