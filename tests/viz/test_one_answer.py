"""One answer of a view is what the browser gets, and what NPZ, CSV and a saved page hold."""

import base64
import csv
import io
import json
import math
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from analysis import grounding
from models.catalogue import entry, folder
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.inputs.prompt import Prompt
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from tests.analysis.test_alignment import planted
from tests.models.vision_language import BY_NAME as VISION_LANGUAGE
from tests.models.vision_language import photo
from viz.api.endpoint import answered
from viz.export.files import render, request_of
from viz.export.page import asked
from viz.pack import unpack
from viz.views import FORM, VIEWS

SIZES: dict[str, Any] = {"dim": 15, "depth": 2, "heads": 3, "mlp": 13}
PAIR: dict[str, Any] = {"source_vocab": 31, "target_vocab": 31, "d_k": 5, "d_v": 7}
TEXT = "so the cat sat on it"
CHOSEN: dict[str, dict[str, Any]] = {
    "model": {"method": "alti"},
    "faithfulness": {"method": "gradient", "output": "3.5"},
    "text": {"token": 2},
    "sound": {"token": 4, "timing": "found"},
}
OF_PICTURE: dict[str, dict[str, Any]] = {
    "model": {"method": "rollout", "followed": "token", "query": 7},
    "faithfulness": {"method": "chefer", "proof": "deletion"},
    "features": {"token": 9},
}
ASKED: dict[str, dict[str, Any]] = {  # of a word of an answer about pictures
    "asked": {},
    "asked, an area": {"area": "0.100.200.600.700"},
    "asked, a rival": {"rival": "cat"},
    "asked, relevance": {"relevant": True},
}
TEXTS = [name for name, form in FORM.items() if form.texts]


@cache
def read(kind: str) -> tuple[Any, tuple[Any, ...], Any]:
    """A trace, the run that it is of, and the picture that was read."""
    if kind == "picture":
        picture = Image.open(folder(entry("digits")) / "a-three.png").convert("RGB")
        model = load("digits")
        return trace(model, picture, hidden=True), (model, picture), picture
    if kind == "recording":
        return planted(), (), None
    if kind == "asked":
        with tempfile.TemporaryDirectory() as place:
            model = load(VISION_LANGUAGE["LLaVA"].save(Path(place)))
        run = model, Prompt("what is it", (photo(), photo(seed=1))), "a dog sits"
        return trace(*run), run, None
    configs = {"encoder": EncoderConfig, "decoder": DecoderConfig}
    config = configs[kind](vocab=101, seed=5, **SIZES) if kind in configs else None
    model = load(config or Seq2SeqConfig(**PAIR, **SIZES, seed=5))
    pair = torch.tensor([[5, 9, 2, 7, 8]]), torch.tensor([[4, 6, 3]])
    given = (TEXT,) if config else pair
    return trace(model, *given, hidden=True), (model, *given), None


def asked_for(kind: str, view: str, **chosen: Any) -> Any:
    shown, run, picture = read(kind.split(",")[0])
    if kind in ASKED:
        (row,) = grounding.rows_of(shown, [1])
        site = grounding.sites_on_pictures(shown)[0]
        how = {"layer": site, "head": 1, "token": row, "run": run}
        return request_of(shown, view, **how, **ASKED[kind])
    crosses = kind == "recording" or (kind == "pair" and FORM[view].of_weights)
    site = next(site for site in shown.sites if (site.kind == "cross") == crosses)
    place = {} if FORM[view].covers == "every" else {"layer": site, "head": 1}
    more = (OF_PICTURE if kind == "picture" else CHOSEN).get(view, {})
    return request_of(shown, view, picture=picture, run=run or None, **place, **(more | chosen))


