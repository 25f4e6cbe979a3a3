"""The figure on sampling: transformers' processors, a plain forward pass, and costs by hand."""

from typing import Any

import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from models.run import load
from viz.api import figures
from viz.api.requests import QuestionError

START = "the king saw the queen because"
NO_IDS: Any = None  # what was written before, which the processors do not read


def numbers(**changes: object) -> dict[str, Any]:
    return figures.numbers("sampling", [(name, str(each)) for name, each in changes.items()])()


def forward(text: str) -> Any:
    model = load("grammar-next")
    assert model.tokenizer is not None
    with torch.no_grad():
        return model.network.eval()(torch.tensor([model.tokenizer.encode(text).ids]))


@pytest.mark.parametrize(
    ("temperature", "k", "p"), [(1, 0, 1), (0.3, 0, 1), (3, 3, 1), (3, 0, 0.9), (2, 7, 0.8)]
)
def test_the_probabilities_are_those_of_the_library(temperature: float, k: int, p: float) -> None:
    found = numbers(temperature=temperature, k=k, p=p)
    logits = forward(START).logits[:, -1].float()
    best = logits[0].argsort(descending=True)
    scores = TemperatureLogitsWarper(float(temperature))(NO_IDS, logits)
    warm = scores[0].softmax(-1)
    if k:
        scores = TopKLogitsWarper(k)(NO_IDS, scores)
    together = scores[0].softmax(-1)[best].cumsum(0)
    if p < 1:
        scores = TopPLogitsWarper(p)(NO_IDS, scores)
    drawn = scores[0].softmax(-1)
    assert found["plain"] == pytest.approx(logits[0].softmax(-1)[best[:10]].tolist(), rel=1e-4)
    assert found["warm"] == pytest.approx(warm[best[:10]].tolist(), rel=1e-4)
    assert found["drawn"] == pytest.approx(drawn[best[:10]].tolist(), rel=1e-4)
    assert found["together"] == pytest.approx(together[:10].tolist(), rel=1e-4)
    assert found["others"]["warm"] == pytest.approx(warm[best[10:]].sum().item(), rel=1e-4)
    assert found["kept"] == int((drawn > 0).sum())
    assert found["cut"] == pytest.approx(warm[drawn == 0].sum().item(), rel=1e-4, abs=1e-7)


def test_cached_keys_and_values_do_not_change() -> None:
    short, long = numbers(), numbers(written=3)
    count = len(short["tokens"])
    assert long["tokens"] == [*short["tokens"], *long["tokens"][count:]]
    assert long["tokens"][count] == short["following"] == "she"
    assert (long["keys"][:count], long["values"][:count]) == (short["keys"], short["values"])
    pattern = forward(START).patterns[0]
    assert short["query"] == pytest.approx(pattern.q[0, 0, -1, :5].tolist(), abs=1e-5)
    torch.testing.assert_close(torch.tensor(short["keys"]), pattern.k[0, 0, :, :5])
    scores = pattern.k[0, 0] @ pattern.q[0, 0, -1] / pattern.q.shape[-1] ** 0.5
    assert short["weights"] == pytest.approx(scores.softmax(0).tolist(), abs=1e-5)
    assert 0 <= short["difference"] < 1e-5  # rounding in single precision


@pytest.mark.parametrize("length", [2, 512, 4096])
def test_the_costs_by_hand(length: int) -> None:
    found = numbers(length=length)
    token = 12 * 768**2 + 2 * length * 768  # 4 d² of attention, 8 d² of the feed-forward network
    without, cached = (12 * new * token + 768 * 50_000 for new in (length, 1))
    assert (found["without"], found["with"]) == (without, cached)
    assert found["times"] == pytest.approx(without / cached)
    assert found["memory"] == pytest.approx(2 * 12 * length * 768 * 2 / 2**20)


@pytest.mark.parametrize(
    ("name", "value", "moves"),
    [
        ("start", "the old dog", {"words", "plain", "tokens", "keys", "weights"}),
        ("temperature", 2, {"warm", "drawn", "together", "others"}),
        ("k", 3, {"drawn", "together", "kept", "cut"}),
        ("p", 0.5, {"drawn", "kept", "cut"}),
        ("written", 2, {"tokens", "query", "weights", "small", "following"}),
        ("length", 100, {"without", "with", "times", "memory"}),
    ],
)
def test_the_numbers_move(name: str, value: object, moves: set[str]) -> None:
    before, after = numbers(), numbers(**{name: value})
    assert moves <= {key for key in before if before[key] != after[key]}


@pytest.mark.parametrize(("start", "line"), [("zebra", "received 'zebra'"), (" ", "received 0")])
def test_unknown_words_get_one_line(start: str, line: str) -> None:
    with pytest.raises(QuestionError, match=line):
        numbers(start=start)
