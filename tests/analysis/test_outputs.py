"""Probabilities of an output equal a softmax worked out by hand; nonsense is refused."""

from math import exp
from typing import Any

import pytest
import torch

from analysis.outputs import class_probabilities, top_classes, top_ids, top_tokens
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.vit import ViTConfig

SIZES: dict[str, Any] = {"dim": 21, "heads": 3, "depth": 2, "mlp": 13}


@pytest.fixture(scope="module")
def decoded():
    return trace(load(DecoderConfig(vocab=29, **SIZES)), torch.arange(11)[None])


@pytest.mark.parametrize("place", [0, 4, -1])
def test_the_likeliest_tokens_are_those_of_a_plain_softmax(decoded, place):
    found = top_tokens(decoded, place, count=5)
    logits = decoded.output.values[0, place].double().tolist()
    whole = sum(exp(x) for x in logits)
    share = sorted(((exp(x) / whole, i) for i, x in enumerate(logits)), reverse=True)[:5]
    assert found.place == place % 11
    assert found.ids == tuple(i for _, i in share)
    assert found.probabilities == pytest.approx([p for p, _ in share], rel=1e-5)  # float32


def test_no_more_tokens_than_there_are(decoded):
    found = top_tokens(decoded, 0, count=100)
    assert len(found.ids) == 29
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-6)  # float32


def test_what_an_encoder_decoder_writes_itself_is_what_it_holds_likeliest():
    model = load(Seq2SeqConfig(source_vocab=29, target_vocab=29, d_k=7, d_v=7, **SIZES))
    found = trace(model, torch.arange(4, 15)[None])
    assert found.target_tokens is not None
    target = found.target_tokens[0].ids
    assert top_ids(found)[: len(target) - 1] == target[1:]  # its own text, one token behind
    with pytest.raises(ValueError, match=f"place: expected a position 0 to {len(target) - 1}"):
        top_tokens(found, len(target))


def test_a_network_without_logits_of_tokens_is_refused():
    found = trace(load(EncoderConfig(vocab=29, **SIZES)), torch.arange(5)[None])
    with pytest.raises(ValueError, match="gives hidden states: expected logits of tokens"):
        top_tokens(found, 0)


def test_shares_are_a_softmax_a_question() -> None:
    found = trace(load(ViTConfig(image=8, patch=4, classes=7, seed=1)), torch.rand(3, 3, 8, 8))
    first, second = class_probabilities(found, (2, 5), item=1)
    logits = found.output.values[1].double().exp()
    assert first == pytest.approx((logits[:2] / logits[:2].sum()).tolist(), abs=1e-6)
    assert second == pytest.approx((logits[2:] / logits[2:].sum()).tolist(), abs=1e-6)


def test_shares_need_the_right_sizes() -> None:
    found = trace(load(ViTConfig(image=8, patch=4, classes=7)), torch.rand(1, 3, 8, 8))
    with pytest.raises(ValueError, match="sizes: expected 7 in all, received 6"):
        class_probabilities(found, (2, 4))


@pytest.mark.parametrize("independent", [False, True])
def test_the_likeliest_classes_are_those_of_a_plain_softmax_or_sigmoid(independent: bool) -> None:
    found = trace(load(ViTConfig(image=8, patch=4, classes=7, seed=1)), torch.rand(3, 3, 8, 8))
    top = top_classes(found, count=5, independent=independent, item=2)
    logits = found.output.values[2].double().tolist()
    whole = sum(exp(x) for x in logits)
    shares = [1 / (1 + exp(-x)) if independent else exp(x) / whole for x in logits]
    expected = sorted(((share, id) for id, share in enumerate(shares)), reverse=True)[:5]
    assert [id for id, _ in top] == [id for _, id in expected]
    assert [share for _, share in top] == pytest.approx([share for share, _ in expected], rel=1e-5)


def test_classes_of_a_network_that_answers_none_are_refused(decoded) -> None:
    with pytest.raises(ValueError, match="expected logits of classes"):
        top_classes(decoded)
