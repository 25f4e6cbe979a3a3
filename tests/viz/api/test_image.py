"""The API over the trace of a picture: every route, exact numbers, and what is refused."""

import numpy as np
import pytest
import torch
from PIL import Image

from models.image import fit_image, open_image
from models.request import Picture, TraceRequest, file_of
from models.run import load, trace
from models.vit import ViTConfig
from tests.viz.api.asking import ask
from viz.api import registry, tracing
from viz.api.entries import TraceEntry
from viz.api.text import overview
from viz.export.entries import pixels_of
from viz.pack import BUDGET, unpack
from viz.views.pictures.numbers import encoded
from viz.views.request import input_of

GRID, PREFIX, HEADS, TOKENS = (3, 5), 3, 3, 18  # a class token and two registers
CODE = "t.weights(layer=0)"


def entry_of(config, seed=0):
    rows, cols = config.image if isinstance(config.image, tuple) else (config.image,) * 2
    pixels = np.random.default_rng(seed).integers(0, 256, (rows, cols, 3), np.uint8)
    image = Image.fromarray(pixels)
    found = trace(load(config), image)
    return TraceEntry(found, pictures=(image,), patches=True)


@pytest.fixture(scope="module")
def entry():
    config = ViTConfig(image=(12, 20), patch=4, dim=21, heads=HEADS, depth=2, mlp=13, registers=2)
    return entry_of(config)


@pytest.fixture(scope="module")
def large():
    """3,601 tokens: more than one message holds."""
    return entry_of(ViTConfig(image=480, patch=8, dim=96, heads=6, depth=1, mlp=96))


def hold(entry, key="picture"):
    return registry.once(("test", key, id(entry)), lambda: entry).id


@pytest.fixture
def path(entry):
    return f"/api/trace/{hold(entry)}"


def weights_of(entry, header, area):
    """A layer's cells as numbers, "head query key", each row by its own largest."""
    (part,) = header["layers"]
    heads, queries, keys = part["shape"]
    maxima = np.frombuffer(area, "<f4", heads * queries, part["maxima"]).reshape(heads, queries, 1)
    raw = np.frombuffer(area, np.uint8, offset=part["at"])
    cells = raw[: heads * queries * keys].reshape(heads, queries, keys)
    return maxima * (cells / 255) ** 2, maxima / 255


# --- answers --------------------------------------------------------------------------------------


def test_the_overview_tells_all_but_the_weights(client, path, entry):
    answer = client.get(f"{path}/overview")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    header, _ = unpack(answer.content)
    base = header["base"]
    (text,) = base["texts"]
    assert (base["patches"], base["explains"]) == (True, "classes")
    assert (text["grids"][0]["shape"], text["grids"][0]["box"]) == ([3, 5], [0, 0, 1, 1])
    assert text["grids"][0]["places"] == [*range(PREFIX, TOKENS)]
    assert base["note"] == "untrained: random weights"
    assert text["labels"] == entry.view.labels
    assert [(site["layer"], site["heads"], site["keys"]) for site in base["sites"]] == [
        (layer, HEADS, TOKENS) for layer in range(2)
    ]
    assert set(base["theme"]) == {"light", "dark"}
    assert header["layers"] == header["rows"] == []
    bare = entry_of(ViTConfig(image=8, patch=4, dim=6, depth=1, heads=1, mlp=3, classes=0))
    assert unpack(overview(bare))[0]["base"]["explains"] == "nothing"  # its states are like no text


