"""Explore gives every view of tokens that lie on a picture that picture."""

from pathlib import Path

import pytest

from tests.viz.api.asking import ask
from tests.viz.api.test_objects import base_of, save
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import entry, opened


@pytest.mark.parametrize("name", ["detr", "segformer"])
def test_a_detector_and_cells_have_their_picture_in_the_view(name: str, tmp_path: Path) -> None:
    save(name, tmp_path)
    app = opened(place="folder", folder=str(tmp_path))
    assert helpers.lines(app) == []
    assert helpers.view(app, "text")["kind"] == "text"
    base = base_of(entry(app))
    assert (base["pictures"], base["asked"]) == (1, False)
    assert any("grids" in each for each in base["texts"])
    count = len(ask(entry(app), "objects")["objects"])
    assert count == (5 if name == "detr" else 0)
