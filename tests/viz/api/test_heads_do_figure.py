"""What small networks' heads do, in the lesson on heads: weights, predictions and hidden keys."""

import math
from typing import Any

import pytest
import torch

from models.run import load
from viz.api import figures


def numbers(**changes: object) -> dict[str, Any]:
    return figures.numbers("heads_do", [(name, str(each)) for name, each in changes.items()])()


def test_weights_and_predictions_are_the_networks() -> None:
    found = numbers()
    model = load("induction")
    assert model.tokenizer is not None
    ids = torch.tensor([model.tokenizer.encode("dreamdream").ids])
    with torch.no_grad():
        out = model.network.eval()(ids)
    first = out.patterns[0]
    scores = first.q[0] @ first.k[0].mT / math.sqrt(first.q.shape[-1])
    hidden = torch.ones(11, 11, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
    torch.testing.assert_close(torch.tensor(found["weights"][:2]), weights, rtol=1e-4, atol=1e-5)
    shares = out.logits[0].softmax(-1).amax(-1).tolist()
    assert [each["share"] for each in found["best"]] == pytest.approx(shares, rel=1e-5)
    before = weights[1].diagonal(-1).mean().item()
    assert found["roles"]["previous"][1] == pytest.approx(before, abs=1e-5)
    assert [each["token"] for each in found["best"][6:]] == [*"reamd"]


def test_the_induction_head_finds_what_followed_last_time() -> None:
    words = "magnet violet cobalt planet magnet violet cobalt"
    found = numbers(network="smollm2", words=words, query=7, spot=1)
    row = found["weights"][1][7]
    assert found["found_weight"] == pytest.approx(max(row), rel=1e-4)
    assert found["key"] == row.index(max(row))
    assert (found["asks"], found["finds"], found["before"]) == ("cobalt", "planet", "cobalt")
    assert found["predicted"] == found["best"][7]
    without = numbers(network="smollm2", words=words, query=7, spot=1, ablated=0)
    assert without["weights"] == found["weights"]
    assert without["changed"]["weights"][1][7][4] < 0.7 < found["found_weight"]


def test_the_key_with_most_weight_changes_next_to_nothing() -> None:
    found = numbers()["reads"]
    model = load("grammar-next")
    assert model.tokenizer is not None
    ids = torch.tensor([model.tokenizer.encode("the keys near the cabinet").ids])
    with torch.no_grad():
        shares = model.network.eval()(ids).logits[0, -1].softmax(-1)
    assert found["before"] == pytest.approx(shares.topk(4).values.tolist(), rel=1e-5)
    assert sum(found["weights"]) == pytest.approx(1, abs=1e-5)
    assert (round(found["weight"], 2), round(found["change"], 2)) == (0.91, 0.01)
    moved = sum(abs(a - b) for a, b in zip(found["before"], found["after"], strict=True)) / 2
    assert moved <= found["change"] + 1e-6
