"""Inputs of transformers models beside texts and single pictures."""

from typing import Any

import torch
import transformers

from benchmarks.coverage import tiny
from models.catalogue import entry, folder
from models.inputs.sequences import text_config
from models.run import load, trace
from models.trace import PatchGrid
from tests.models.architectures import VISION, build, normal, redraw
from tests.models.library import eager
from tests.models.pretrained.test_detection import BACKBONE, SIZES

EXACT = 1e-5  # float32 through two layers whose scores reach 50


def test_ids_are_decoded_where_the_tokenizer_is_known() -> None:
    ids, labels = torch.tensor([[101, 1996, 4937, 102]]), ["[CLS]", "the", "cat", "[SEP]"]
    for door in ("own", "transformers"):
        found = trace(load("minilm", door=door), ids)
        assert found.labels == labels
        assert found.tokens[0].special == (True, False, False, True)
    sizes: dict[str, Any] = {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1}
    sizes |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "vocab_size": 30522}
    network = build("BartModel", "BartConfig", sizes)
    model = load(network, tokenizer=folder(entry("minilm")) / "tokenizer.json")
    found = trace(model, ids, ids)
    assert found.target_tokens is not None
    assert found.target_tokens[0].labels == ("<begin>", "[CLS]", "the", "cat")
    found = trace(model, {"input_ids": ids, "decoder_input_ids": ids})
    assert found.target_tokens is not None
    assert found.target_tokens[0].labels == tuple(labels)


def test_patches_of_a_vision_encoder_decoder() -> None:
    encoder = transformers.ViTConfig(**{**VISION, "image_size": (20, 28)})
    text: dict[str, Any] = {"vocab_size": 53, "n_embd": 30, "n_layer": 1, "n_head": 3}
    decoder = transformers.GPT2Config(**text, n_positions=29, add_cross_attention=True)
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    network = transformers.VisionEncoderDecoderModel(config).eval()
    given = {"pixel_values": normal(1, 3, 20, 28), "decoder_input_ids": torch.tensor([[3, 4]])}
    found = trace(network, given)
    first, cross = found.site(0, "self"), found.site(0, "cross")
    labels = found.query_labels(first)
    assert (labels[:2], labels[-1]) == (["[CLS]", "patch 0,0"], "patch 4,6")
    assert (found.grid, found.prefix) == ((5, 7), 1)
    assert found.key_labels(cross) == labels
    assert found.query_labels(cross) == ["3", "4"]
    assert found.query_grid(first) == found.key_grid(cross) == PatchGrid(5, 7, 1)
    assert found.query_grid(cross) is None


def test_cells_and_object_queries_of_a_detector() -> None:
    backbone: Any = transformers.ResNetConfig(**BACKBONE)
    network = build("DetrModel", "DetrConfig", {**SIZES, "backbone_config": backbone})
    pixels = normal(2, 3, 90, 160)
    found = trace(network, pixels)
    encoder, cross = found.site(0, tower="encoder"), found.site(0, "cross")
    assert found.query_grid(encoder) == found.key_grid(cross)
    assert found.query_pictures(encoder)[0].places.shape == (3, 5)  # of a stride of 32
    assert found.key_labels(cross)[5:7] == ["cell 1,0", "cell 1,1"]
    assert found.query_labels(cross) == [f"object query {number}" for number in range(5)]
    with torch.no_grad():
        network.set_attn_implementation("eager")
        expected = network(pixels, output_attentions=True).cross_attentions[0]
    assert (found.weights(cross, item=1) - expected[1]).abs().max() < EXACT


def test_the_output_of_a_backbone() -> None:
    network = transformers.Dinov2Backbone(transformers.Dinov2Config(**VISION)).eval()
    redraw(network)
    pixels = normal(2, 3, 20, 20)
    found = trace(network, pixels)
    assert found.output.name == "last feature map"
    expected = eager(network, {"pixel_values": pixels}).feature_maps[-1]
    assert (found.output.values - expected).abs().max() < EXACT


def test_the_text_that_a_network_reads() -> None:
    """MusicGen reads a text and writes codes: its config has one for each."""
    config: Any = tiny.tiny_config("musicgen")
    assert text_config(config) is config.text_encoder
