"""Patches of a picture covered: against passes of pictures that were changed by hand."""

from typing import Any, Literal

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from models.edits import Ablate, Cover
from models.inputs.pictures import edited_image
from models.run import load, trace
from models.vit import ViTConfig
from tests.models.edits.plain import SIZES, given, network
from tests.models.tiny_models import model, source


def same(found: Any, expected: Any) -> None:
    """Two passes with the same output, weights and labels."""
    for item in range(len(expected.tokens)):
        mine, theirs = (t.output.of_item(item) for t in (found, expected))
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-4)
    assert found.tokens == expected.tokens
    assert found.target_tokens == expected.target_tokens
    for mine, theirs in zip(found.sites, expected.sites, strict=True):
        torch.testing.assert_close(found.weights(mine), expected.weights(theirs), rtol=0, atol=1e-5)


def blurred(x: Tensor, size: int) -> Tensor:
    """A Gaussian of one patch, pixel by pixel, edges repeated."""
    place = torch.arange(-2 * size, 2 * size + 1, dtype=torch.float64)
    kernel = (-(place**2) / (2 * size**2)).exp()
    kernel = kernel / kernel.sum()
    wide = torch.nn.functional.pad(x.double(), (2 * size,) * 4, mode="replicate")
    both = kernel[:, None] * kernel[None]
    found = torch.zeros_like(x, dtype=torch.float64)
    for row in range(x.shape[2]):
        for col in range(x.shape[3]):
            part = wide[:, :, row : row + len(place), col : col + len(place)]
            found[:, :, row, col] = (part * both).sum((2, 3))
    return found.float()


@pytest.mark.parametrize("odd", [0, 3])  # pixels at the right and lower edge that are in no patch
@pytest.mark.parametrize("where", ["ours", "ViT", "DINOv2 with registers"])
@pytest.mark.parametrize("edit", [Cover((1, 5)), Cover(5, "blur"), Cover(None)], ids=str)
def test_patches_of_a_picture(where: str, edit: Any, odd: int) -> None:
    if where == "ours":
        net: Any = load(ViTConfig(**SIZES, image=12, patch=4, classes=3))
        pixels, rows = torch.randn(2, 3, 12, 12, generator=torch.Generator().manual_seed(1)), 3
    else:
        net, pixels, rows = model(where), source(where)[0]["pixel_values"], 5
    made, parts = pixels.clone(), {}
    for patch in range(rows * rows):
        row, col = patch // rows * 4, patch % rows * 4
        parts[patch] = (slice(None), slice(None), slice(row, row + 4), slice(col, col + 4))
    cover = pixels.mean((2, 3), keepdim=True).expand_as(pixels)
    cover = blurred(pixels, 4) if edit.how == "blur" else cover
    for patch in parts if edit.patch is None else (1, 5) if edit.how == "mean" else (5,):
        made[parts[patch]] = cover[parts[patch]]
    pixels = torch.nn.functional.pad(pixels, (0, odd, 0, odd), value=9.0)
    found = trace(net, pixels if where == "ours" else {"pixel_values": pixels}, edits=[edit])
    same(found, trace(net, made if where == "ours" else {"pixel_values": made}))


def test_refused_by_name() -> None:
    text = {"input_ids": torch.tensor([[5, 6, 7, 8]])}
    rows, pixels = given("encoder")[0], given("vit")[0]
    for net, read, edit, message in (
        (network("vit"), pixels, Cover(9), "patch: expected 0 to 8, received 9"),
        (network("encoder"), rows, Cover(1), "reads no picture"),
        (model("BERT"), text, Cover(1), "reads no picture here"),
    ):
        with pytest.raises(ValueError, match=message):
            trace(net, read, edits=[edit])
    with pytest.raises(ValueError, match="it changes the input, before the network runs"):
        network("vit").network(pixels, edits=[Cover(1)])


@pytest.mark.parametrize("how", ["mean", "blur"])
def test_the_picture_is_shown_as_the_network_reads_it(how: Literal["mean", "blur"]) -> None:
    """Normalising the covered picture gives what covering the normalised one gives."""
    levels = np.random.default_rng(0).integers(0, 256, (8, 12, 3), dtype=np.uint8)
    cover = Cover((1, 4), how=how)
    covered = np.array(edited_image(Image.fromarray(levels), [cover, Ablate(0, 0)], (2, 3)))
    mean, deviation = np.array([100.0, 120.0, 90.0]), np.array([50.0, 60.0, 70.0])
    pixels = torch.from_numpy((levels - mean) / deviation).movedim(-1, 0)[None]
    expected = cover.edit_pixels(pixels, (2, 3))[0].movedim(0, -1).numpy() * deviation + mean
    np.testing.assert_allclose(covered, expected, atol=0.5 + 1e-6)
    changed = (covered != levels).any(-1).reshape(2, 4, 3, 4).any((1, 3))
    assert changed.tolist() == [[False, True, False], [False, True, False]]
