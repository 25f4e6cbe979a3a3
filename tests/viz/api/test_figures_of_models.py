"""Numbers of the figures that run trained models, against slow plain ways to compute them."""

import math
from collections.abc import Iterator

import pytest
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from models.catalogue import entry
from models.files.card import card
from models.run import load
from viz.api import routes

DECODER = "text=the+king+saw&written=5&head=0"
MASKED = "network=trained&window=11&ahead=0&head=0"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = Starlette(routes=routes(lambda: ["127.0.0.1"]))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize(("window", "ahead"), [(11, 0), (3, 0), (2, 1), (11, 10)])
def test_the_decoders_weights_are_a_softmax_over_the_band(
    client: TestClient, window: int, ahead: int
) -> None:
    found = client.get(
        f"/api/figure/decoder?{DECODER}&network=trained&window={window}&ahead={ahead}"
    ).json()
    for i, scores in enumerate(found["scores"]):
        seen = [i - window < j <= i + ahead for j in range(len(scores))]
        exps = [math.exp(s) if see else 0 for s, see in zip(scores, seen, strict=True)]
        assert found["visible"][i] == seen
        assert found["weights"][i] == pytest.approx([e / sum(exps) for e in exps], abs=1e-5)
        assert all(w == 0 for w, see in zip(found["weights"][i], seen, strict=True) if not see)


def test_the_decoder_writes_the_likeliest_token_again_and_again(client: TestClient) -> None:
    """Against the network's own causal mask, one whole pass per token."""
    path = f"/api/figure/decoder?{DECODER}&network=trained&window=11&ahead=0"
    found = client.get(path).json()
    model, (tokens, ids) = load("grammar-next"), labelled("grammar-next", "the king saw")
    assert found["start"] == len(ids)
    shares = torch.empty(0)
    for _ in range(5):
        with torch.no_grad():
            shares = model.network.eval()(torch.tensor([ids])).logits[0].softmax(-1)
        ids.append(int(shares[-1].argmax()))
    assert found["tokens"][1:] == [tokens[id] for id in ids[1:]]
    right = [shares[i, ids[i + 1]].item() for i in range(len(ids) - 2)]
    assert found["answer_shares"][:-2] == pytest.approx(right, abs=1e-5)
    assert found["difference"] < 1e-5  # the same sums in another order


@pytest.mark.parametrize("ahead", [0, 10])
def test_a_head_that_copies_is_right_only_if_it_sees_the_answer(
    client: TestClient, ahead: int
) -> None:
    """Position 3 of “begin the king saw the …” has seen “the” once; e¹² / (e¹² + 8) is nearly 1."""
    path = f"/api/figure/decoder?{DECODER}&network=copying&window=11&ahead={ahead}"
    found = client.get(path).json()
    weight = math.exp(12) / (math.exp(12) + 8) if ahead else 1 / 4
    assert found["answers"][3] == "the"
    assert found["weights"][3][4 if ahead else 1] == pytest.approx(weight, rel=1e-5)
    assert found["answer_shares"][3] == pytest.approx(1.0 if ahead else 1 / 4, abs=1e-4)
    assert (found["mean_share"] > 0.999) == (ahead == 10)


def labelled(name: str, text: str) -> tuple[tuple[str, ...], list[int]]:
    """The tokens of a model by id, and the ids of a text."""
    tokenizer, found = load(name).tokenizer, card(entry(name))
    assert tokenizer is not None
    assert found is not None
    return found.tokens, list(tokenizer.encode(text).ids)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (f"decoder?{MASKED}&text=the+zebra&written=0", "received 'zebra'"),
        (f"decoder?{MASKED}&text=the+the+the+the+the+the+the&written=0", "1 to 6 words"),
    ],
)
def test_texts_that_a_model_cannot_read(client: TestClient, path: str, line: str) -> None:
    found = client.get(f"/api/figure/{path}")
    assert (found.status_code, line in found.text) == (400, True), found.text
