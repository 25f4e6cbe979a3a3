"""Numbers of the figures that run trained models, against slow plain ways to compute them."""

import base64
import io

import pytest
import torch
from PIL import Image
from starlette.testclient import TestClient

from models.catalogue import CHECKPOINTS
from models.image import to_pixels
from models.run import load
from models.vit import ViT


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
