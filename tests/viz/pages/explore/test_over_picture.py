"""Attention over a picture where queries and keys differ, against the library's own."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from streamlit.testing.v1 import AppTest

from benchmarks.architectures import redraw
from models.pretrained.detection import detections
from models.run import load
from models.trace import PatchGrid
from tests.models.pretrained.test_detection import deformable, small_detr, yolos
from tests.models.pretrained.test_grids import SEGFORMER
from tests.viz.pages import helpers
from tests.viz.pages.explore.test_figures import array
from viz.api import registry
from viz.api.samples import PHOTOS
from viz.api.text import row_of
from viz.pack import unpack
from viz.pages.explore import over_picture
from viz.pages.state import session


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Any]]:
    places = {name: tmp_path_factory.mktemp(name) for name in ("detr", "segformer")}
    torch.manual_seed(0)
    segformer = transformers.SegformerModel(transformers.SegformerConfig(**SEGFORMER)).eval()
    redraw(segformer)
    segformer.save_pretrained(places["segformer"])
    size = {"height": 96, "width": 160}
    transformers.SegformerImageProcessor(size=size).save_pretrained(places["segformer"])
    return {
        "detr": (places["detr"], small_detr(places["detr"])),
        "segformer": (places["segformer"], segformer),
    }


def opened(folder: Path, **query: str) -> AppTest:
    app = helpers.run("explore", {"place": "folder", "folder": str(folder), **query})
    assert helpers.lines(app) == []
    return app


def test_one_sentence_names_where_the_other_direction_is(folders) -> None:
    app = opened(folders["segformer"][0])
    assert any("is a column of the matrix above" in each.value for each in app.caption)
    assert helpers.view(app, "text")["kind"] == "text"


def figure_of(app: AppTest) -> Any:
    (found,) = helpers.figures(app)
    return found


def maps(network: Any, processor: Any, name: str) -> Any:
    """The library's own weights of the first photo, layer by layer."""
    inputs = processor(Image.open(PHOTOS["flower"]), return_tensors="pt")
    network.set_attn_implementation("eager")
    with torch.no_grad():
        return network(**inputs, output_attentions=True)[name]


def test_cells_that_look_at_a_coarser_grid(folders: Any) -> None:
    """Layer 0 of SegFormer: a cell of 24 × 40 looks at 3 × 5 areas."""
    folder, network = folders["segformer"]
    app = opened(folder, over="0", over_head="mean", over_row="13", over_column="31")
    props = helpers.view(app, "cells")
    assert props["query"] == {"rows": 24, "cols": 40, "prefix": 0}
    assert props["key"] == {"rows": 3, "cols": 5, "prefix": 0}
    assert (props["site"], props["head"], props["chosen"]) == (0, "mean", 13 * 40 + 31)
    assert props["picture"].startswith("data:image/png;base64,")
    assert len(base64.b64decode(props["ramp"])) == 768
    processor = transformers.SegformerImageProcessor.from_pretrained(folder)
    expected = maps(network, processor, "attentions")[0][0].mean(0)
    held = registry.get(props["trace"])
    for query in (props["chosen"], 7):
        header, area = unpack(row_of(held.value, held.id, 0, "mean", "query", query))
        (row,) = header["rows"]
        found = np.frombuffer(area, np.float32, row["count"], row["at"])
        np.testing.assert_allclose(found, expected[query], rtol=1e-4, atol=1e-6)
    assert any("Cell 13, 31 of 24 × 40" in each.value for each in app.markdown)
    helpers.choose(app, "explore", "over", 3)
    assert helpers.view(app, "cells")["chosen"] == 2 * 5 + 4  # held within this grid
    assert any("Cell 2, 4 of 3 × 5" in each.value for each in app.markdown)
    app.session_state["explore_cells"] = {"picked": 6}
    app.session_state["state/waiting"].append(
        session.Waiting(lambda: over_picture._pick(PatchGrid(3, 5)), None, 0)
    )
    helpers.checked(app.run())
    assert any("Cell 1, 1 of 3 × 5" in each.value for each in app.markdown)


