"""Files for the browser: what they hold, what they are called, and what is refused."""

import csv
import io
import re

import numpy as np
import pytest
import torch
from PIL import Image

from models.decoder import DecoderConfig
from models.run import load, trace
from models.vit import ViTConfig
from viz.api import export, image
from viz.api.entries import ImageEntry, TextEntry
from viz.api.requests import QuestionError, numbers
from viz.export.figures import VIEWS
from viz.export.files import FORMATS
from viz.image import Picture


@pytest.fixture(scope="module")
def text() -> TextEntry:
    model = load(DecoderConfig(vocab=31, dim=15, heads=3, depth=2, mlp=7, seed=2))
    found = trace(model, torch.arange(7)[None])
    return TextEntry(found, lambda site, head: f"weights of {site}, {head}")


@pytest.fixture(scope="module")
def photo() -> ImageEntry:
    pixels = np.random.default_rng(5).integers(0, 256, (20, 20, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    model = load(ViTConfig(image=20, patch=4, dim=15, depth=2, heads=3, mlp=7))
    found = trace(model, Image.fromarray(pixels))
    return ImageEntry(
        found, Picture(file.getvalue(), "image/png"), 4, 15, "p1 p2 c", lambda *_: "x", "image"
    )


def test_the_tables_agree() -> None:
    assert {f".{name}" for name in export.KINDS} == set(FORMATS)
    assert set(export.FORMS) == set(VIEWS)


def test_a_file_is_named_after_what_it_shows(text: TextEntry) -> None:
    found = export.export(text, "id", 1, 2, "matrix", "csv")
    assert found.name == "decoder-2-3-heads-width-15-matrix-layer-1-head-2.csv"
    rows = list(csv.DictReader(io.StringIO(found.data.decode())))
    weights = text.shown.weights(1, 2).numpy()
    assert [np.float32(row["weight"]) for row in rows] == weights.ravel().tolist()


def test_names_hold_nothing_that_a_header_cannot(text: TextEntry) -> None:
    for form in ("matrix", "lines", "atlas"):
        name = export.export(text, "id", 0, "mean", form, "npz").name
        assert re.fullmatch(r"[A-Za-z0-9.-]+\.npz", name)


def test_several_heads_and_a_token_of_lines(text: TextEntry) -> None:
    found = export.export(
        text, "id", 0, 1, "lines", "svg", shown=(0, 2), token=6, direction="out"
    ).data.decode()
    assert "heads 0, 2" in found
    assert "Only the lines of “6” (6) are drawn." in found
    weights = text.shown.weights(0)[[0, 2], 6]
    strokes = re.findall(r'd="([^"]*)" fill="none" stroke="[^"]*" stroke-width="0.9"', found)[:-3]
    assert sum(path.count("M") for path in strokes) == int((weights >= 0.01).sum())


def test_python_code_ends_with_the_same_figure(text: TextEntry, photo: ImageEntry) -> None:
    code = export.python(text, "id", 1, 0, "lines", scale="own", shown=(0, 2))["code"]
    compile(code.replace("weights of 1, 0", ""), "code", "exec")
    assert code.endswith(
        "export(t, 'decoder-2-3-heads-width-15-lines-layer-1-head-0-2.pdf', view='lines',"
        " layer=1, head=[0, 2], scale='own')"
    )
    code = export.python(photo, "id", 0, 1, "image", token=3)["code"]
    assert code.endswith("layer=0, head=1, token=3, direction='out', picture=image)")


def test_python_code_of_the_whole_model_runs_and_gives_the_numbers_that_are_shown() -> None:
    from viz.api import model as whole

    opened = load(DecoderConfig(vocab=31, dim=15, heads=3, depth=2, mlp=7, seed=2))
    given = torch.arange(7)[None]
    code = "t = trace(model, torch.arange(7)[None])"
    entry = TextEntry(
        trace(opened, given), lambda site, head: code, opened=lambda: (opened, given, None)
    )
    names = {"model": opened, "torch": torch, "trace": trace}

    made = export.python(entry, "id", 0, 0, "model", method="gradient", output="3.5")["code"]
    *lines, last = made.splitlines()
    exec("\n".join(lines), names)  # the code that the page offers
    shown = whole.relevance(entry, "id", 0, "gradient", "3.5")["values"]
    assert eval(last, names).tolist() == pytest.approx(shown, rel=1e-4)  # five digits are sent

    made = export.python(entry, "id", 0, "mean", "model", method="alti")["code"]
    exec(made.split("from viz.export")[0], names)
    assert names["t"].hidden(0).shape == (7, 15)


def test_the_shared_scale_of_a_layer_ends_at_its_largest_patch(photo: ImageEntry) -> None:
    """Against the peak that the view itself is sent."""
    from viz.pack import unpack

    header, _ = unpack(image.layer_of(photo, "id", 1))
    peak = header["layers"][0]["peaks"][0]
    svg = export.export(photo, "id", 1, 0, "image", "svg", scale="layer", token=0).data.decode()
    assert f">{peak:.3g}</text>" in svg


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"form": "image"},
            "expected matrix, lines, atlas, text, qk, stages, model, scatter as form",
        ),
        ({"site": 2}, "expected site 0 to 1"),
        ({"head": 3}, "expected head 0 to 2"),
        ({"form": "lines", "shown": (0, 5)}, "expected head 0 to 2"),
        ({"token": 7}, "expected token 0 to 6"),
    ],
)
def test_what_is_not_there_is_refused(text: TextEntry, given: dict, message: str) -> None:
    asked = {"site": 0, "head": 0, "form": "matrix", "format": "svg"} | given
    with pytest.raises(QuestionError, match=message):
        export.export(text, "id", **asked)


def test_numbers_are_each_given_once() -> None:
    assert numbers("0.12") == (0, 12)
    with pytest.raises(QuestionError):
        numbers("1.1")