def numbers_in(value: Any) -> list[float]:
    """Every number of JSON, in order; NaN for null."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [number for each in inner for number in numbers_in(each)]
    if value is None:
        return [math.nan]
    return [float(value)] if isinstance(value, int | float) else []


def sent(body: bytes) -> list[np.ndarray]:
    """The numbers of a response: of JSON, or of a message's header and, as float32, its area."""
    if body[:1] == b"{":
        return [np.array(numbers_in(json.loads(body)))]
    if body[:4] in (b"\x89PNG", b"RIFF"):
        return []
    header, area = unpack(body)
    with np.errstate(invalid="ignore"):  # where these are bytes
        numbers = np.frombuffer(area[: len(area) // 4 * 4], "<f4").astype(float)
    return [np.array(numbers_in(header)), numbers]


def is_in(row: np.ndarray, responses: list[np.ndarray]) -> bool:
    """Whether numbers stand in one of the responses, one behind the other."""
    windows = [
        np.lib.stride_tricks.sliding_window_view(each, len(row))
        for each in responses
        if len(each) >= len(row)
    ]
    close = {"rtol": 2e-5, "atol": 1e-7, "equal_nan": True}
    return any(np.isclose(window, row, **close).all(1).any() for window in windows)


CASES = [(kind, view) for kind in ("encoder", "decoder", "pair") for view in TEXTS]
CASES += [("recording", name) for name, form in FORM.items() if form.heard]
CASES += [(kind, "pictures") for kind in ASKED]
CASES += [("picture", name) for name, form in FORM.items() if form.pictured]


@pytest.mark.parametrize(("kind", "view"), CASES)
def test_the_numbers_of_a_view_are_the_same_everywhere(kind: str, view: str) -> None:
    request = asked_for(kind, view)
    try:
        answer = VIEWS[view].answer(request)
    except ValueError:  # what a network cannot show is refused in every form
        with pytest.raises(ValueError, match=r"\w+"):
            render(request, view, ".npz")
        return
    found = np.load(io.BytesIO(render(request, view, ".npz")))
    lines = [*csv.DictReader(io.StringIO(render(request, view, ".csv").decode()))]
    page = render(request, view, ".html").decode()
    call = re.search(r"\npage\.open\(view\.mount, (.*)\);\n", page)
    assert call
    held = {path: base64.b64decode(data) for path, data in json.loads(f"[{call[1]}]")[1].items()}
    wanted, _ = asked(request, view)
    made_for = request.entry
    for path in wanted:
        assert held[path] == answered(made_for, path), path
    responses = [each for path in wanted for each in sent(held[path])]
    if FORM[view].of_weights:
        name = "site_0_weights" if request.every else "weights"
        of, first = (
            name.removesuffix("weights"),
            request.view.sites[0 if request.every else request.index],
        )
        assert found[f"{of}query_labels"].tolist() == request.view.query_labels(first)
        assert found[f"{of}key_labels"].tolist() == request.view.key_labels(first)
        assert (str(found[f"{of}kind"]), int(found[f"{of}layer"])) == (first.kind, first.layer)
        assert found[f"{of}axes"].tolist() == ["head", "query", "key"]
        written = [float(line["weight"]) for line in lines][: found[name].size]
        np.testing.assert_allclose(written, found[name].ravel(), rtol=1e-6)
        for path, body in held.items():
            for part in (
                unpack(body)[0]["maps"]
                if path.startswith(f"map?site={request.index}&head=1")
                else ()
            ):
                area = np.frombuffer(unpack(body)[1], np.uint8)
                cells = area[part["at"] :][: math.prod(part["shape"])].reshape(part["shape"])
                drawn = part["max"] * (cells / 255) ** 2
                weights = found[name][1 if request.every else 0]
                np.testing.assert_allclose(drawn, weights, atol=part["max"] / 255)
        return
    assert answer.tables
    for table in answer.tables:
        name = "_".join(re.findall(r"[A-Za-z0-9]+", table.name))
        np.testing.assert_array_equal(found[name], table.values)
        mine = [line["value"] for line in lines if line["numbers"] == table.name]
        written = [float(value) if value else math.nan for value in mine]
        np.testing.assert_allclose(written, table.values.ravel(), rtol=1e-8)
        values = np.atleast_1d(table.values).astype(float)
        rows = values.reshape(-1, values.shape[-1])
        ways = [[*rows], [*rows.T], [*values.reshape(-1, 1)]]
        whole = ways[:2] if values.ndim > 1 and min(values.shape) > 1 else ways
        if not table.name.startswith("share at"):  # of a score, which a page does not hold
            assert any(all(is_in(row, responses) for row in way) for way in whole), table.name
