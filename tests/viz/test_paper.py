"""Paper: text within its place, nothing cut off, axes of one's own, a home that is read-only."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import headscope as hs
from models.decoder import DecoderConfig
from models.run import load
from models.trace import Trace
from viz.caption import Caption
from viz.colours import weight_scale
from viz.letters import fitted, visible, width, wrapped
from viz.paper import Page, sheet, style
from viz.parts import READABLE, matrix
from viz.views import FORMS

TEXT = "an unbelievably long word $x_1$ and Donaudampfschifffahrtsgesellschaft, 日本 سلام"
CAPTION = Caption("A title", ("A line.",))


@cache
def traced() -> tuple[Any, Trace]:
    model = load(DecoderConfig(vocab=101, dim=33, depth=2, heads=11, mlp=13, seed=5))
    return model, hs.trace(model, TEXT, hidden=True)


def beyond(figure: Figure) -> list[str]:
    """Texts and pictures that are not whole on the page."""
    figure.set_dpi(300)
    with style():
        figure.draw_without_rendering()
    (axes,) = figure.axes
    page = figure.bbox.padded(4)  # a point
    boxes = {str(each): each.get_window_extent() for each in (*axes.texts, *axes.images)}
    whole = [page.contains(*box.min) and page.contains(*box.max) for box in boxes.values()]
    return [name for name, inside in zip(boxes, whole, strict=True) if not inside]


@pytest.mark.parametrize("form", [form.name for form in FORMS if form.texts])
def test_nothing_of_a_view_is_cut_off(form: str) -> None:
    model, t = traced()
    given: dict[str, Any] = {"run": (model, TEXT)}
    if form == "faithfulness":
        given["method"] = "gradient"
    assert beyond(hs.figure(t, view=form, layer=1, **given)) == []


def test_a_figure_fits_axes_of_ones_own_and_leaves_the_settings() -> None:
    _, t = traced()
    before = dict(matplotlib.rcParams)
    whole = Figure((6, 4))
    left, right = whole.subplots(1, 2)
    assert hs.figure(t, layer=1, head=2, ax=left) is whole
    whole.draw_without_rendering()
    written = [text.get_text() for text in left.texts]
    assert written.count(t.labels[0]) == 2
    assert not [text for text in written if "Headscope" in text]
    assert all(text.get_fontsize() < 7 for text in left.texts)
    assert left.bbox.padded(1).contains(*left.images[0].get_window_extent().max)
    assert not right.texts
    assert dict(matplotlib.rcParams) == before


def test_figures_that_are_saved_at_once_are_those_saved_one_by_one(tmp_path: Path) -> None:
    """Settings of matplotlib are global."""
    _, t = traced()
    asked = [(view, layer) for view in ("matrix", "text", "lines") for layer in (0, 1)]

    def saved(place: tuple[str, int]) -> bytes:
        path = tmp_path / f"{'-'.join(map(str, place))}.svg"
        return hs.export(t, path, view=place[0], layer=place[1], head=3).read_bytes()

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(saved, asked)] == [*map(saved, asked)]


@pytest.mark.parametrize("shape", [(3, 400), (400, 3)])
def test_cells_of_a_long_narrow_matrix_are_high_enough_to_read(shape: tuple[int, int]) -> None:
    """Across it cells are `READABLE` points; moments stand for tokens that have no label."""
    weights = np.random.default_rng(0).dirichlet(np.ones(shape[1]), shape[0])
    queries, keys = ([f"{place / 50:.2f} s" for place in range(count)] for count in shape)

    def draw(page: Page) -> None:
        matrix(page, [("", weights)], queries, keys, weight_scale(1.0))

    figure = sheet([(draw, CAPTION)])
    left, right, low, high = figure.axes[0].images[0].get_extent()
    across = (low - high) / 3 if shape[0] < shape[1] else (right - left) / 3
    assert across >= READABLE
    assert beyond(figure) == []
    assert "0.00 s" in {text.get_text() for text in figure.axes[0].texts}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("it", "it"),
        (" ", "␣"),
        ("", "∅"),
        ("a\r\nb\t", "a↵b⇥"),
        ("\x00\x1b", "␀␛"),
        ("\ud800", "�"),
        ("a\u202eb\u2066c", "abc"),
    ],
)
def test_everything_is_visible_and_in_order(label: str, expected: str) -> None:
    assert visible(label) == expected


def test_text_keeps_to_its_width() -> None:
    short = fitted("unbelievable", 10, 40)
    assert short.endswith("…")
    assert width(short, 10) <= 40 < width("unbelievable", 10)
    assert fitted("ee\u0301eeeeee", 10, width("e…", 10) + 1)[-2:] == "e…"
    text = "a line of words and " + "x" * 100
    lines = wrapped(text, 8, 120)
    assert all(width(line, 8) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
