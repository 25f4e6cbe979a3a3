"""Exported files, each opened by a reader of its own."""

import io
import re
import xml.etree.ElementTree as ElementTree
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.run import Model, Trace, load, trace
from models.vit import ViTConfig
from tests.viz import svg_files
from viz import __version__
from viz.export import export
from viz.export.files import FORMATS
from viz.theme import sequential
from viz.views import EVERY, FORM, WHOLE

HOSTILE = 'so <img src=x onerror="alert(1)"> & שלום سلام 😀 ]]> {} %s -- it'
SVG = "{http://www.w3.org/2000/svg}"
LAYER, HEADS, DIM = 2, 3, 21
FORMS = [name for name, form in FORM.items() if not (form.answers or form.heard)]


@cache
def network() -> Model:
    return load(EncoderConfig(vocab=101, dim=DIM, depth=LAYER + 1, heads=HEADS, mlp=13, seed=5))


@cache
def text_trace() -> Trace:
    return trace(network(), HOSTILE)


@cache
def predicting() -> Model:
    return load(DecoderConfig(vocab=101, dim=21, depth=2, heads=3, mlp=13, seed=5))


@cache
def predicted() -> Trace:
    return trace(predicting(), HOSTILE)


@cache
def picture() -> Image.Image:
    pixels = np.random.default_rng(3).integers(0, 256, (20, 28, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


@cache
def picture_model() -> Model:
    return load(ViTConfig(image=20, patch=4, dim=15, depth=2, heads=3, mlp=7, seed=1))


@cache
def picture_trace() -> Trace:
    return trace(picture_model(), picture())


def options(view: str) -> dict:
    found = {"view": view, "layer": None if view in EVERY else 1}
    if FORM[view].runs:
        return found | {"run": (predicting(), HOSTILE)}
    relevance = {"method": "gradient", "output": "a word", "run": (network(), HOSTILE)}
    return found | (relevance if view == "faithfulness" else {})


def traced(view: str) -> Trace:
    if FORM[view].runs:
        return predicted()
    return text_trace() if FORM[view].texts else picture_trace()


def made(tmp_path: Path, suffix: str, view: str = "matrix", **more) -> bytes:
    given: dict[str, Any] = options(view) | more
    if not FORM[view].texts:
        given["picture"] = picture()
    if view == "features":
        given["run"] = (picture_model(), picture())
    return export(traced(view), tmp_path / f"file{suffix}", **given).read_bytes()


ONCE = [*product(["matrix"], FORMATS), *product(FORMS, [".svg"]), ("image", ".html")]


@pytest.mark.parametrize(("view", "suffix"), ONCE)
def test_the_same_call_gives_the_same_bytes(tmp_path: Path, view: str, suffix: str) -> None:
    assert made(tmp_path, suffix, view) == made(tmp_path, suffix, view)


@pytest.mark.parametrize("view", FORMS)
def test_figures_name_model_layer_and_version(tmp_path: Path, view: str) -> None:
    place = {
        **dict.fromkeys(EVERY, "every head"),
        **dict.fromkeys(WHOLE, "all layers together"),
    }
    wanted = [traced(view).model, place.get(view, "layer 1")]
    wanted += [f"Headscope {__version__}", "untrained: random weights"]
    svg = made(tmp_path, ".svg", view)
    document = pypdfium2.PdfDocument(made(tmp_path, ".pdf", view))
    texts = {
        "svg": " ".join(svg_files.texts(svg)),
        "pdf": document[0].get_textpage().get_text_range(),
    }
    for name, text in texts.items():
        missing = [each for each in wanted if each.lower() not in " ".join(text.split()).lower()]
        assert not missing, f"{name}: {missing}"
    title = ElementTree.fromstring(svg).findtext(f"{SVG}title")
    assert document.get_metadata_value("Title") == title


def test_png_is_at_print_size_and_says_what_it_shows(tmp_path: Path) -> None:
    image = Image.open(io.BytesIO(made(tmp_path, ".png", head=0)))
    image.load()
    assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
    assert image.width == round(468 * 300 / 72)
    assert image.info["Title"] == f"{text_trace().model} · layer 1 · head 0"
    assert "Input: “so <img" in image.info["Description"]
    assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)


def test_svg_has_the_labels_as_text_and_no_markup_of_theirs(tmp_path: Path) -> None:
    file = made(tmp_path, ".svg")
    root = ElementTree.fromstring(file)
    drawn = {each.tag for group in root.iter(f"{SVG}g") for each in group}
    assert drawn <= {SVG + tag for tag in ("g", "path", "text", "image", "defs", "use")}
    assert not [name for element in root.iter() for name in element.attrib if name[:2] == "on"]
    written = svg_files.texts(file)
    assert [label for label in text_trace().labels if label not in written] == []


@pytest.mark.parametrize("view", ["matrix", "lines", "text"])
def test_text_is_no_mathematics(tmp_path: Path, view: str) -> None:
    """Signs that TeX reads stand in every kind of file as they were typed."""
    words = ["a_$\\frac$", "$x^2$", "{", "}", "100%", "<b>", "\\alpha", "#1", "~", "\x1b"]
    found = trace(network(), " ".join(words))
    assert "$" in "".join(found.labels)
    asked: dict[str, Any] = {"view": view, "layer": 1, "head": 0}
    svg = export(found, tmp_path / "file.svg", **asked).read_bytes()
    signs = [label.replace("\x1b", "␛") for label in found.labels]
    assert [each for each in signs if each not in svg_files.texts(svg)] == []
    assert " ".join(words[:-1]) in svg_files.about(svg)
    pdf = export(found, tmp_path / "file.pdf", **asked)
    read = pypdfium2.PdfDocument(pdf)[0].get_textpage().get_text_range()
    assert " ".join(words[:-1]) in " ".join(read.split())
    assert export(found, tmp_path / "file.png", **asked).stat().st_size > 1000


def test_svg_cells_have_the_colour_of_their_weight(tmp_path: Path) -> None:
    """The middle of each cell, against the palette looked up cell by cell."""
    (pixels,) = svg_files.pictures(made(tmp_path, ".svg", head=1))
    weights = text_trace().weights(1, 1).numpy()
    side = len(pixels) // len(weights)
    found = pixels[side // 2 :: side, side // 2 :: side]
    ramp = sequential("light")
    for (row, col), weight in np.ndenumerate(weights):
        assert found[row, col].tolist() == ramp[round(255 * float(weight) ** 0.5)].tolist()


@pytest.mark.parametrize("view", ["matrix", "model"])
def test_a_figure_of_200_tokens_grows_until_each_has_a_label(tmp_path: Path, view: str) -> None:
    words = [chr(97 + i // 26) + chr(97 + i % 26) for i in range(198)]
    config = EncoderConfig(vocab=101, dim=DIM, depth=1, heads=HEADS, mlp=13, max_tokens=256)
    found = trace(load(config), " ".join(words))
    names = list(found.labels)
    assert len(names) >= 198
    given: dict[str, Any] = {"head": 1, "layer": 0} if view == "matrix" else {"method": "rollout"}
    saved = {
        suffix: export(found, tmp_path / f"file{suffix}", view=view, **given).read_bytes()
        for suffix in (".svg", ".pdf", ".png")
    }
    written = [text for text in svg_files.texts(saved[".svg"]) if text in {*names}]
    assert written[: 2 * len(names)] == [*names, *names]  # of rows and of columns
    document = pypdfium2.PdfDocument(saved[".pdf"])
    assert set(names) <= set(document[0].get_textpage().get_text_range().split())
    wide, high = document[0].get_size()
    assert min(wide, high) > 198 * 7
    picture = Image.open(io.BytesIO(saved[".png"]))
    assert picture.width * picture.height < 12_100_000
    assert picture.info["dpi"][0] > 150


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"view": "qq", "layer": 0}, "view: expected one of matrix, lines, text, head"),
        ({}, "layer: expected one of [0, 1, 2] for 'matrix', received None"),
        ({"layer": 9}, "layer: expected 0 to 2, received 9"),
        ({"layer": 0, "head": HEADS}, "head: expected 0 to 2, mean or max, received 3"),
        ({"layer": 0, "head": []}, "head: expected at least one"),
        ({"layer": 0, "head": "median"}, "head: expected one of mean, max, received 'median'"),
        ({"layer": 0, "scale": "cube"}, "scale: expected one of fixed, own, received 'cube'"),
        (
            {"layer": 0, "rows": (2, 4)},
            "rows: expected a range such as range(2, 5), received (2, 4)",
        ),
        ({"view": "image", "layer": 0}, "expected the trace of a picture, received one of a text"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, given: dict, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        export(text_trace(), tmp_path / "figure.svg", **given)
    assert not list(tmp_path.iterdir())


def test_a_page_of_512_tokens_is_under_two_mebibytes(tmp_path: Path) -> None:
    config = EncoderConfig(vocab=101, dim=24, depth=2, heads=12, mlp=3, max_tokens=512)
    long = trace(load(config), " ".join(f"w{i}" for i in range(512)))
    path = export(long, tmp_path / "long.html", layer=1, head=3)
    assert len(long.labels) == 512
    assert path.stat().st_size <= 2 * 2**20


def test_text_in_a_page_is_no_markup(tmp_path: Path) -> None:
    written = made(tmp_path, ".html").decode()
    assert "<img" not in written
    assert len(re.findall("<script", written)) == len(re.findall("</script>", written)) == 1
