"""What the API says of a detector's objects equals the library's own numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from models.pretrained.detection import detections, sampling_points
from models.request import Picture, Source, TraceRequest, file_of
from tests.models.architectures import redraw
from tests.models.pretrained.test_detection import deformable, detr, rt_detr, yolos
from tests.models.pretrained.test_grids import SEGFORMER
from tests.viz.api.asking import ask
from viz.api import text, tracing
from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry
from viz.api.samples import PHOTOS
from viz.pack import unpack

SIZES: dict[str, Any] = {
    "detr": (detr, {"shortest_edge": 96, "longest_edge": 192}),
    "deformable": (deformable, {"height": 64, "width": 96}),
    "rt_detr": (rt_detr, {"height": 64, "width": 96}),
    "yolos": (yolos, {"shortest_edge": 64, "longest_edge": 96}),
}


def save(name: str, folder: Path) -> None:
    """A tiny network with its processor."""
    torch.manual_seed(0)
    if name == "segformer":
        network: Any = transformers.SegformerModel(transformers.SegformerConfig(**SEGFORMER))
        processor: Any = transformers.SegformerImageProcessor(size={"height": 96, "width": 160})
    else:
        make, size = SIZES[name]
        network, kind = make()
        processor = getattr(transformers, kind)(size=size)
    redraw(network.eval())
    network.save_pretrained(folder)
    processor.save_pretrained(folder)


def entry_of(folder: Path) -> TraceEntry:
    source = tracing.stamped(Source("folder", str(folder)))
    file = file_of(Path(PHOTOS["flower"]).read_bytes(), "flower.jpg")
    return tracing.entry_for(TraceRequest(source, Picture(file))).value


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], TraceEntry]:
    folders: dict[str, Path] = {}

    def trace(name: str) -> TraceEntry:
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp(name)
            save(name, folders[name])
        return entry_of(folders[name])

    return trace


def base_of(entry: TraceEntry) -> dict[str, Any]:
    return unpack(text.overview(entry))[0]["base"]


FIRST = {"detr": [-1, 0, 0, 0, 0], "deformable": [0, 0], "rt_detr": [-1, 0, 0], "yolos": [21, 21]}


@pytest.mark.parametrize("name", FIRST)
def test_each_object_has_its_box_and_its_rows(traced, name: str) -> None:
    entry = traced(name)
    answer = ask(entry, "objects")
    assert entry.opened is not None
    model, given, _ = entry.opened()
    expected = detections(model, given)
    assert [each["name"] for each in answer["objects"]] == [each.name for each in expected]
    boxes = [each["box"] for each in answer["objects"]]
    np.testing.assert_allclose(boxes, [each.box for each in expected], atol=1e-5)
    scores = [each["score"] for each in answer["objects"]]
    np.testing.assert_allclose(scores, [each.score for each in expected], atol=1e-5)
    assert answer["first"] == FIRST[name]
    base = base_of(entry)
    assert (base["pictures"], base["asked"]) == (1, False)
    assert ask(entry, "answer") == {"words": [], "sites": [], "unplaced": ""}


@pytest.mark.parametrize(("name", "sites"), [("deformable", [0, 1]), ("rt_detr", [1, 2])])
def test_a_query_samples_the_picture_at_the_points_of_its_block(traced, name, sites) -> None:
    entry = traced(name)
    assert ask(entry, "objects")["sampled"] == sites
    assert entry.opened is not None
    model, given, _ = entry.opened()
    layer = sampling_points(model, given)[-1]
    one = ask(entry, "points", sites[1], 1, 3)
    assert one["module"] == layer.module
    np.testing.assert_allclose(one["places"], layer.places[0, 3, 1].flatten(0, 1), atol=1e-5)
    np.testing.assert_allclose(one["weights"], layer.weights[0, 3, 1].flatten(), atol=1e-5)
    mean = ask(entry, "points", sites[1], "mean", 3)
    assert len(mean["places"]) == 2 * len(one["places"])
    assert sum(mean["weights"]) == pytest.approx(1, abs=1e-3)
    with pytest.raises(QuestionError, match="object query 0 to 4"):
        ask(entry, "points", sites[1], 0, 5)
    with pytest.raises(QuestionError, match="head 0 to 1"):
        ask(entry, "points", sites[1], 2, 0)
