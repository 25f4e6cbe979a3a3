"""The numbers of the figures on attention of one head, against plain loops and closed forms."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from starlette.testclient import TestClient

QKV = {
    "word": 1,
    "x": [1, 0, 1, 0, 2, 1, 0, 0, 2],
    "wq": [-0.5, -0.2, 0.8, 0.4, -0.9, 0.4],
    "wk": [1.7, 1.1, -1.3, -0.6, 0.1, 0.8],
    "wv": [0.8, -0.9, 0.1, 1.0, 1.4, -1.0],
    "dq": [0.5, -0.25],
    "dk": [0, 0, 0.5, 0.75, 0, 0],
}


def ask(client: TestClient, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a figure over HTTP, asked for as the browser asks: to six decimals."""
    lists = {key: each if isinstance(each, list) else [each] for key, each in inputs.items()}
    texts = {
        key: ";".join(n if isinstance(n, str) else str(round(n, 6)) for n in each)
        for key, each in lists.items()
    }
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
    query = [q[1][f] + QKV["dq"][f] for f in (0, 1)]
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


SCALE = {"width": 64, "temperature": 0.5, "seed": 2}


def test_the_scale_against_numpy_and_closed_forms(client: TestClient) -> None:
    found = ask(client, "scale", SCALE)
    scores = np.array(found["scores"])
    for name, divided in (("weights", 1), ("scaled_weights", 8), ("tempered_weights", 4)):
        exps = np.exp(scores / divided - (scores / divided).max())
        assert found[name] == pytest.approx((exps / exps.sum()).tolist(), rel=1e-4, abs=1e-7)
        slopes = [w * (1 - w) for w in found[name]]
        steep = found[name.replace("weights", "slopes")]
        assert steep == pytest.approx(slopes, rel=1e-4, abs=1e-7)
    assert found["variance"] == pytest.approx(64, rel=0.12)  # 4,000 pairs, 8 of them to a query
    assert found["scaled_variance"] == pytest.approx(found["variance"] / 64, rel=1e-5)
    assert found["deviation"] == pytest.approx(math.sqrt(found["variance"]), rel=1e-5)
    assert [row[16] for row in found["walks"]] == pytest.approx(found["scores"], abs=0.006)


@pytest.mark.parametrize(("size", "product"), [(4, 1024), (32, None)])
def test_half_precision_overflows_at_float16s_largest_number(
    client: TestClient, size: int, product: float | None
) -> None:
    found = ask(client, "scale", {"board": "half", "width": 64, "size": size})["board"]
    exact, late = 64 * size**2 / 8, None if product is None else product / 8
    assert (found["product"], found["late"], found["exact"]) == (product, late, exact)
    assert found["early"] == pytest.approx(exact, rel=0.01)  # float16
    assert found["rows"][0][0]["values"][-1] == [f"{np.finfo(np.float16).max:,.0f}"]


@pytest.mark.parametrize("key_width", [1, 2, 3])
@pytest.mark.parametrize("scoring", ["dot", "bilinear", "additive"])
def test_three_widths_by_matrix_products(client: TestClient, key_width: int, scoring: str) -> None:
    chosen = {"q": [0.7, -1.3], "key_width": key_width, "scoring": scoring}
    found = ask(client, "scale", {"board": "widths", **chosen})["board"]
    shown = {each["title"]: np.array(each["values"]) for row in found["rows"] for each in row}
    if scoring == "dot" and key_width != 2:
        assert not {"scores", "weights", "output"} & shown.keys()
        return
    q, keys, values = shown["q"][0], shown["keys"], shown["values"]
    assert (keys.shape, values.shape) == ((10, key_width), (10, 4))
    scores = {
        "dot": lambda: keys @ q,
        "bilinear": lambda: keys @ (q @ shown["M"]),
        "additive": lambda: np.tanh(shown["W"] @ q + keys @ shown["U"].T) @ shown["v"][:, 0],
    }[scoring]()
    weights = np.exp(scores) / np.exp(scores).sum()
    wanted = {"scores": scores[:, None], "weights": weights[:, None], "output": [weights @ values]}
    for name, each in wanted.items():
        assert shown[name] == pytest.approx(np.array(each), rel=1e-4, abs=1e-6), name  # float32
    assert found["shape"] == "(2, 1, 4)"
