"""The widget: what it holds, what it answers over its channel, what a saved notebook shows."""

import base64
import io
from functools import cache

import numpy as np
import pytest
from PIL import Image

from models.encoder import EncoderConfig
from models.run import Trace, load, trace
from models.vit import ViTConfig
from viz.notebook import Explorer, answer, explore
from viz.pack import unpack


@cache
def text() -> Trace:
    return trace(load(EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13)), "a <b>c</b> d")


def test_answers_are_those_of_the_api() -> None:
    entry = explore(text()).entry
    status, content = answer(entry, "row?site=1&head=2&axis=query&index=3")
    assert status == 200
    assert isinstance(content, bytes)
    header, area = unpack(content)
    weights = np.frombuffer(area, "<f4", header["rows"][0]["count"], header["rows"][0]["at"])
    # a row alone is another matrix product than all rows: the last bit may differ
    np.testing.assert_allclose(weights, text().weights(1, 2)[3].numpy(), rtol=1e-6)
    status, content = answer(entry, "export?site=1&head=2&form=matrix&format=svg")
    assert isinstance(content, bytes)
    assert content.startswith(b"<?xml")


def test_a_reply_carries_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    found = explore(text())
    sent: list[tuple] = []
    monkeypatch.setattr(Explorer, "send", lambda self, *message: sent.append(message))
    found.receive(found, {"id": 7, "path": "row?site=1&head=2&axis=query&index=3"}, [])
    found.receive(found, {"id": 8, "path": "nothing"}, [])
    found.receive(found, {"another": "message"}, [])
    (first, [content]), (second,) = sent
    assert first == {"id": 7, "status": 200}
    assert unpack(content)[0]["rows"][0]["count"] == len(text().tokens[0].labels)
    assert second == {"id": 8, "status": 404, "reason": "there is no such route"}


def test_a_saved_notebook_has_a_picture() -> None:
    data, _ = explore(text(), layer=1)._repr_mimebundle_()
    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert picture.info["Title"] == f"{text().model} · every head"
    assert data["text/plain"] == f"{text().model} · every head"
    data, _ = explore(text(), layer=1, head=2)._repr_mimebundle_()
    assert data["text/plain"] == f"{text().model} · layer 1 · head 2"


def test_a_picture_is_shown_over_itself() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (20, 20, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    t = trace(load(ViTConfig(image=20, patch=4, dim=15, depth=2, heads=3, mlp=7)), image)
    found = explore(t, layer=1, picture=image)
    assert found.props["kind"] == "image"
    assert set(found.held) == {"overview", "photo?number=0", "layer?site=1"}
