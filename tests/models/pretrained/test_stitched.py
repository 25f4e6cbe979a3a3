"""Shifted windows put together again are one attention over the whole image with a mask."""

from itertools import product

import pytest
import torch
from einops import rearrange

from models.attention import Dot, Mask, Pattern
from models.pretrained.windows import Blocks
from models.run import as_model, trace
from models.trace import PatchGrid
from tests.models.library import stitched, written
from tests.models.pretrained.tiny import build, eager, normal

HEADS, WIDTH = 3, 5


def regions(length: int, size: int, shift: int) -> torch.Tensor:
    """The run of tokens along one side, without wrapping round, that each token is in."""
    return (torch.arange(length) - shift).div(size, rounding_mode="floor")


def in_windows(x: torch.Tensor, rows: int, cols: int, size: int, shift: int) -> torch.Tensor:
    """`1 head token dim` cut as in the paper's code: rolled, then into squares."""
    x = rearrange(x, "1 h (r c) d -> h r c d", r=rows).roll((-shift, -shift), (1, 2))
    return rearrange(x, "h (r a) (c b) d -> (r c) h (a b) d", a=size, b=size)


@pytest.mark.parametrize(
    ("rows", "cols", "size", "shift"), [(6, 9, 3, 0), (6, 9, 3, 1), (8, 4, 4, 2)]
)
def test_windows_are_attention_with_a_mask(rows: int, cols: int, size: int, shift: int) -> None:
    q, k, v = (normal(1, HEADS, rows * cols, WIDTH, seed=seed) for seed in (1, 2, 3))
    down, across = regions(rows, size, shift), regions(cols, size, shift)
    own = torch.tensor([[int(a), int(b)] for a, b in product(down, across)])
    seen = (own[:, None] == own[None]).all(-1)
    expected = (q @ k.mT / WIDTH**0.5).masked_fill(~seen, -torch.inf).softmax(-1)[0]

    cut = [in_windows(x, rows, cols, size, shift) for x in (q, k, v)]
    place = rearrange(own.float(), "t d -> 1 1 t d")
    part = in_windows(place, rows, cols, size, shift)[:, 0]
    apart = (part[:, :, None] != part[:, None]).any(-1)
    bias = torch.zeros(apart.shape).masked_fill(apart, -1e9)[:, None]  # what Swin adds
    windows = Pattern(*cut, mask=Mask(), score=Dot(), bias=bias)
    found = Blocks.of_image(rows, cols, size, shift).pattern(windows)
    torch.testing.assert_close(found.weights(item=0), expected)


SWIN = {
    "image_size": 32,
    "patch_size": 2,
    "num_channels": 3,
    "embed_dim": 12,
    "depths": [2, 2],
    "num_heads": [2, 3],
    "window_size": 4,
}


def test_every_stage_has_its_grid_and_looks_no_farther_than_a_window() -> None:
    model = build("SwinModel", "SwinConfig", SWIN)
    pixels = normal(1, 3, 32, 32)
    found = trace(as_model(model), pixels)
    grids = [found.query_grid(site) for site in found.sites]
    assert grids == [PatchGrid(16, 16)] * 2 + [PatchGrid(8, 8)] * 2
    given = {"pixel_values": pixels}
    library = list(stitched(model, given, written(model, given)))
    for index, site in enumerate(found.sites):
        run = regions((16, 8)[index // 2], 4, index % 2 * 2)
        own = torch.tensor([[int(a), int(b)] for a, b in product(run, run)])
        seen = (own[:, None] == own[None]).all(-1)
        weights = found.weights(site)
        assert weights[:, ~seen].max() < 1e-30  # the library adds −100, not −∞
        torch.testing.assert_close(weights, library[index][0], rtol=1e-4, atol=1e-6)


def test_the_first_run_of_an_image_no_larger_than_its_window() -> None:
    """Swin takes the shift of such a block back when it runs; its one window is the image."""
    sizes = {"image_size": 32, "patch_size": 4, "embed_dim": 12, "depths": [1, 2]}
    model = build("SwinModel", "SwinConfig", {**sizes, "num_heads": [2, 3], "window_size": 4})
    given = {"pixel_values": normal(2, 3, 32, 32)}
    found = trace(model, given)
    expected = eager(model, given).attentions[1]
    for item in range(2):
        mine = found.weights(2, item=item)
        assert mine.shape == (3, 16, 16)
        assert (mine - expected[item]).abs().max() < 1e-5
