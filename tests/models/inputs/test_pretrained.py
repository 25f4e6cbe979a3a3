"""Inputs of transformers models beside texts and single pictures."""

from typing import Any

import torch
import transformers

from benchmarks.coverage import tiny
from models.catalogue import entry, folder
from models.inputs.texts import text_config
from models.run import load, trace
from models.trace import PatchGrid
from tests.models.architectures import ARCHITECTURES, VISION, redraw

EXACT = 1e-5  # float32 through two layers whose scores reach 50
BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}
IDS = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 0]])
SHOWN = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])


def built(name: str) -> Any:
    return BY_NAME[name].build()


def test_ids_are_decoded_where_the_tokenizer_is_known() -> None:
    ids, labels = torch.tensor([[101, 1996, 4937, 102]]), ["[CLS]", "the", "cat", "[SEP]"]
    for door in ("own", "transformers"):
        found = trace(load("minilm", door=door), ids)
        assert found.labels == labels
        assert found.tokens[0].special == (True, False, False, True)
    tokenizer = folder(entry("minilm")) / "tokenizer.json"
    sizes: dict[str, Any] = {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1}
    heads: dict[str, Any] = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    network = transformers.BartModel(transformers.BartConfig(vocab_size=30522, **sizes, **heads))
    found = trace(load(network, tokenizer=tokenizer), ids, ids)
    assert found.target_tokens is not None
    assert found.target_tokens[0].labels == ("<begin>", "[CLS]", "the", "cat")
    given = {"input_ids": ids, "decoder_input_ids": ids}
    found = trace(load(network, tokenizer=tokenizer), given)
    assert found.target_tokens is not None
    assert found.target_tokens[0].labels == tuple(labels)


def test_patches_of_a_video() -> None:
    config = transformers.VideoMAEConfig(**VISION, num_frames=6, tubelet_size=2)
    network = transformers.VideoMAEModel(config).eval()
    pixels = torch.randn(2, 6, 3, 20, 20, generator=torch.Generator().manual_seed(3))
    found = trace(network, {"pixel_values": pixels})
    labels = found.query_labels(found.sites[0])
    assert len(labels) == 3 * 5 * 5
    assert labels[0] == "frame 1, patch 0,0"
    assert labels[25 + 7] == "frame 3, patch 1,2"
    assert labels[-1] == "frame 5, patch 4,4"
    assert found.key_grid(found.sites[0]) == PatchGrid(5, 5, frames=3)
    assert found.grid is None  # which is of a picture


def test_patches_of_a_vision_encoder_decoder() -> None:
    encoder = transformers.ViTConfig(**{**VISION, "image_size": (20, 28)})
    text: dict[str, Any] = {"vocab_size": 53, "n_embd": 30, "n_layer": 1, "n_head": 3}
    decoder = transformers.GPT2Config(**text, n_positions=29, add_cross_attention=True)
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    network = transformers.VisionEncoderDecoderModel(config).eval()
    pixels = torch.randn(1, 3, 20, 28, generator=torch.Generator().manual_seed(3))
    found = trace(network, {"pixel_values": pixels, "decoder_input_ids": torch.tensor([[3, 4]])})
    first = found.site(0, "self")
    assert found.query_labels(first)[:2] == ["[CLS]", "patch 0,0"]
    assert found.query_labels(first)[-1] == "patch 4,6"
    assert (found.grid, found.prefix) == ((5, 7), 1)
    cross = found.site(0, "cross")
    assert found.key_labels(cross) == found.query_labels(first)
    assert found.query_labels(cross) == ["3", "4"]
    assert found.query_grid(first) == found.key_grid(cross) == PatchGrid(5, 7, 1)
    assert found.query_grid(cross) is None


def test_cells_and_object_queries_of_a_detector() -> None:
    stages: dict[str, Any] = {"embedding_size": 8, "hidden_sizes": [8] * 4, "depths": [1] * 4}
    stages |= {"out_features": ["stage4"]}
    backbone = transformers.ResNetConfig(**stages)
    sizes: dict[str, Any] = {"backbone_config": backbone, "use_timm_backbone": False}
    sizes |= {
        "backbone": None,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "num_queries": 3,
        "d_model": 16,
    }
    sizes |= {f"{part}_attention_heads": 2 for part in ("encoder", "decoder")}
    sizes |= {f"{part}_ffn_dim": 11 for part in ("encoder", "decoder")}
    config = transformers.DetrConfig(**sizes)
    network = transformers.DetrForObjectDetection(config).eval()
    redraw(network)
    pixels = torch.randn(2, 3, 90, 160, generator=torch.Generator().manual_seed(3))
    found = trace(network, pixels)
    encoder, cross = found.site(0, tower="encoder"), found.site(0, "cross")
    assert found.query_grid(encoder) == found.key_grid(cross)
    assert found.query_pictures(encoder)[0].places.shape == (3, 5)  # of a stride of 32
    assert found.key_labels(cross)[5:7] == ["cell 1,0", "cell 1,1"]
    assert found.query_labels(cross) == ["object query 0", "object query 1", "object query 2"]
    with torch.no_grad():
        network.set_attn_implementation("eager")
        expected = network(pixels, output_attentions=True).cross_attentions[0]
    assert (found.weights(cross, item=1) - expected[1]).abs().max() < EXACT


def test_the_output_of_a_backbone() -> None:
    network = transformers.Dinov2Backbone(transformers.Dinov2Config(**VISION)).eval()
    redraw(network)
    pixels = torch.randn(2, 3, 20, 20, generator=torch.Generator().manual_seed(3))
    found = trace(network, pixels)
    with torch.no_grad():
        expected = network(pixels).feature_maps[-1]
    assert found.output.name == "last feature map"
    assert (found.output.values - expected).abs().max() < EXACT


def test_the_text_that_a_network_reads() -> None:
    """MusicGen reads a text and writes codes: its config has one for each."""
    config: Any = tiny.tiny_config("musicgen")
    assert text_config(config) is config.text_encoder
    llama = tiny.tiny_config("llama")
    assert text_config(llama) is llama
