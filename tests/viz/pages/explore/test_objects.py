"""Explore gives every view of tokens that lie on a picture that picture."""

from pathlib import Path
from typing import Any

import pytest

from tests.models.pretrained.tiny import BY_NAME
from tests.viz.api.asking import ask
from tests.viz.api.test_objects import base_of, save
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import entry, opened, small


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


def test_words_and_patches_of_two_towers_have_it_too(tmp_path: Path) -> None:
    network: Any = BY_NAME["CLIP"].build()
    network.save_pretrained(tmp_path)
    found = entry(opened(place="folder", folder=str(tmp_path), input="5 6"))
    base = base_of(found)
    assert base["pictures"] == 1
    grids = [each["grids"] for each in base["texts"] if "grids" in each]
    assert len(grids) == 1
    assert ask(found, "objects")["objects"] == []


def test_the_view_of_patches_has_its_own_picture() -> None:
    assert entry(small()).pictures == ()
