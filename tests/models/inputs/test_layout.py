"""Layouts of axes: their labels and grids, written out by hand."""

from types import SimpleNamespace
from typing import Any

import torch

from models.inputs.layout import (
    Layout,
    image_layout,
    special_tokens,
    spectrogram_layout,
    unmasked,
)
from models.trace import PatchGrid

VIT: Any = SimpleNamespace(patch_size=4)


def test_patches_lie_between_special_tokens() -> None:
    found = Layout(1, 2, before=("[CLS]",), behind=("[DET] 1",))
    (tokens,) = found.tokens(1)
    assert tokens.labels == ("[CLS]", "patch 0,0", "patch 0,1", "[DET] 1")
    assert tokens.special == (True, False, False, True)
    assert (found.length, found.grid) == (4, PatchGrid(1, 2, 1))


def test_special_tokens_of_a_network() -> None:
    detector = SimpleNamespace(patch_size=4, num_detection_tokens=2)
    assert special_tokens(detector, 3) == (("[CLS]",), ("[DET] 1", "[DET] 2"))
    assert special_tokens(SimpleNamespace(num_register_tokens=1), 2)[0] == ("[CLS]", "register 1")
    found = Layout(2, 3).with_special(8, VIT)
    assert found is not None
    assert (found.before, found.length) == (("[CLS]", "[DIST]"), 8)
    assert Layout(2, 3).with_special(5, VIT) is Layout(2, 3).with_special(71, VIT) is None


def test_frames_and_tiles() -> None:
    video: Any = SimpleNamespace(patch_size=4, tubelet_size=2)
    found = image_layout(torch.zeros(1, 5, 3, 4, 8), video)  # the fifth frame is in no tube
    assert found is not None
    assert found.grid == PatchGrid(1, 2, frames=2)
    assert found.tokens(1)[0].labels[2] == "frame 3, patch 0,0"
    tiles = image_layout(torch.zeros(2, 3, 3, 4, 8), VIT)
    assert tiles is not None
    assert (tiles.tiles, tiles.grid) == (3, None)  # each has a grid, the picture none
    assert [tiles.fits(2, batch) for batch in (2, 3, 6, 7)] == [False, True, True, False]
    assert image_layout(torch.zeros(2, 3), VIT) is None
    assert image_layout(torch.zeros(1, 3, 4, 8), SimpleNamespace()) is None


def test_bands_and_frames_of_a_spectrogram() -> None:
    """Patches of 4 at strides of 2 bands and 3 frames, over 10 frames of 6 bins."""
    config = SimpleNamespace(patch_size=4, frequency_stride=2, time_stride=3)
    found = spectrogram_layout(torch.zeros(2, 10, 6), config)
    assert found is not None
    assert (found.rows, found.cols, found.grid) == (2, 3, None)
    assert found.tokens(2)[1].labels[:6] == (
        *("[CLS]", "[DIST]", "band 0, frame 0", "band 0, frame 1", "band 0, frame 2"),
        "band 1, frame 0",
    )
    assert spectrogram_layout(torch.zeros(2, 10), config) is None
    assert spectrogram_layout(torch.zeros(2, 10, 6), VIT) is None


def test_the_patches_that_masking_keeps() -> None:
    noise = torch.tensor([[0.3, 0.1, 0.9, 0.2], [0.1, 0.2, 0.3, 0.0]])
    half = unmasked(Layout(2, 2), noise, 0.5)
    assert (half.patches, half.grid) == (2, None)
    labels = [tokens.labels for tokens in half.tokens(2)]
    assert labels == [("patch 0,1", "patch 1,1"), ("patch 1,1", "patch 0,0")]
    filled = half.with_special(5, VIT)  # a decoder has them all again
    assert filled is not None
    assert filled.grid == PatchGrid(2, 2, 1)
    assert unmasked(Layout(2, 2), noise, 0.0).grid is None
    assert unmasked(Layout(2, 2), noise.sort().values, 0.0).grid == PatchGrid(2, 2)
