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
from models.edits import Temperature
from models.request import TraceRequest
from tests.viz import svg_files
from viz import pack
from viz.api import tracing
from viz.api.endpoint import QuestionError
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
