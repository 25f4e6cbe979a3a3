"""Attention among channels is named so; keys with a grid of their own have it."""

from typing import Any

import pytest
import torch
import transformers

from analysis.patches import grid_of
from models.picture_grid import Box
from models.pretrained.axes import cells_axis, reduced_axis
from models.run import as_model, load, trace
from models.trace import PatchGrid
from models.vit import ViTConfig

SEGFORMER: dict[str, Any] = {
    "depths": [1, 1, 1, 1],
    "hidden_sizes": [10, 14, 21, 33],
    "decoder_hidden_size": 10,
    "num_attention_heads": [1, 2, 3, 3],
    "sr_ratios": [8, 4, 2, 1],
}


def test_keys_of_segformer_are_areas_of_the_cells_that_look() -> None:
    torch.manual_seed(0)
    network = transformers.SegformerModel(transformers.SegformerConfig(**SEGFORMER)).eval()
    pixels = torch.randn(1, 3, 96, 160)
    found = trace(as_model(network), pixels)
    grids = [found.query_pictures(site)[0].places.shape for site in found.sites]
    assert grids == [(24, 40), (12, 20), (6, 10), (3, 5)]
    assert [found.key_pictures(site)[0].places.shape for site in found.sites] == [(3, 5)] * 4
    assert found.key_labels(found.sites[0])[6] == "area 1,1"
    assert found.query_labels(found.sites[0])[41] == "cell 1,1"
    network.set_attn_implementation("eager")
    with torch.no_grad():
        library = network(pixels, output_attentions=True).attentions
    for site, expected in zip(found.sites, library, strict=True):
        torch.testing.assert_close(found.weights(site), expected[0], rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="expected the trace of a picture"):
        grid_of(found, found.sites[0])  # drawn as a matrix, not as patches that look at patches


@pytest.mark.parametrize(
    ("grid", "keys", "areas"),
    [
        (PatchGrid(24, 40), 15, PatchGrid(3, 5)),
        (PatchGrid(4, 6), 1, PatchGrid(1, 1, box=Box(right=4 / 6))),
        (PatchGrid(24, 41), 15, PatchGrid(3, 5, box=Box(right=40 / 41))),  # of the last cells none
        (PatchGrid(24, 40, box=Box(0.5, 0.5)), 15, PatchGrid(3, 5, box=Box(0.5, 0.5))),
        (PatchGrid(24, 40), 16, None),
        (PatchGrid(24, 40, prefix=1), 15, None),
        (PatchGrid(24, 40, frames=2), 15, None),
    ],
)
def test_areas_are_those_of_one_stride(grid: PatchGrid, keys: int, areas: Any) -> None:
    found = reduced_axis(grid, keys, 2)
    assert (found and found.grid) == areas


FLORENCE: dict[str, Any] = {
    "depths": [1, 1],
    "embed_dim": [12, 18],
    "num_heads": [3, 3],
    "num_groups": [2, 2],
    "patch_size": [7, 3],
    "patch_stride": [4, 2],
    "patch_padding": [3, 1],
    "patch_prenorm": [False, True],
    "window_size": 4,
    "projection_dim": 12,
}


def florence(height: int, width: int) -> Any:
    """Stages of windows and of channels: 2 groups of 6 and 9 channels."""
    config = transformers.Florence2VisionConfig(**FLORENCE)
    torch.manual_seed(0)
    backbone = transformers.Florence2VisionBackbone(config).eval()
    return trace(as_model(backbone), {"hidden_states": torch.randn(1, 3, height, width)})


def test_attention_among_channels_has_channels_and_no_grid() -> None:
    found = florence(32, 48)
    channels = [site for site in found.sites if "channel" in str(site.module)]
    assert [(site.heads, site.queries, site.keys) for site in channels] == [(2, 6, 6), (2, 9, 9)]
    for site in channels:
        assert found.query_labels(site)[:2] == ["channel 0", "channel 1"]
        assert found.query_grid(site) is None
        assert found.key_grid(site) is None
        q, k = found.pattern(site).q[0], found.pattern(site).k[0]
        tokens = q.shape[-1]  # the scale is that of the tokens, which the vectors are over
        expected = (q @ k.mT / tokens**0.5).softmax(-1)
        torch.testing.assert_close(found.weights(site), expected, rtol=1e-4, atol=1e-6)


