"""Probabilities of an output equal a softmax worked out by hand; nonsense is refused."""

from dataclasses import replace
from math import exp, log, nan
from typing import Any

import pytest
import torch
from transformers import (
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from analysis.outputs import change, class_probabilities, likeliest, predict, repeat_loss, repeated
from models.decoder import DecoderConfig
from models.edits import Ablate
from models.encoder import EncoderConfig
from models.output import Sampling
from models.run import load, trace
from models.trace import Trace
from models.vit import ViTConfig

SIZES: dict[str, Any] = {"dim": 21, "heads": 3, "depth": 2, "mlp": 13}


@pytest.fixture(scope="module")
def decoded():
    return trace(load(DecoderConfig(vocab=29, **SIZES)), torch.arange(11)[None])


@pytest.mark.parametrize("place", [0, 4, -1])
def test_the_likeliest_tokens_are_those_of_a_plain_softmax(decoded, place):
    found = likeliest(decoded, place, count=5)
    logits = decoded.output.values[0, place].double().tolist()
    whole = sum(exp(x) for x in logits)
    share = sorted(((exp(x) / whole, i) for i, x in enumerate(logits)), reverse=True)[:5]
    assert found.place == place % 11
    assert found.ids == tuple(i for _, i in share)
    assert found.probabilities == pytest.approx([p for p, _ in share], rel=1e-5)  # float32


def test_a_network_without_logits_of_tokens_is_refused():
    found = trace(load(EncoderConfig(vocab=29, **SIZES)), torch.arange(5)[None])
    with pytest.raises(ValueError, match="expected logits, received hidden states"):
        likeliest(found, 0)


def test_shares_are_a_softmax_a_question() -> None:
    found = trace(load(ViTConfig(image=8, patch=4, classes=7, seed=1)), torch.rand(3, 3, 8, 8))
    first, second = class_probabilities(found, (2, 5), item=1)
    logits = found.output.values[1].double().exp()
    assert first == pytest.approx((logits[:2] / logits[:2].sum()).tolist(), abs=1e-6)
    assert second == pytest.approx((logits[2:] / logits[2:].sum()).tolist(), abs=1e-6)


@pytest.mark.parametrize("independent", [False, True])
def test_the_likeliest_classes_are_those_of_a_plain_softmax_or_sigmoid(independent: bool) -> None:
    found = trace(load(ViTConfig(image=8, patch=4, classes=7, seed=1)), torch.rand(3, 3, 8, 8))
    top = likeliest(found, count=5, independent=independent, item=2)
    logits = found.output.values[2].double().tolist()
    whole = sum(exp(x) for x in logits)
    shares = [1 / (1 + exp(-x)) if independent else exp(x) / whole for x in logits]
    expected = sorted(((share, id) for id, share in enumerate(shares)), reverse=True)[:5]
    assert top.place is None
    assert list(top.ids) == [id for _, id in expected]
    assert list(top.probabilities) == pytest.approx([share for share, _ in expected], rel=1e-5)


SAMPLINGS = [
    Sampling(),
    Sampling(0.7),
    Sampling(1.6, top_k=4),
    Sampling(top_p=0.6),
    Sampling(0.8, top_k=9, top_p=0.5),
    Sampling(top_p=1e-9),
]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_sampling_is_that_of_the_library(decoded: Trace, sampling: Sampling) -> None:
    """Against the warpers of transformers, in their order; no pass of the network is made."""
    warpers = LogitsProcessorList([TemperatureLogitsWarper(sampling.temperature)])
    if sampling.top_k:
        warpers.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p < 1:
        warpers.append(TopPLogitsWarper(sampling.top_p))
    for place in range(11):
        logits = decoded.output.values[:, place].double()
        ids: Any = torch.zeros(1, 1, dtype=torch.long)
        expected = warpers(ids, logits)[0].softmax(-1)
        found = likeliest(decoded, place, count=29, sampling=sampling)
        assert len(found.ids) == int((expected > 0).sum())
        assert found.probabilities == pytest.approx(expected[list(found.ids)].tolist(), rel=1e-5)
        assert sum(found.probabilities) == pytest.approx(1, abs=1e-6)


def test_sampling_that_is_none_is_refused() -> None:
    for name, value in (("temperature", 0.0), ("temperature", nan), ("top_k", -1), ("top_p", 0.0)):
        given: dict[str, Any] = {name: value}
        with pytest.raises(ValueError, match=f"{name}: expected"):
            Sampling(**given)


def test_what_an_edit_changes_in_a_prediction() -> None:
    model, ids = load(DecoderConfig(vocab=29, **SIZES)), torch.arange(11)[None]
    before, after = trace(model, ids), trace(model, ids, edits=[Ablate(1, 0)])
    found = change(before, after, 4, count=3)
    p, q = (t.output.values[0, 4].double().softmax(-1).tolist() for t in (before, after))
    assert found.kl == pytest.approx(sum(a * log(a / b) for a, b in zip(p, q, strict=True)))
    assert found.kl > 0
    assert found.ids[:3] == likeliest(before, 4, count=3).ids
    assert set(likeliest(after, 4, count=3).ids) <= set(found.ids)
    assert found.before == pytest.approx([p[id] for id in found.ids])
    assert found.after == pytest.approx([q[id] for id in found.ids])
    same = change(before, before)
    assert same.kl == 0
    assert same.before == same.after


def test_predictions_have_names() -> None:
    """The masked word of a masked model, the next token of a decoder, the class of a picture."""
    model = load("grammar")
    masked = trace(model, "the keys near the cabinet [MASK] dusty .")
    assert predict(model, masked, count=1).names == ("are",)
    following: Any = load("grammar-next")
    t = trace(following, "the keys near the cabinet")
    found = predict(following, t)
    assert found == replace(likeliest(t, -1), names=found.names)
    assert found.names == tuple(following.tokenizer.spelled([id]).labels[0] for id in found.ids)
    pictures = load(ViTConfig(image=8, patch=4, classes=7, seed=1))
    answer = predict(pictures, trace(pictures, torch.rand(1, 3, 8, 8)))
    assert answer.names == tuple(f"class {id}" for id in answer.ids)


@pytest.mark.parametrize(
    ("ids", "places"),
    [
        ([3, 1, 4, 9, 3, 1, 4], [4, 5, 6]),
        ([3, 1, 3, 1], [2, 3]),
        ([7, 7, 7, 7, 7], [3, 4]),  # not over itself
        ([3, 1, 4, 9, 4], []),
        ([3], []),
    ],
)
def test_a_repeat_is_what_came_earlier_in_the_same_order(ids, places):
    assert [*repeated(ids)] == places


def test_the_loss_over_a_repeat_is_the_cross_entropy_of_all_but_its_first_token():
    ids = torch.tensor([3, 1, 4, 9, 3, 1, 4])
    traced = trace(load(DecoderConfig(vocab=29, **SIZES)), ids[None])
    expected = torch.nn.functional.cross_entropy(traced.output.values[0, 4:6], ids[5:])
    assert repeat_loss(traced) == pytest.approx(float(expected), rel=1e-5)  # float32
    assert repeat_loss(trace(load(DecoderConfig(vocab=29, **SIZES)), ids[None, :5])) is None
