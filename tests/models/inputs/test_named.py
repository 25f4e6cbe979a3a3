"""Inputs by name: whatever a tokenizer returns, through both implementations."""

from collections import UserDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor

from models.catalogue import entry, folder
from models.encoder import EncoderConfig
from models.inputs.named import as_tensors
from models.run import Model, load, trace
from models.seq2seq import Seq2SeqConfig
from models.trace import Trace
from models.vit import ViTConfig
from tests.models.architectures import BY_NAME

TEXTS = ["The animal was tired", "a cat"]
LABELS = ["[CLS]", "the", "animal", "was", "tired", "[SEP]"]
EXACT = 1e-5  # float32 through six layers, of a batch and alone
PAIR = Seq2SeqConfig(source_vocab=53, target_vocab=53, dim=12, depth=1, heads=2, d_k=5, d_v=7)
IMAGE = ViTConfig(image=20, patch=4, dim=10, depth=1, heads=2, mlp=13, classes=3)


@pytest.fixture(scope="module")
def tokenizer() -> transformers.PreTrainedTokenizerFast:
    names = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    file = folder(entry("minilm")) / "tokenizer.json"
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(file), **names)


@pytest.fixture(scope="module", params=["own", "transformers"])
def minilm(request: pytest.FixtureRequest) -> Model:
    return load("minilm", door=request.param)


Encode = Callable[[Any], Mapping[str, Any]]
KINDS: dict[str, Encode] = {
    "BatchEncoding": lambda read: read(TEXTS, padding=True, return_tensors="pt"),
    "UserDict": lambda read: UserDict(read(TEXTS, padding=True, return_tensors="pt")),
    "lists": lambda read: read(TEXTS, padding=True),
    "numpy": lambda read: dict(read(TEXTS, padding=True, return_tensors="np")),
    "rows": lambda read: {
        name: [torch.tensor(row) for row in rows]
        for name, rows in read(TEXTS, padding=True).items()
    },
}


def same(found: Trace, expected: Trace) -> None:
    for layer in range(6):
        for item in range(2):
            off = found.weights(layer, item=item) - expected.weights(layer, item=item)
            assert off.abs().max() < EXACT


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_tokenizer_returns_is_read_by_name(kind: str, minilm: Model, tokenizer: Any) -> None:
    found = trace(minilm, KINDS[kind](tokenizer))
    assert list(found.tokens[0].labels) == LABELS
    assert list(found.tokens[1].labels) == ["[CLS]", "a", "cat", "[SEP]"]
    same(found, trace(minilm, TEXTS))


def test_the_numbers_of_one_text(minilm: Model, tokenizer: Any) -> None:
    found = trace(minilm, tokenizer(TEXTS[0]))
    assert found.labels == LABELS
    assert trace(minilm, np.array([[101, 7, 102]])).tokens[0].ids == (101, 7, 102)
    pair = trace(minilm, tokenizer(*TEXTS, return_token_type_ids=True))
    assert trace(minilm, (TEXTS[0], TEXTS[1])).output.values.equal(pair.output.values)


def test_items_of_unequal_length_are_refused(minilm: Model, tokenizer: Any) -> None:
    with pytest.raises(ValueError, match=r"input_ids: expected items of equal size: pad them"):
        trace(minilm, tokenizer(TEXTS))


@pytest.mark.parametrize("array", [np.asarray, np.ndarray.tolist, list])
def test_pixels_of_any_kind(array: Any) -> None:
    pixels = np.random.default_rng(3).normal(size=(2, 3, 20, 20)).astype(np.float32)
    for model in (load(IMAGE), load(BY_NAME["ViT"].build())):
        expected = trace(model, torch.tensor(pixels))
        found = trace(model, transformers.BatchFeature({"pixel_values": array(pixels)}))
        assert found.output.values.equal(expected.output.values)


def test_an_attention_mask_of_an_encoder_decoder_and_its_target() -> None:
    model, ids = load(PAIR), torch.tensor([[5, 6, 7, 8], [9, 10, 3, 4]])
    shown = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    target = torch.tensor([[7, 8, 9], [5, 6, 7]])
    found = trace(model, {"input_ids": ids, "attention_mask": shown}, target)
    assert found.target_tokens is not None
    assert [len(item) for item in found.tokens] == [4, 2]
    alone = trace(model, ids[1:, :2], target[1:])
    for kind in ("self", "causal", "cross"):
        off = found.weights(0, kind=kind, item=1) - alone.weights(0, kind=kind)
        assert off.abs().max() < EXACT


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"input_ids": [[3, 4]], "attention_mask": [[1]]}, r"attention_mask: expected \(1, 2\)"),
        ({"inputs_embeds": torch.zeros(1, 2, 8)}, "does not read inputs_embeds"),
        ({"attention_mask": [[1]]}, "expected a dict with input_ids or pixel_values"),
    ],
)
def test_what_our_networks_refuse(given: Any, message: str) -> None:
    model = load(EncoderConfig(vocab=53, dim=8, depth=1, heads=2, mlp=11))
    with pytest.raises(ValueError, match=message):
        trace(model, given)


def test_feature_maps_of_several_sizes_stay_apart() -> None:
    maps = [torch.ones(2, 3, side, side) for side in (8, 4)]
    found = as_tensors({"features": maps, "arrays": tuple(each.numpy() for each in maps)})
    assert [each.shape for each in found["features"]] == [each.shape for each in maps]
    assert all(isinstance(each, Tensor) for each in found["arrays"])
    assert as_tensors({"images": maps[:1] * 2})["images"].shape == (2, 2, 3, 8, 8)
    with pytest.raises(ValueError, match="expected items of equal size"):
        as_tensors({"images": [torch.ones(3, 8, 8), torch.ones(3, 4, 4)]})
