"""Sites of transformers models: the network's own blocks, kinds, parts."""

from typing import Any

import pytest
import torch

from models.run import trace
from models.trace import PatchGrid
from models.verify import verify
from tests.models.architectures import BARTISH, GROUPED, text
from tests.models.pretrained.tiny import (
    BY_NAME,
    GRIDS,
    build,
    ids,
    images_in_text,
    normal,
    qwen,
)

EXACT = 1e-5  # float32 through two layers whose scores reach 50


def test_blocks_without_attention_count() -> None:
    sizes = {"vocab_size": 53, "hidden_size": 32, "intermediate_size": 64, "num_experts": 2}
    sizes |= {"num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2}
    sizes |= {"attn_layer_period": 2, "attn_layer_offset": 1}
    found = trace(build("JambaModel", "JambaConfig", sizes), ids(2, 11))
    assert [(site.layer, site.module) for site in found.sites] == [
        (1, "layers.1.self_attn"),
        (3, "layers.3.self_attn"),
    ]
    assert found.weights(-1).equal(found.weights(3))


@pytest.mark.parametrize("name", BY_NAME)
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


@pytest.mark.parametrize("family", ["Qwen2VL", "Qwen2_5_VL", "Qwen3VL"])
def test_images_are_items_and_windows_are_one_map(family: str) -> None:
    model, given = qwen(family), images_in_text()
    found = trace(model, given)
    vision = [site for site in found.sites if site.tower == "visual"]
    assert [site.layer for site in vision] == [0, 1]
    for site in vision:
        for item, (frames, rows, cols) in enumerate(GRIDS):
            weights = found.weights(site.layer, tower="visual", item=item)
            assert weights.shape[1:] == (frames * rows * cols,) * 2
            assert (weights.sum(-1) - 1).abs().max() < EXACT
    windowed = family == "Qwen2_5_VL"
    assert ((found.weights(0, tower="visual") == 0).any()) == windowed
    with torch.no_grad():
        expected = model(**given).logits
    largest = float(expected.abs().max())
    assert (found.output.values - expected).abs().max() < EXACT * max(1.0, largest)


def test_a_layer_that_attends_twice_in_one_pass_is_refused() -> None:
    """Differential attention subtracts one map from another."""
    sizes = {**GROUPED, "num_attention_heads": 4}
    model = build("DiffLlamaForCausalLM", "DiffLlamaConfig", sizes)
    message = r"layers\.0\.self_attn attends 2 times in one pass: what the layer makes of its maps"
    for ask in (trace, verify):
        with pytest.raises(ValueError, match=message):
            ask(model, text())


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