def test_object_queries_with_their_boxes(folders: Any) -> None:
    folder, network = folders["detr"]
    app = opened(folder, over_head="1", over_query="2", over_score="0")
    figure = figure_of(app)
    processor = transformers.DetrImageProcessor.from_pretrained(folder)
    expected = maps(network, processor, "cross_attentions")[0][0, 1, 2]
    found = array(figure.data[0].z)
    np.testing.assert_allclose(found.flatten(), expected, rtol=1e-4, atol=1e-6)
    boxes = detections(load(str(folder)), Image.open(PHOTOS["flower"]))
    left, top, right, bottom = np.clip(boxes[2].box, 0, 1)  # the part within the picture
    frame = figure.data[-1]
    rows, cols = found.shape
    expected = [left * cols - 0.5, right * cols - 0.5, top * rows - 0.5, bottom * rows - 0.5]
    drawn = [min(frame.x), max(frame.x), min(frame.y), max(frame.y)]
    assert drawn == pytest.approx(expected, abs=1e-4)
    names = [each.text for each in figure.layout.annotations]
    assert len(names) == len(boxes) == 5
    assert names[-1].startswith(boxes[2].name.replace("<", "&lt;").replace(">", "&gt;"))
    app = opened(folder, over_head="1", over_query="2", over_score="100")
    assert len(figure_of(app).layout.annotations) == 1  # the chosen one alone


def saved(make: Any, folder: Path, **size: int) -> tuple[Any, Any]:
    """A detector in a folder, with its processor."""
    torch.manual_seed(0)
    network, name = make()
    redraw(network.eval())
    network.save_pretrained(folder)
    processor = getattr(transformers, name)(size=size)
    processor.save_pretrained(folder)
    return network, processor


def test_object_queries_that_look_at_each_other(tmp_path: Path) -> None:
    """Deformable DETR: what its queries read of the picture is no softmax over cells."""
    network, processor = saved(deformable, tmp_path, height=64, width=96)
    app = opened(tmp_path, over="1", over_head="1", over_query="2", over_score="0")
    figure = figure_of(app)
    weights = maps(network, processor, "decoder_attentions")[1][0, 1, 2]
    boxes = detections(load(str(tmp_path)), Image.open(PHOTOS["flower"]))
    names = [each.text for each in figure.layout.annotations]
    order = [0, 1, 3, 4, 2]  # the chosen one on top
    assert len(names) == 5
    for name, query in zip(names, order, strict=True):
        assert name.endswith(f" {boxes[query].score:.0%}: {weights[query]:.3f}")
    says = next(each.value for each in app.markdown if "Object query 2" in each.value)
    assert f"most at query {int(weights.argmax())} " in says.replace("\\", "")
    assert figure.data[0].type == "image"


def test_detection_tokens_among_the_patches(tmp_path: Path) -> None:
    """YOLOS: its queries stand after the patches in one sequence."""
    network, processor = saved(yolos, tmp_path, shortest_edge=64, longest_edge=96)
    app = opened(tmp_path, over="1", over_head="0", over_query="23")
    weights = maps(network, processor, "attentions")[1][0, 0, 23]
    np.testing.assert_allclose(
        array(figure_of(app).data[0].z).flatten(), weights[1:21], rtol=1e-4, atol=1e-6
    )
    assert any("Object query 2, which says" in each.value for each in app.markdown)
    helpers.choose(app, "explore", "over_query", "cell")
    assert any("Cell 0, 0 of 4 × 5" in each.value for each in app.markdown)
    assert helpers.view(app, "cells")["query"] == {"rows": 4, "cols": 5, "prefix": 1}


def test_a_model_of_patches_has_its_own_view(folders: Any) -> None:
    app = helpers.run("explore", {"place": "catalogue", "model": "objects"})
    assert not helpers.specs(app)
