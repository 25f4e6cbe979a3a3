"""Attention among channels is named so; keys with a grid of their own have it."""

from typing import Any

import pytest
import torch
import transformers

from analysis.patches import grid_of
from models.pretrained.axes import reduced_axis
from models.run import as_model, trace
from models.trace import PatchGrid

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
    grids = [(24, 40), (12, 20), (6, 10), (3, 5)]
    assert [found.query_grid(site) for site in found.sites] == [PatchGrid(*grid) for grid in grids]
    assert [found.key_grid(site) for site in found.sites] == [PatchGrid(3, 5)] * 4
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
        (PatchGrid(24, 40), 15, (3, 5)),
        (PatchGrid(25, 41), 15, (3, 5)),  # the last cells are in no area
        (PatchGrid(24, 40), 16, None),
        (PatchGrid(24, 40, prefix=1), 15, None),
        (PatchGrid(24, 40, frames=2), 15, None),
    ],
)
def test_areas_are_those_of_one_stride(grid: PatchGrid, keys: int, areas: Any) -> None:
    found = reduced_axis(grid, keys, 2)
    assert (found and found.grid) == (areas and PatchGrid(*areas))


def florence(height: int, width: int) -> Any:
    """Stages of windows and of channels: 2 groups of 6 and 9 channels."""
    config = transformers.Florence2VisionConfig(
        depths=[1, 1],
        embed_dim=[12, 18],
        num_heads=[3, 3],
        num_groups=[2, 2],
        patch_size=[7, 3],
        patch_stride=[4, 2],
        patch_padding=[3, 1],
        patch_prenorm=[False, True],
        window_size=4,
        projection_dim=12,
    )
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


def test_as_many_channels_as_tokens_are_still_channels() -> None:
    found = florence(8, 12)  # 2 × 3 cells of the first stage: as many as a group has channels
    first = next(site for site in found.sites if "channel" in str(site.module))
    assert first.queries == 6
    assert found.pattern(first).q.shape[-1] == 6
    assert found.query_labels(first) == [f"channel {number}" for number in range(6)]
