"""What a view is told of the difference that edits make, decoded again."""

import json

import numpy as np
import pytest

from models.edits import Temperature
from models.request import Picture, Source, TraceRequest, built, file_of
from tests.viz.pages.explore.explorer import file_of as picture_file
from viz import pack
from viz.api import tracing
from viz.api.endpoint import QuestionError, answered

TEXT = TraceRequest(Source("catalogue", "grammar-next"), "the cat saw the dog")
IMAGE = TraceRequest(
    built("vit", {"image": 32, "patch": 8, "heads": 2, "dim": 10, "depth": 2}),
    Picture(file_of(picture_file(), "mine.png")),
)
EDIT = (Temperature(0.2, 1),)


def entries(request: TraceRequest):
    from dataclasses import replace

    request = replace(request, model=tracing.stamped(request.model))
    edited = tracing.entry_for(replace(request, edits=EDIT)).value
    plain = tracing.entry_for(request).value
    site = edited.trace.sites[1]
    return edited, plain, (edited.trace.weights(site) - plain.trace.weights(site)).numpy()


def floats(header, area):
    return np.frombuffer(area, np.float32, header["count"], header["at"])


def test_a_map_and_rows_of_a_text() -> None:
    edited, plain, expected = entries(TEXT)
    header, area = pack.unpack(answered(edited, "map?site=1&head=0&values=difference"))
    (part,) = header["maps"]
    assert part["coding"] == "difference"
    cells = np.frombuffer(area, np.uint8, np.prod(part["shape"]), part["at"]).reshape(part["shape"])
    values = part["min"] + (part["max"] - part["min"]) * (cells - 1.0) / 254
    step = (part["max"] - part["min"]) / 254
    np.testing.assert_allclose(values, expected[0], atol=step)
    for axis, wanted in (("query", expected[0][3]), ("key", expected[0][:, 3])):
        path = f"row?site=1&head=0&axis={axis}&index=3&values=difference"
        header, area = pack.unpack(answered(edited, path))
        np.testing.assert_allclose(floats(header["rows"][0], area), wanted, atol=1e-6)
        assert header["rows"][0]["values"] == "difference"
    with pytest.raises(QuestionError, match="no edits"):
        answered(plain, "map?site=1&head=0&values=difference")


def test_the_weight_that_changed_most() -> None:
    """Only layer 1 is edited: the largest of its differences, and of the layers behind it."""
    edited, plain, _ = entries(TEXT)
    every = [
        (edited.trace.weights(site) - plain.trace.weights(other)).numpy()
        for site, other in zip(edited.trace.sites, plain.trace.sites, strict=True)
    ]
    assert not every[0].any()
    found = json.loads(answered(edited, "changed"))["change"]
    site = max(range(len(every)), key=lambda index: np.abs(every[index]).max())
    place = np.unravel_index(np.abs(every[site]).argmax(), every[site].shape)
    assert [found[name] for name in ("site", "head", "query", "key")] == [site, *place]
    assert found["change"] == pytest.approx(every[site][place], abs=1e-6)
    with pytest.raises(QuestionError, match="no edits"):
        answered(plain, "changed")


@pytest.mark.parametrize("axis", ["query", "key"])
def test_all_heads_of_a_picture(axis: str) -> None:
    edited, _, expected = entries(IMAGE)
    path = f"heads?site=1&axis={axis}&index=2&values=difference"
    header, area = pack.unpack(answered(edited, path))
    (row,) = header["rows"]
    wanted = expected[:, 2] if axis == "query" else expected[:, :, 2]
    np.testing.assert_allclose(floats(row, area).reshape(wanted.shape), wanted, atol=1e-6)
    assert row["values"] == "difference"
