"""Files for the browser: what they hold, what they are called, and what is refused."""

import csv
import io
import json
import re

import numpy as np
import pytest
import torch
from PIL import Image

from analysis.patches import patch_sinks
from models.decoder import DecoderConfig
from models.run import load, trace
from models.vit import ViTConfig
from tests.viz import svg_files
from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry
from viz.colours import Scale, is_nearly_uniform, layer_of, strength_of, veiled
from viz.export import responses as export
from viz.routes import ENDPOINTS
from viz.theme import sequential
from viz.views import FORMS


@pytest.fixture(scope="module")
def text() -> TraceEntry:
    model = load(DecoderConfig(vocab=31, dim=15, heads=3, depth=2, mlp=7, seed=2))
    found = trace(model, torch.arange(7)[None])
    return TraceEntry(found)


@pytest.fixture(scope="module")
def photo() -> TraceEntry:
    pixels = np.random.default_rng(5).integers(0, 256, (20, 20, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    model = load(ViTConfig(image=20, patch=4, dim=15, depth=2, heads=3, mlp=7))
    found = trace(model, image)
    return TraceEntry(found, pictures=(image,), patches=True)


def test_a_file_is_named_after_what_it_shows(text: TraceEntry) -> None:
    found = export.export(text, 1, 2, "matrix", "csv")
    assert found.name == "decoder-2-3-heads-width-15-matrix-layer-1-head-2.csv"
    rows = list(csv.DictReader(io.StringIO(found.data.decode())))
    weights = text.view.weights(1, 2).numpy()
    assert [np.float32(row["weight"]) for row in rows] == weights.ravel().tolist()


@pytest.mark.parametrize("form", ["matrix", "atlas"])
def test_a_page_opens_at_the_chosen_layer_and_head(text: TraceEntry, form: str) -> None:
    page = export.export(text, 1, 2, form, "html").data.decode()
    start = json.loads(re.findall(r'"start": (\{.*?\})', page)[0])
    assert (start["layer"], start["head"]) == (1, 2)


def test_brighter_is_more_over_any_picture() -> None:
    """Luminance by weight, for each grey level of a picture, and of one drawn grey."""
    weights, ends = np.linspace(0, 1, 256)[None] ** 2, []
    for grey in (False, True):
        for level in range(0, 256, 15):
            picture = np.full((1, 256, 3), level, np.uint8)
            scale = Scale("root", 0, 1, "", "dark")
            found = veiled(layer_of(weights, scale), picture, grey=grey).astype(float)
            light = found @ [0.2126, 0.7152, 0.0722]
            assert (np.maximum.accumulate(light, 1) - light).max() < 1.5  # levels are rounded
            ends.append((light[0, 0], light[0, -1]))
    assert min(most for _, most in ends) > max(none for none, _ in ends) + 60


def test_a_nearly_uniform_map_leaves_the_picture_visible() -> None:
    even = np.full((5, 5), 1 / 26) + np.linspace(0, 1e-3, 25).reshape(5, 5)
    peaked = np.eye(5)
    for weights, name in ((even, "even"), (peaked, "peaked")):
        scale = Scale("root", 0, float(weights.max()), "", "dark")
        opacity = layer_of(weights, scale, strength_of(weights))[..., 3]
        assert is_nearly_uniform(weights) == (name == "even")
        assert (opacity.max() < 40) == (name == "even")


def test_a_picture_without_its_sinks(photo: TraceEntry) -> None:
    """Against the weights: the class token and patches that are outliers take nothing."""
    trace, site, head, token = photo.view, photo.view.sites[1], 2, 7
    keys = list(patch_sinks(photo.trace, site, outliers=True).keys)
    weights = trace.weights(site, head).clone()
    weights[:, keys] = np.nan
    asked = {"sinks": "hidden", "outliers": True, "token": token}
    found = np.load(io.BytesIO(export.export(photo, 1, head, "image", "npz", **asked).data))
    np.testing.assert_allclose(found["weights"][0], weights, rtol=1e-5)
    code = export.python(photo, 1, head, "image", **asked).code
    assert "sinks='hidden', outliers=True" in code


def test_weights_lie_over_the_picture_as_in_the_view(photo: TraceEntry) -> None:
    """The middle of each patch, against one blended by hand."""
    asked = {"token": 3}
    svg = export.export(photo, 1, 0, "image", "svg", **asked).data
    picture, drawn = (pixels.astype(float) for pixels in svg_files.pictures(svg))
    weights = photo.trace.weights(1, 0)[3, 1:]
    cell = len(drawn) // 5
    middle = slice(cell // 2, None, cell)
    before, after = picture[middle, middle].reshape(25, 3), drawn[middle, middle].reshape(25, 3)
    level = np.rint(255 * np.sqrt(weights.numpy())).astype(int)
    fade = min(1, max(0.15, float(weights.max() / weights.mean()) - 1))
    share = np.rint((140 + level * 90 // 256) * fade)[:, None] / 255
    expected = before * (1 - share) + sequential("dark")[level] * share
    assert np.abs(after - expected).max() < 1.01  # rounding


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"form": "image"},
            f"expected {', '.join(form.name for form in FORMS if form.texts)} as form",
        ),
        ({"site": 2}, "expected site 0 to 1"),
        ({"head": 3}, "expected head 0 to 2"),
        ({"form": "lines", "shown": (0, 5)}, "expected head 0 to 2"),
        ({"token": 7}, "token: expected 0 to 6"),
    ],
)
def test_what_is_not_there_is_refused(text: TraceEntry, given: dict, message: str) -> None:
    asked = {"site": 0, "head": 0, "form": "matrix", "format": "svg"} | given
    with pytest.raises(QuestionError, match=message):
        ENDPOINTS["text", "export"].answer(text, **asked)
