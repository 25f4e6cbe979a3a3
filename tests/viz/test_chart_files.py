"""Plotly charts as files: every number and word of the chart, at its place."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import plotly.graph_objects as go
import pypdfium2
import pytest
from PIL import Image

from viz.drawing.charts import charts
from viz.drawing.parts import Caption
from viz.drawing.scene import Fill, Raster, Stroke, Text
from viz.export.charts import SUFFIXES, chart_file, series_of
from viz.figures import bars, curves, facets, heatmap
from viz.positions import pairs, tiles
from viz.theme import COLOURS, diverging, sequential
from viz.vision import distances, norms

VALUES = np.linspace(-1, 1, 12).reshape(3, 4)
CAPTION = Caption("A title", (), "Headscope")
TITLE = "<b> & “signed”"


def cells(**more) -> go.Figure:
    axes = {"x": "dimension", "y": "position", "bar": "value", "low": -1, "high": 1}
    return heatmap(VALUES, title=TITLE, **axes, **more)


def lines(**more) -> go.Figure:
    named = {"first": np.array([0.0, 1, 4, 9]), "second": np.array([9.0, 4, 1, 0])}
    return curves(np.arange(4), named, title="Lines", x="distance", y="product", **more)


def of(kind, scene):
    return [item for item in scene.items if isinstance(item, kind)]


def test_cells_have_the_colours_of_the_theme_and_stand_as_on_the_page():
    drawn = of(Raster, charts([cells()], CAPTION))
    expected = diverging("light")[np.rint(255 * (VALUES + 1) / 2).astype(int)]
    assert len(drawn) == 1
    assert np.array_equal(drawn[0].pixels, expected)
    rising = facets({"a": VALUES + 1, "b": VALUES + 1}, title="", x="", y="", bar="", low=0, high=2)
    for each in of(Raster, charts([rising], CAPTION)):
        table = sequential("light")[np.rint(255 * (VALUES + 1) / 2).astype(int)]
        assert np.array_equal(each.pixels, table)
        assert each.box[2] / 4 == pytest.approx(each.box[3] / 3)  # square cells


def test_lines_are_where_their_numbers_are():
    """Straight maps from numbers to points of the page, the same for both lines."""
    scene = charts([lines(span=(0, 10))], CAPTION)
    colours = COLOURS["light"].heads
    found = [item for item in of(Stroke, scene) if item.colour in colours and item.width == 1.0]
    assert [item.colour for item in found] == list(colours[:2])
    up = np.zeros(2)
    for item, y in zip(found, ([0, 1, 4, 9], [9, 4, 1, 0]), strict=True):
        points = np.array([*[segment[:2] for segment in item.segments], item.segments[-1][2:]])
        across = np.polyfit(np.arange(4), points[:, 0], 1)
        up = np.polyfit(y, points[:, 1], 1)
        np.testing.assert_allclose(np.polyval(across, np.arange(4)), points[:, 0], atol=1e-9)
        np.testing.assert_allclose(np.polyval(up, y), points[:, 1], atol=1e-9)
        assert across[0] > 0 > up[0]
    ticks = {item.text: item.y for item in of(Text, scene) if re.fullmatch(r"\d+", item.text)}
    assert np.polyval(up, 10) == pytest.approx(ticks["10"] - 6.5 * 0.35)


def test_a_band_is_between_its_edges():
    band = np.array([0.0, 0, 0, 0]), np.array([2.0, 2, 2, 2])
    scene = charts([lines(band=band, span=(0, 10))], CAPTION)
    drawn = [item for item in of(Fill, scene) if item.opacity < 1]
    frames = [item for item in of(Stroke, scene) if len(item.segments) == 4]
    (_, top, _, bottom) = frames[0].segments[1]
    heights = {round(box[3], 6) for box in drawn[0].boxes}
    assert heights == {round((bottom - top) * 0.2, 6)}
    flat = charts([lines(band=(band[0], band[0]))], CAPTION)
    assert all(box[3] > 0 for item in of(Fill, flat) for box in item.boxes)


def test_bars_are_as_long_as_their_shares():
    scene = charts([bars(["one", "two"], [0.25, 0.5], title="Bars", x="share")], CAPTION)
    first, second = next(item for item in of(Fill, scene) if len(item.boxes) == 2).boxes
    assert second[2] == pytest.approx(2 * first[2])
    assert first[1] < second[1]  # the first on top
    assert {"one", "two", "0.250", "0.500"} <= {item.text for item in of(Text, scene)}


def test_dials_and_tiles_are_drawn():
    angles = np.array([0.0, np.pi / 2])
    dials = charts([pairs(angles, angles, ["pair 0", "pair 1"], title="Dials")], CAPTION)
    assert {"pair 0", "pair 1", "query", "key"} <= {item.text for item in of(Text, dials)}
    grid = tiles(np.eye(6), 2, 3, title="Tiles", bar="cosine", low=-1, high=1)
    pixels = of(Raster, charts([grid], CAPTION))[0].pixels
    assert pixels.shape == (2 * 3 - 1, 3 * 4 - 1, 3)
    assert (pixels[2] == 255).all()  # the gap


def test_the_figures_of_pictures_are_drawn():
    """A marked line keeps its name; what is not there has no mark."""
    values = np.array([[1.0, np.nan], [3.0, 4.0]])
    found = charts([distances(values, title="", uniform=2.0, unit="pixels")], CAPTION)
    assert "uniform attention: 2.0000" in {item.text for item in of(Text, found)}
    marks = next(item for item in of(Fill, found) if item.colour == COLOURS["light"].heads[0])
    assert len(marks.boxes) == 3
    outliers = norms(values, values > 3, ["a", "b"], title="")
    assert [each.name for each in series_of([outliers])] == ["", "outlier"]


def test_other_traces_are_refused():
    with pytest.raises(ValueError, match="received pie"):
        charts([go.Figure(go.Pie(values=[1]))], CAPTION)
    with pytest.raises(ValueError, match="at least one chart"):
        charts([], CAPTION)


def test_every_file_opens_and_has_the_words():
    figures = [cells(mark=(1, 2)), lines()]
    files = {suffix: chart_file(figures, suffix, TITLE, ("A note.",)) for suffix in SUFFIXES}
    assert files == {s: chart_file(figures, s, TITLE, ("A note.",)) for s in SUFFIXES}
    texts = [text.text for text in ElementTree.fromstring(files[".svg"]).iter() if text.text]
    page = pypdfium2.PdfDocument(files[".pdf"])[0].get_textpage().get_text_range()
    for word in (TITLE, "A note.", "dimension", "position", "first", "second", "distance"):
        assert any(word in text for text in texts), word
        assert word in page
    assert Image.open(io.BytesIO(files[".png"])).width > 1500


def test_numbers_are_those_of_the_charts():
    figures = [cells(), lines(), bars(["one"], [0.25], title="Bars", x="share")]
    found = np.load(io.BytesIO(chart_file(figures, ".npz", TITLE)))
    assert np.array_equal(found["values_0"], VALUES)
    assert found["axes_0"].tolist() == ["position", "dimension"]
    assert found["values_1"].tolist() == [0, 1, 4, 9]
    assert found["places_1_1"].tolist() == [0, 1, 2, 3]
    rows = [*csv.DictReader(io.StringIO(chart_file(figures, ".csv", TITLE).decode()))]
    assert len(rows) == 12 + 8 + 1
    cell = next(row for row in rows if (row["place_1"], row["place_2"]) == ("2", "1"))
    assert float(cell["value"]) == pytest.approx(VALUES[2, 1], rel=1e-8)
    assert [row["value"] for row in rows if row["series"] == "second"] == ["9", "4", "1", "0"]
    step = facets({"a": VALUES}, title="", x="", y="", bar="", low=0, high=1, most=2)
    assert next(series_of([step])).places[1].tolist() == [0, 2]
