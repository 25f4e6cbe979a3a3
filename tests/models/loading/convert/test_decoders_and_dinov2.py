"""Llama and DINOv2 through our networks: every map is the library's."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from models.cost.count import parts, total
from models.decoder import DecoderConfig
from models.loading.load import load
from models.model import Model
from models.run import CheckpointError, trace
from models.verify import verify

LLAMA: dict[str, Any] = {"vocab_size": 53, "hidden_size": 30, "num_hidden_layers": 3}
LLAMA |= {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10}
LLAMA |= {"intermediate_size": 17, "max_position_embeddings": 41, "rms_norm_eps": 1e-5}
LLAMA |= {"rope_parameters": {"rope_type": "default", "rope_theta": 777.0}}
GPT2 = {"vocab_size": 53, "n_embd": 35, "n_layer": 3, "n_head": 7, "n_positions": 41}
DINOV2 = {"hidden_size": 21, "num_hidden_layers": 3, "num_attention_heads": 7, "mlp_ratio": 2}
DINOV2 |= {"image_size": 25, "patch_size": 5}
IDS = torch.tensor([[3, 14, 15, 9, 26, 5, 35], [8, 9, 7, 9, 3, 2, 3]])
DICE = torch.Generator().manual_seed(3)
CASES: dict[str, tuple[str, dict[str, Any], Tensor]] = {
    "llama": ("LlamaForCausalLM", LLAMA | {"tie_word_embeddings": False}, IDS),
    "llama, tied": ("LlamaForCausalLM", LLAMA | {"tie_word_embeddings": True}, IDS),
    "dinov2": ("Dinov2Model", DINOV2, torch.randn(2, 3, 25, 25, generator=DICE)),
    "dinov2, another grid": ("Dinov2Model", DINOV2, torch.randn(2, 3, 15, 35, generator=DICE)),
}


def saved(kind: str, sizes: dict[str, Any], path: Path) -> Path:
    torch.manual_seed(11)
    network = getattr(transformers, kind)
    made = network(network.config_class(**sizes)).eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            norm = "norm" in name or "scale" in name
            parameter.normal_(1.0 if norm and parameter.ndim == 1 else 0.0, 0.25)
    made.save_pretrained(path)
    return path


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Model, Model, Tensor]:
    """The model through our network, through the library, and an input."""
    kind, sizes, given = CASES[request.param]
    folder = saved(kind, sizes, tmp_path)
    return load(folder, door="own"), load(folder, door="transformers"), given


def test_every_map_and_the_output(case: tuple[Model, Model, Tensor]) -> None:
    own, theirs, given = case
    assert (own.door, theirs.door) == ("own", "transformers")
    for item in range(2):
        found, expected = trace(own, given[item : item + 1]), trace(theirs, given[item : item + 1])
        assert len(found.sites) == len(expected.sites) == 3
        for layer in range(3):
            off = (found.weights(layer) - expected.weights(layer)).abs().max()
            assert off < 1e-5
        assert found.output.name == expected.output.name
        assert (found.output.values - expected.output.values).abs().max() < 1e-4


def test_linear_maps_and_the_stream(case: tuple[Model, Model, Tensor]) -> None:
    """What an analysis reads of our network is what it reads of the library's."""
    own, theirs, given = case
    found, expected = trace(own, given[:1]), trace(theirs, given[:1])
    mine, other = (t.origin.projections(t.sites[1]) for t in (found, expected) if t.origin)
    assert mine.key.shape == other.key.shape
    for name in ("query", "key", "value"):
        assert torch.equal(getattr(mine, name), getattr(other, name))
    assert found.origin is not None
    stream = found.origin.stream(found.sites[2], 0, torch.arange(3))
    total = torch.stack(list(stream.parts().values())).sum(0)
    assert torch.allclose(total.float(), stream.state, atol=1e-4)
    assert verify(own, given[:1]).difference < 1e-4


@pytest.mark.parametrize("name", CASES)
def test_counted_parameters(name: str, tmp_path: Path) -> None:
    kind, sizes, _ = CASES[name]
    network = load(saved(kind, sizes, tmp_path), door="own").network
    counted = total(parts(network.config, tokens=7), "parameters")
    assert counted == sum(each.numel() for each in network.parameters())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kv_heads": 3}, "kv_heads: expected a divisor of 4 heads, and dot scores, received 3"),
        ({"kv_heads": 2, "scoring": "additive"}, "kv_heads: expected a divisor of 4 heads, and"),
        ({"kv_heads": 2, "value_shortcut": True}, "value_shortcut: expected heads"),
        ({"rotary_base": 0.0}, "rotary_base: expected a number above 0"),
    ],
)
def test_settings_that_do_not_fit(change: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DecoderConfig(**change)


def test_the_library_opens_them_unless_asked(tmp_path: Path) -> None:
    assert load(saved("LlamaForCausalLM", LLAMA, tmp_path)).door == "transformers"


def test_no_converter_for_gpt2(tmp_path: Path) -> None:
    folder = saved("GPT2LMHeadModel", GPT2, tmp_path)
    assert load(folder).door == load(folder, door="transformers").door == "transformers"
    with pytest.raises(CheckpointError, match="there is no converter for model_type 'gpt2': exp"):
        load(folder, door="own")


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("llama", {"attention_bias": True}, "attention_bias: expected False, received True"),
        ("llama", {"rope_parameters": {"rope_type": "llama3"}}, "expected rope_type 'default'"),
        ("llama", {"sliding": 3}, r"settings this converter does not know: \['sliding'\]"),
        ("dinov2", {"use_swiglu_ffn": True}, "use_swiglu_ffn: expected False, received True"),
        ("dinov2", {"num_hidden_layers": 2}, "weights with no place in a DINOv2"),
        ("llama", {"num_hidden_layers": 4}, r"the checkpoint lacks layers\.3\."),
    ],
)
def test_what_would_have_to_be_ignored(name: str, change: dict, said: str, tmp_path: Path) -> None:
    kind, sizes, _ = CASES[name]
    file = saved(kind, sizes, tmp_path) / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(CheckpointError, match=said):
        load(tmp_path, door="own")
