"""Saved pages of what edits changed, and of two traces side by side: their numbers read back."""

import base64
import io
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from analysis.alike import alike
from models.catalogue import entry, folder
from models.edits import Temperature
from models.request import Picture, TraceRequest, file_of
from tests.viz import svg_files
from viz import pack
from viz.api import tracing
from viz.api.requests import QuestionError
from viz.export import responses

TEXT = "the cats near the cabinet"


def request_of(name: str) -> TraceRequest:
    return TraceRequest(tracing.of_catalogue(name), TEXT)


def opened(file: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The props and the responses of a page."""
    call = re.search(r"\npage\.open\(view\.mount, (.*)\);\n", file.data.decode())
    assert call
    props, held = json.loads(f"[{call[1]}]")
    return props, {path: base64.b64decode(data) for path, data in held.items()}


def row(data: bytes) -> np.ndarray:
    header, area = pack.unpack(data)
    (each,) = header["rows"]
    return np.frombuffer(area, np.float32, each["count"], each["at"])


def test_a_page_of_a_difference_holds_it_for_every_head() -> None:
    plain = request_of("grammar-next")
    edited = replace(plain, edits=(Temperature(0.2, 1),))
    edited = tracing.entry_for(edited).value
    before = tracing.entry_for(plain).value
    file = responses.export(edited, 1, 0, "matrix", "html", values="difference")
    props, held = opened(file)
    assert (props["difference"], props["start"]["values"]) == (True, "weights")
    expected = (edited.view.weights(1) - before.view.weights(1)).numpy()
    assert np.abs(expected).max() > 0.1
    for query in range(edited.view.sites[1].queries):
        path = f"row?site=1&head=0&axis=query&index={query}&values=difference"
        np.testing.assert_allclose(row(held[path]), expected[0, query], atol=1e-6)
    for site in (0, 1):
        for head in (0, 1):
            assert f"map?site={site}&head={head}&values=difference" in held
    assert (
        "map?site=1&head=0" in held
    )  # for the other forms, which show the weights after the edits


def test_a_page_holds_a_second_trace_under_its_own_name() -> None:
    first = tracing.entry_for(request_of("grammar-next")).value
    second = tracing.entry_for(request_of("minilm"))
    beside: dict[str, Any] = {"second": second.id, "second_site": 2, "second_head": 4}
    file = responses.export(first, 1, 0, "matrix", "html", there="2,4", **beside)
    props, held = opened(file)
    assert props["start"]["there"] == "2,4"
    assert (props["title"], props["second"]["title"]) == ("Grammar, next word", "all-MiniLM-L6-v2")
    weights = second.value.view.weights(2, 4).numpy()
    path = "second/row?site=2&head=4&axis=query&index=3"
    np.testing.assert_allclose(row(held[path]), weights[3], atol=1e-6)
    likeness = json.loads(held["likeness?site=1&head=0&second=second"])
    result = alike(first.trace, first.trace.sites[1], 0, second.value.trace)
    assert likeness["best"] == [*result.best(1)[0]]
    assert likeness["overlap"][2][4] == pytest.approx(float(result.overlap[2, 4]), abs=1e-4)
    assert [len(each) for each in json.loads(held["aligned?second=second"])["second"]] == [7]
    assert second.id.encode() not in file.data
    with pytest.raises(QuestionError, match="no longer held"):
        responses.export(first, 1, 0, "matrix", "html", second="unknown")


def test_figures_before_and_after_stand_in_a_row() -> None:
    plain = request_of("grammar-next")
    edited = tracing.entry_for(replace(plain, edits=(Temperature(0.2, 1),))).value
    file = responses.export(edited, 1, 0, "matrix", "svg", both="edits")
    before = tracing.entry_for(plain).value
    alone = [
        responses.export(before, 1, 0, "matrix", "svg"),
        responses.export(edited, 1, 0, "matrix", "svg"),
        responses.export(edited, 1, 0, "matrix", "svg", values="difference"),
    ]
    names = ("Before", "After", "Difference")
    expected = [
        f"{name} · {text}" if "layer 1 · head 0" in text else text
        for name, each in zip(names, alone, strict=True)
        for text in svg_files.texts(each.data)
    ]
    assert svg_files.texts(file.data) == expected
    sizes = [float(re.findall(r'width="([\d.]+)pt"', each.data.decode())[0]) for each in alone]
    assert f'width="{sum(sizes):g}pt"' in file.data.decode()
    drawn = [picture for each in alone for picture in svg_files.pictures(each.data)]
    for found, expected in zip(svg_files.pictures(file.data), drawn, strict=True):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(QuestionError, match="no edits"):
        responses.export(before, 1, 0, "matrix", "svg", both="edits")


@pytest.mark.parametrize("format", ["svg", "pdf", "png"])
def test_figures_of_two_traces_stand_in_a_row(format: str) -> None:
    first = tracing.entry_for(request_of("grammar-next")).value
    second = tracing.entry_for(request_of("minilm"))
    beside: dict[str, Any] = {"second": second.id, "second_site": 2, "second_head": 4}
    file = responses.export(first, 1, 0, "matrix", format, both="second", **beside)
    if format == "svg":
        texts = svg_files.texts(file.data)
        assert "Grammar, next word · layer 1 · head 0" in texts
        assert "all-MiniLM-L6-v2 · layer 2 · head 4" in texts
    elif format == "png":
        alone = responses.export(first, 1, 0, "matrix", format)
        wide, narrow = (Image.open(io.BytesIO(each.data)).width for each in (file, alone))
        assert wide == 2 * narrow
    else:
        texts = pypdfium2.PdfDocument(file.data)[0].get_textpage().get_text_range()
        assert "layer 2 · head 4" in texts
    with pytest.raises(QuestionError, match="second result"):
        responses.export(first, 1, 0, "matrix", format, both="second")
    with pytest.raises(QuestionError, match="svg, pdf or png"):
        responses.export(first, 1, 0, "matrix", "csv", both="second", **beside)


def picture_request(name: str, **more: Any) -> TraceRequest:
    """A photo that ships with the digits."""
    file = file_of((folder(entry("digits")) / name).read_bytes(), name)
    return TraceRequest(tracing.of_catalogue("digits"), Picture(file), **more)


@pytest.mark.parametrize("direction", ["out", "in"])
def test_figures_of_a_picture_before_and_after_edits_stand_in_a_row(direction: str) -> None:
    edited = tracing.entry_for(picture_request("a-three.png", edits=(Temperature(0.3, 1),))).value
    plain = tracing.entry_for(picture_request("a-three.png")).value
    how: dict[str, Any] = {"token": 9, "direction": direction}
    file = responses.export(edited, 1, 0, "image", "svg", both="edits", **how)
    titles = [text for text in svg_files.texts(file.data) if "· layer 1 · head 0" in text]
    assert [title.split(" · ")[0] for title in titles] == ["Before", "After", "Difference"]
    pictures = svg_files.pictures(file.data)
    assert len(pictures) == 6
    for found, of in ((pictures[1], plain), (pictures[3], edited)):
        alone = responses.export(of, 1, 0, "image", "svg", **how)
        np.testing.assert_array_equal(found, svg_files.pictures(alone.data)[1])
    weights = [each.view.weights(1, 0).numpy() for each in (plain, edited)]
    change = weights[1] - weights[0]
    change = (change[:, 9] if direction == "in" else change[9])[1:].reshape(8, 8)
    side = pictures[5].shape[0] // 8
    red, _, blue = pictures[5][side // 2 :: side, side // 2 :: side].astype(int).transpose(2, 0, 1)
    strong = np.abs(change) > 0.3 * np.abs(change).max()
    assert strong.sum() >= 3
    assert ((red > blue) == (change > 0))[strong].all()
    table = responses.export(edited, 1, 0, "image", "npz", values="difference")
    held = np.load(io.BytesIO(table.data))["difference"][0]
    np.testing.assert_allclose(held, weights[1] - weights[0], atol=1e-6)