# --- where cells lie on the picture -------------------------------------------------------------

VIT: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
VIT |= {"intermediate_size": 17, "image_size": 12, "patch_size": 4}
SWIN = {"image_size": 16, "patch_size": 4, "embed_dim": 6, "depths": [1], "num_heads": [2]}
READERS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("ViT", "Dinov2WithRegisters", "DINOv3ViT", "IJepa", "CLIPVision"), VIT),
    "VideoMAE": VIT | {"image_size": [14, 19], "num_frames": 4},
    "Swin": SWIN | {"window_size": 2},
    "ours": {"image": 12, "patch": 4, "dim": 20, "heads": 2, "depth": 1, "mlp": 17},
}
UNREAD = (
    "16 × 12 of 19 × 14 pixels are read: whole patches leave out the rest at the right and bottom"
)


@pytest.mark.parametrize("name", READERS)
def test_a_grid_covers_the_pixels_that_are_read(name: str) -> None:
    """Of 14 × 19: patches of 4 pixels cover 12 × 16; Swin fills up the picture to 16 × 20."""
    torch.manual_seed(0)
    if name == "ours":
        model = load(ViTConfig(**READERS[name]))
    else:
        config = getattr(transformers, f"{name}Config")(**READERS[name])
        model = as_model(getattr(transformers, f"{name}Model")(config).eval())
    pixels = torch.randn(1, 4, 3, 14, 19) if name == "VideoMAE" else torch.randn(1, 3, 14, 19)
    found = trace(model, pixels)
    rows, cols = (16, 20) if name == "Swin" else (12, 16)
    box = found.key_pictures(found.sites[0])[0].box
    assert box == pytest.approx((0, 0, cols / 19, rows / 14))
    assert (UNREAD in found.notes) == (name != "Swin")
    for row, col in ((11, 15), (13, 0), (0, 18)):
        changed = pixels.clone()
        changed[..., row, col] += 3
        same = trace(model, changed).output.values.equal(found.output.values)
        assert same == (row >= rows or col >= cols)
    if name not in ("VideoMAE", "Swin"):  # of one size, and filled up to whole patches
        with pytest.raises(ValueError, match=r"smaller than a patch|greater than actual"):
            trace(model, pixels[..., :3])


def test_cells_of_overlapping_convolutions_lie_around_their_steps() -> None:
    """The middle of a cell is where the pixels lie that change its features."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_sizes": [32] * 2, "depths": [1] * 2, "embedding_size": 32}
    config = transformers.ResNetConfig(**sizes, layer_type="basic")
    network = transformers.ResNetModel(config).eval()
    axis = cells_axis({"pixel_values": torch.zeros(1, 3, 64, 96)}, 8 * 12, 1)
    assert axis is not None
    (grid,) = axis.grids(0)
    pixels = torch.randn(1, 3, 64, 96, requires_grad=True)
    features = network(pixels).last_hidden_state[0, :, 4, 6]
    weight = torch.zeros(64, 96)
    for _ in range(8):
        along = (features * torch.randn(len(features))).sum()
        weight += torch.autograd.grad(along, pixels, retain_graph=True)[0].abs().sum((0, 1))
    rows, cols = ((torch.arange(size) + 0.5) / size for size in (64, 96))
    left, top, right, bottom = grid.cell(4, 6)
    down = float((weight.sum(1) * rows).sum() / weight.sum()) - (top + bottom) / 2
    across = float((weight.sum(0) * cols).sum() / weight.sum()) - (left + right) / 2
    assert max(abs(8 * down), abs(12 * across)) < 0.2  # of a cell, of which half may go wrong
