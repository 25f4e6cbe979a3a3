"""The numbers of the figures on attention of one head, against plain loops and closed forms."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz.api import routes

QKV = {
    "word": 2,
    "x": [2, 0, 1, 0, 2, 1, 0, 0, 2],
    "wq": [-0.7, -0.2, 0.8, 0.4, -0.9, 0.4],
    "wk": [1.9, 1.1, -1.3, -0.6, 0.1, 0.8],
    "wv": [1.0, -0.9, 0.1, 1.0, 1.4, -1.0],
    "dq": [0.5, -0.25],
    "dk": [0, 0, 0.5, 0.75, 0, 0],
}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = Starlette(routes=routes(lambda: ["127.0.0.1"]))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def ask(client: TestClient, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a figure over HTTP."""
    lists = {key: each if isinstance(each, list) else [each] for key, each in inputs.items()}
    texts = {key: ";".join(map(str, each)) for key, each in lists.items()}
    found = client.get(f"/api/figure/{name}", params=texts)
    assert found.status_code == 200, found.text
    return found.json()


def test_query_key_value_against_plain_loops(client: TestClient) -> None:
    found = ask(client, "query_key_value", QKV)
    x = [QKV["x"][3 * i : 3 * i + 3] for i in range(3)]

    def projected(matrix: list[float]) -> list[list[float]]:
        return [[sum(matrix[3 * f + i] * row[i] for i in range(3)) for f in (0, 1)] for row in x]

    q, k, v = (projected(QKV[name]) for name in ("wq", "wk", "wv"))
    keys = [[k[i][f] + QKV["dk"][2 * i + f] for f in (0, 1)] for i in range(3)]
    query = [q[2][f] + QKV["dq"][f] for f in (0, 1)]
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(2) for key in keys]
    exps = [math.exp(score) for score in scores]
    weights = [each / sum(exps) for each in exps]
    output = [sum(w * value[f] for w, value in zip(weights, v, strict=True)) for f in (0, 1)]
    for name, wanted in (("query", query), ("scores", scores), ("weights", weights)):
        assert found[name] == pytest.approx(wanted, rel=1e-5)
    assert found["output"] == pytest.approx(output, rel=1e-5)
    assert sum(map(sum, found["contributions"])) == pytest.approx(sum(output), rel=1e-5)
    whole = torch.softmax(torch.tensor(q) @ torch.tensor(k).T / math.sqrt(2), -1)
    assert found["all_weights"] == [pytest.approx(row, rel=1e-5) for row in whole.tolist()]
    wanted = (whole @ torch.tensor(v)).tolist()
    assert found["all_outputs"] == [pytest.approx(row, rel=1e-4, abs=1e-6) for row in wanted]


@pytest.mark.parametrize(
    ("name", "other", "moved", "still"),
    [
        ("x", [1, 0, 1, 0, 2, 1, 0, 0, 2], "k all_scores scores output", "query"),
        ("wq", [1, 0, 0, 0, 1, 0], "query scores weights output all_outputs", "k v keys"),
        ("wk", [1, 0, 0, 0, 1, 0], "k keys scores weights output", "query v"),
        ("wv", [1, 0, 0, 0, 1, 0], "v output all_outputs", "scores weights"),
        ("dq", [1, 1], "query scores weights output", "q all_scores v"),
        ("dk", [1, 1, 0, 0, 0, 0], "keys scores weights output", "k all_scores v"),
        ("word", 0, "query scores weights output", "all_scores keys"),
    ],
)
def test_what_an_input_of_query_key_value_moves(
    client: TestClient, name: str, other: object, moved: str, still: str
) -> None:
    before, after = (
        ask(client, "query_key_value", inputs) for inputs in (QKV, {**QKV, name: other})
    )
    assert all(before[each] != after[each] for each in moved.split())
    assert all(before[each] == after[each] for each in still.split())
