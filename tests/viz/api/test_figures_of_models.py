"""Numbers of the figures that run trained models, against slow plain ways to compute them."""

import base64
import io
import math

import pytest
import torch
from PIL import Image
from starlette.testclient import TestClient

from models.catalogue import CHECKPOINTS
from models.image import to_pixels
from models.run import load
from models.vit import ViT

DECODER = "text=the+king+saw&written=5&head=0"


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


OUTPUTS = ("attention.out", "cross.out", "feed_forward.down")  # of a decoder block's layers


@pytest.mark.parametrize("off", [(0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 1)])
def test_what_layers_add_is_the_networks(client: TestClient, off: tuple[int, ...]) -> None:
    """A layer is off where its last matrix and bias are zero."""
    query = {"date": "4/11/2031", "written": 6, "head": 1, "at": 2, "length": 7, "width": 16}
    query["off"] = ";".join(map(str, off))
    found = client.get("/api/figure/both", params=query).json()
    model, ids = load("dates"), [1]
    assert model.tokenizer is not None
    source = torch.tensor([model.tokenizer.encode("4/11/2031").ids])
    network = model.network.eval()
    with torch.no_grad():
        for _ in range(10):
            ids.append(int(network(source, torch.tensor([ids])).logits[0, -1].argmax()))
        for gone, last in zip(off, OUTPUTS, strict=True):
            for parameter in network.get_submodule(f"blocks.0.{last}").parameters():
                parameter.mul_(1 - gone)
        adds: list[float] = []
        for last in OUTPUTS:
            network.get_submodule(f"blocks.0.{last}").register_forward_hook(
                lambda _, given, out: adds.append(out[0, 6].norm().item())
            )
        out = network(source, torch.tensor([ids]))
    stacks = found["stacks"]
    assert [add == 0 for add in stacks["adds"]] == [bool(gone) for gone in off]
    assert stacks["adds"] == pytest.approx(adds, rel=1e-4)
    best = out.logits[0, :10].argmax(-1)
    assert stacks["right"] == (best == torch.tensor(ids[1:])).tolist()
    assert stacks["correct"] == sum(stacks["right"])
    share = out.logits[0, 6].softmax(-1).max().item()
    assert stacks["best"][0]["share"] == pytest.approx(share, rel=1e-4)


def seen(client: TestClient, **changes: str | int) -> dict:
    of = {"network": "objects", "picture": "a-heart", "shuffle": "none"}
    query = {**of, "small_layer": 2, "small_head": 3}
    return client.get("/api/figure/vision", params={**query, **changes}).json()


def test_patches_are_the_pictures_pixels(client: TestClient) -> None:
    picture = Image.open(CHECKPOINTS / "objects/a-heart.png").convert("RGB")
    for how, kind in (("none", "rows"), ("tokens", "lines"), ("patches", "rows")):
        found = seen(client, shuffle=how)
        assert (found["count"], found["flat"], found["tokens"]) == (64, 8 * 8 * 3, 65)
        rows = [base64.b64decode(url.partition(",")[2]) for url in found[kind]]
        strips = [Image.open(io.BytesIO(each)) for each in rows]
        dealt = how == "patches" or kind == "lines"
        for place in range(64):
            row, col = divmod(place, 8)
            above, left = divmod(found["order"][place] if dealt else place, 8)
            for x, y in ((0, 0), (7, 0), (3, 5)):
                expected = picture.getpixel((left * 8 + x, above * 8 + y))
                assert strips[row].getpixel((4 * (col * 8 + x), 4 * y)) == expected


def test_the_class_tokens_weights_and_answers_are_a_plain_passs(client: TestClient) -> None:
    found, picture = seen(client), Image.open(CHECKPOINTS / "objects/a-heart.png")
    network = load("objects").network
    assert isinstance(network, ViT)
    with torch.no_grad():
        out = network.eval()(to_pixels(picture))
    weights = out.patterns[2].weights(3, [0], item=0)[0]
    assert found["weights"] == pytest.approx(weights[1:].tolist(), abs=1e-6)
    assert found["own"] == pytest.approx(weights[0].item(), abs=1e-6)
    assert out.logits is not None
    shares = out.logits[0, :12].softmax(-1)
    assert found["answer"]["share"] == pytest.approx(shares.max().item(), abs=1e-6)
