"""`load`: from a name, a folder, a config or a module to a model that is ready to be traced."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from models.catalogue import entry, folder
from models.encoder import Encoder, EncoderConfig
from models.run import Model, devices, load, trace
from models.seq2seq import Seq2SeqConfig
from models.text import WordTokenizer
from models.vit import ViT, ViTConfig
from tests.models.tensors import ids_of

SMALL = EncoderConfig(vocab=101, dim=35, depth=3, heads=5, mlp=53, max_tokens=13, seed=3)


@pytest.fixture(scope="module")
def small() -> Model:
    return load(SMALL)


def test_a_config_is_an_untrained_model() -> None:
    model = load(SMALL)
    assert not model.trained
    assert isinstance(model.tokenizer, WordTokenizer)
    assert model.tokenizer.vocab == 101
    assert model.limit == 13
    assert not model.network.training
    network: Any = model.network
    assert network.tokens.weight.equal(Encoder(SMALL).tokens.weight)


def test_a_module_in_memory_is_the_model() -> None:
    network = Encoder(SMALL)
    model = load(network)
    assert model.network is network
    assert model.tokenizer is None
    assert trace(network, ids_of()).output.values.equal(trace(model, ids_of()).output.values)


def test_a_model_stays_itself(small: Model) -> None:
    assert load(small) is small


def test_a_tokenizer_of_ones_own(small: Model) -> None:
    path = folder(entry("minilm")) / "tokenizer.json"
    found = trace(load(EncoderConfig(vocab=30522), tokenizer=path), "Über")
    assert found.labels == ["[CLS]", "Über", "[SEP]"]
    model = load(small, tokenizer=WordTokenizer(7))
    assert model.network is small.network
    assert max(trace(model, "a b c d e f").tokens[0].ids) < 7
    assert isinstance(small.tokenizer, WordTokenizer)
    assert (small.tokenizer.vocab, model.target_tokenizer) == (101, None)
    pair = load(Seq2SeqConfig(), tokenizer=WordTokenizer(7))
    assert pair.tokenizer is pair.target_tokenizer is not None


@pytest.mark.parametrize("own", [True, False])
def test_weights_beyond_a_dtype_are_loaded_in_a_wider_one(own: bool, tmp_path: Path) -> None:
    """Whose numbers are those of float32, but for its rounding."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 1}
    config = LlamaConfig(vocab_size=31, intermediate_size=17, num_attention_heads=2, **sizes)
    network: Any = Encoder(SMALL) if own else LlamaForCausalLM(config)
    with torch.no_grad():
        weight = network.tokens.weight if own else network.lm_head.weight
        weight[3, 5] = 1e5
    if not own:
        network.save_pretrained(tmp_path)
    expected = trace(load(network if own else tmp_path), ids_of() % 31).output.values
    with pytest.warns(UserWarning, match="beyond the range of float16: .* as bfloat16"):
        model = load(network if own else tmp_path, dtype=torch.float16)
    found = trace(model, ids_of() % 31).output.values
    assert found.dtype == torch.bfloat16
    assert (found.float() - expected).norm() < 0.02 * expected.norm()


def test_devices_of_this_machine() -> None:
    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    assert devices() == ("cpu", *(name for name, present in here.items() if present))
    with pytest.raises(ValueError, match=r"device: expected one of cpu.*, received meta"):
        load(SMALL, device="meta")


def test_a_vit_from_a_config_or_from_memory() -> None:
    config = ViTConfig(image=(12, 20), patch=4, dim=20, heads=5, seed=3)
    model = load(config)
    assert (model.trained, model.tokenizer, model.limit) == (False, None, 16)
    assert model.name == "ViT, 2 × 5 heads, width 20"
    assert model.preprocessing is not None
    assert model.preprocessing.size == (12, 20)
    network = ViT(config)
    pixels = torch.randn(1, 3, 12, 20, generator=torch.Generator().manual_seed(3))
    expected = trace(model, pixels)
    assert trace(network, pixels).output.values.equal(expected.output.values)
    assert load(network).trained
    half = trace(load(config, dtype=torch.bfloat16), pixels)
    assert half.output.values.dtype == torch.bfloat16


def test_pixels_are_no_text() -> None:
    with pytest.raises(ValueError, match="reads text or ids: expected whole numbers"):
        trace(load(SMALL), torch.zeros(1, 3, 12, 20))


def test_a_model_and_a_trace_are_one_line_each(small: Model) -> None:
    sizes = "3 × 5 heads, width 35"
    assert repr(small) == f"Model('encoder, {sizes}': Encoder on cpu, random weights)"
    found = trace(small, ids_of())
    assert repr(found) == (
        f"Trace('encoder, {sizes}': 11 tokens, 2 items, 3 sites, hidden states 2 × 11 × 35)"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "minilmm",
            r"expected one of .*, received 'minilmm'; did you mean 'minilm'\?; a folder or",
        ),
        ("quite another", "received 'quite another'; a folder or owner/name on the hub opens as"),
        ("./models-of-mine", "there is no folder './models-of-mine'"),
        (Path("of mine"), "there is no folder 'of mine'"),
        ("", "source: expected a name of the catalogue, a folder, .*, received ''"),
    ],
)
def test_what_is_not_there_is_told_from_a_typo(source: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(source)
