"""All layers over a picture, and its features, as files: what the analyses say is in them."""

import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from analysis.rollout import rollout
from models.catalogue import entry, folder
from models.run import Model, Trace, load, trace
from tests.viz import svg_files
from viz.export import export

FORMS: dict[str, dict[str, Any]] = {
    "model": {"method": "chefer", "beside": "rollout", "tested": True},
    "faithfulness": {"method": "attnlrp", "proof": "insertion", "output": "8"},
    "features": {"foreground": "below", "token": 9},
}


@cache
def model() -> Model:
    return load("digits")


@cache
def picture() -> Image.Image:
    return Image.open(folder(entry("digits")) / "a-three.png").convert("RGB")


@cache
def traced() -> Trace:
    return trace(model(), picture(), hidden=True)


def made(place: Path, suffix: str, view: str, **more: Any) -> bytes:
    given: dict[str, Any] = {"view": view, "layer": 1, "head": 0, "picture": picture()}
    return export(
        traced(), place / f"file{suffix}", run=(model(), picture()), **given, **more
    ).read_bytes()


def numbers(place: Path, view: str, **more: Any) -> dict[str, np.ndarray]:
    return dict(np.load(io.BytesIO(made(place, ".npz", view, **more))))


@pytest.mark.parametrize("view", FORMS)
def test_figures_and_pages_of_a_picture_open(tmp_path: Path, view: str) -> None:
    svg = made(tmp_path, ".svg", view, **FORMS[view]).decode()
    assert "Digits · all layers together" in svg
    page = pypdfium2.PdfDocument(made(tmp_path, ".pdf", view, **FORMS[view]))[0]
    assert "Headscope" in page.get_textpage().get_text_range()
    assert Image.open(io.BytesIO(made(tmp_path, ".png", view, **FORMS[view]))).width > 1000
    held = made(tmp_path, ".html", view, **FORMS[view]).decode()
    wanted = {"model": "relevance?site=0", "faithfulness": "perturbation?site=0"}
    assert wanted.get(view, "components?foreground=below") in held


def test_a_larger_number_is_brighter_over_the_picture(tmp_path: Path) -> None:
    """Luminance by relevance over a picture of one grey."""
    grey = Image.new("RGB", (64, 64), (120, 120, 120))
    shown: dict[str, Any] = {"view": "model", "layer": 1, "head": 0, "picture": grey}
    file = export(traced(), tmp_path / "file.svg", method="rollout", **shown)
    (pixels,) = svg_files.pictures(file.read_bytes())
    light = pixels.astype(float) @ [0.2126, 0.7152, 0.0722]
    side = light.shape[0] // 8
    by_patch = light[side // 2 :: side, side // 2 :: side].flatten()
    order = rollout(traced())[0, 1:].argsort().numpy()
    assert (np.diff(by_patch[order]) > -2).all()
    assert by_patch[order[-1]] > by_patch[order[0]] + 60
