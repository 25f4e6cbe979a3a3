"""Sites of transformers models: the network's own blocks, kinds, parts."""

from typing import Any

import pytest

from models.run import trace
from models.trace import PatchGrid
from tests.models.architectures import (
    ARCHITECTURES,
    BARTISH,
    BY_NAME,
    build,
    ids,
    normal,
)


@pytest.mark.parametrize("name", [each.name for each in ARCHITECTURES])
def test_sites_are_the_modules_of_the_network(name: str) -> None:
    """Each attention layer once, under its own path and the number of its block."""
    model = BY_NAME[name].build()
    found, modules = trace(model, BY_NAME[name].inputs()), dict(model.named_modules())
    paths = [str(site.module) for site in found.sites]
    if name != "ALBERT":
        assert len(set(paths)) == len(paths)
    layers: dict[Any, list[int]] = {}
    for site in found.sites:
        assert str(site.module) in modules
        layers.setdefault((site.tower, site.kind), []).append(site.layer)
    assert all(each == list(range(len(each))) for each in layers.values())


@pytest.mark.parametrize("name", ["Llama", "GPT-2", "Gemma 2", "GPT-OSS"])
def test_the_kind_is_the_same_for_any_input(name: str) -> None:
    model = BY_NAME[name].build()
    kinds = [(site.layer, site.kind) for site in trace(model, ids(2, 11)).sites]
    assert kinds == [(0, "causal"), (1, "causal")]
    assert [(s.layer, s.kind) for s in trace(model, ids(1, 1)).sites] == kinds


def test_a_window_belongs_to_its_own_block() -> None:
    """The windows of an encoder leave nothing to its decoder, which reads the last grid."""
    import transformers

    encoder = transformers.DonutSwinConfig(
        image_size=24, patch_size=2, embed_dim=12, depths=[2, 2], num_heads=[2, 3], window_size=4
    )
    decoder = transformers.MBartConfig(**BARTISH, is_decoder=True).to_dict()
    parts = {"encoder": encoder.to_dict(), "decoder": {**decoder, "add_cross_attention": True}}
    model = build("VisionEncoderDecoderModel", "VisionEncoderDecoderConfig", parts)
    written = ids(2, 7)
    found = trace(model, {"pixel_values": normal(2, 3, 24, 24), "decoder_input_ids": written})
    site = found.site(0, "causal")
    assert (site.queries, site.keys) == (7, 7)
    assert found.query_labels(site) == [str(each) for each in written[0].tolist()]
    assert found.key_labels(found.site(0, "cross"))[0] == "position 0"
    grids = [found.query_grid(each) for each in found.sites if each.kind == "self"]
    assert grids == [PatchGrid(12, 12)] * 2 + [PatchGrid(6, 6)] * 2
    assert not found.notes