def test_the_picture_is_the_part_that_is_read() -> None:
    """On the page without an edge that is in no patch, in files without what was cropped."""
    photo = np.random.default_rng(4).integers(0, 256, (45, 70, 3), np.uint8)
    file = file_of(encoded(Image.fromarray(photo)), "photo.png")
    asked = Picture(file, changes=(("size", 45),))
    shown = tracing.entry_for(TraceRequest(tracing.of_catalogue("shapes"), asked)).value
    rows, cols = shown.trace.grid or (0, 0)
    drawn = np.asarray(shown.pictures[0])
    side = drawn.shape[0] // rows
    middle, _ = fit_image(open_image(file.data), 45, 45)
    assert (rows, cols) == (45 // side, 45 // side)
    assert (drawn == np.asarray(middle)[: rows * side, : cols * side]).all()
    assert f"cover {100 * cols * side / 45:.0f}" in input_of(shown.trace)
    model, whole = load(ViTConfig(image=(12, 20), patch=4, dim=21, heads=3)), Image.fromarray(photo)
    found = pixels_of(trace(model, whole), whole)
    assert found is not None
    expected, _ = fit_image(open_image(fit_image(open_image(whole), 12, 20)[0]), *found.shape[:2])
    assert (found == np.asarray(expected)).all()


@pytest.mark.parametrize("site", [0, 1])
def test_a_layer_has_all_heads(client, path, entry, site):
    header, area = unpack(client.get(f"{path}/layer?site={site}").content)
    (layer,) = header["layers"]
    assert (layer["site"], layer["factor"]) == (site, 1)
    assert layer["shape"] == [HEADS, TOKENS, TOKENS]
    found, step = weights_of(entry, header, area)
    weights = entry.view.weights(site).numpy()
    assert (np.abs(found - weights) <= step).all()  # half a step at the scale's steepest


@pytest.mark.parametrize(("axis", "index"), [("query", 0), ("query", 17), ("key", 4)])
def test_the_rows_of_all_heads_are_exact(client, path, entry, axis, index):
    header, area = unpack(client.get(f"{path}/heads?site=1&axis={axis}&index={index}").content)
    (row,) = header["rows"]
    assert [row[name] for name in ("site", "head", "axis", "index")] == [1, "layer", axis, index]
    found = np.frombuffer(area, "<f4", row["count"], row["at"]).reshape(HEADS, TOKENS)
    weights = entry.view.weights(1).numpy()
    # the same numbers but for the order of float32 sums
    expected = weights[:, index] if axis == "query" else weights[:, :, index]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_many_patches_still_fit_one_message_and_their_columns_are_exact(client, large):
    path, shown = f"/api/trace/{hold(large)}", large.view
    answer = client.get(f"{path}/layer?site=0").content
    header, area = unpack(answer)
    (layer,) = header["layers"]
    assert (layer["factor"], layer["shape"]) == (4, [6, 226, 226])
    assert len(answer) < BUDGET + 20_000
    found, step = weights_of(large, header, area)
    query = 1 + 2 * 60 + 6  # the middle patch of the second cell
    row = shown.weights(0, 3, rows=range(query, query + 1))[0, 1:]
    cells = torch.nn.functional.max_pool2d(row.reshape(1, 60, 60), 4).flatten()
    assert (np.abs(found[3, 2, 1:] - cells.numpy()) <= step[3, 2]).all()
    _, area = unpack(client.get(f"{path}/heads?site=0&axis=key&index=1500").content)
    columns = np.frombuffer(area, "<f4", 6 * 3601).reshape(6, 3601)
    for head in (0, 5):
        weights = shown.weights(0, head, rows=range(0, 3601, 257))[:, 1500]
        np.testing.assert_allclose(columns[head, ::257], weights.numpy(), atol=1e-6)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("outliers", ["no", "yes"])
def test_the_sinks_of_a_layer(client, path, entry, outliers):
    answer = client.get(f"{path}/sinks?site=1&outliers={outliers}")
    (found,) = unpack(answer.content)[0]["sinks"]
    assert (found["site"], found["outliers"]) == (1, outliers)
    assert found["keys"][:PREFIX] == list(range(PREFIX))
    given = entry.view.weights(layer=1)[..., found["keys"]].sum(-1).mean(-1)
    assert found["shares"] == pytest.approx(given.tolist(), rel=1e-5)


def test_how_far_and_how_evenly_each_head_looks(entry):
    answer = ask(entry, "numbers")
    assert [each["key"] for each in answer["measures"]] == ["patch distance", "row entropy"]
    places = [(row, col) for row in range(GRID[0]) for col in range(GRID[1])]
    for layer in range(2):
        weights = entry.trace.weights(layer).double()
        entropies = -(weights * weights.log()).sum(-1).mean(-1)
        between = weights[:, PREFIX:, PREFIX:]
        apart = torch.tensor([[np.hypot(a - c, b - d) for c, d in places] for a, b in places])
        distances = ((between * apart).sum(-1) / between.sum(-1)).mean(-1)
        found = [answer["values"][each["key"]][layer] for each in answer["measures"]]
        assert found[0] == pytest.approx(distances.tolist(), rel=1e-5)
        assert found[1] == pytest.approx(entropies.tolist(), rel=1e-5)
