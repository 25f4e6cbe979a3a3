"""All layers over a picture, as a figure."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from analysis.rollout import rollout
from models.catalogue import entry, folder
from models.run import Model, Trace, load, trace
from tests.viz import svg_files
from viz.export import export


@cache
def model() -> Model:
    return load("digits")


@cache
def picture() -> Image.Image:
    return Image.open(folder(entry("digits")) / "a-three.png").convert("RGB")


@cache
def traced() -> Trace:
    return trace(model(), picture(), hidden=True)


def test_a_larger_number_is_brighter_over_the_picture(tmp_path: Path) -> None:
    """Luminance by relevance over a picture of one grey."""
    grey = Image.new("RGB", (64, 64), (120, 120, 120))
    shown: dict[str, Any] = {"view": "model", "layer": 1, "head": 0, "picture": grey}
    file = export(traced(), tmp_path / "file.svg", method="rollout", **shown)
    (pixels,) = svg_files.pictures(file.read_bytes())
    light = pixels.astype(float) @ [0.2126, 0.7152, 0.0722]
    side = light.shape[0] // 8
    by_patch = light[side // 2 :: side, side // 2 :: side].flatten()
    order = rollout(traced())[0, 1:].argsort().numpy()
    assert (np.diff(by_patch[order]) > -2).all()
    assert by_patch[order[-1]] > by_patch[order[0]] + 60
