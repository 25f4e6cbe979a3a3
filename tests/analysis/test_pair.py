"""The steps of one pair against sums written out, and against the weights shown elsewhere."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.pair import Pair, pair
from analysis.stages import stages
from models.attention import Additive, Bilinear, Mask, attend
from models.decoder import DecoderConfig
from models.edits import Temperature
from models.run import load, trace
from models.trace import Trace
from tests.analysis.by_hand import trace_of
from tests.models.tiny_models import model, plain, source

# rotary, grouped, capped, sinks, low-rank keys, relative bias, cross attention, plain
NAMES = ("GPT-NeoX", "Llama", "Gemma 2", "GPT-OSS", "DeepSeek-V3", "T5", "BART", "BERT")
EXACT = 2e-5  # float32 scores that reach 50, against float64


def step(found: Pair, name: str) -> float:
    return next(each.value for each in found.steps if each.name.startswith(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_ends_in_the_weight(name: str) -> None:
    found = plain(name)
    for site in found.sites:
        weights = found.weights(site, 1, item=1)
        scores = found.scores(site, 1, item=1)
        for query, key in ((0, 0), (3, 1), (2, 5), (6, 6)):
            made = pair(found, site, 1, query, key, item=1)
            # both to a few roundings of float32
            assert made.weight == pytest.approx(float(weights[query, key]), abs=1e-6)
            terms = sum(made.strips[-1].values.tolist())
            assert made.steps[0].value == pytest.approx(terms, abs=1e-9)
            before = made.steps[-3].value  # the score that goes into the softmax
            expected = float(scores[query, key])
            assert before == expected or abs(before - expected) < EXACT * max(1, abs(expected))


def test_what_each_mechanism_is_called() -> None:
    said = {name: pair(plain(name), plain(name).sites[0], 1, 4, 2) for name in NAMES}
    assert "rotated" in " ".join(said["GPT-NeoX"].applied)
    assert "Grouped queries" in " ".join(said["Llama"].applied)
    assert "cap" in [each.name for each in said["Gemma 2"].steps]
    assert "learned sink" in " ".join(said["GPT-OSS"].applied)
    assert any(each.name.startswith("+ bias") for each in said["T5"].steps)
    assert said["BERT"].applied == ()


def test_a_masked_pair_and_a_temperature() -> None:
    found = plain("decoder")
    made = pair(found, found.sites[0], 0, 3, 6)
    assert (made.weight, step(made, "mask")) == (0.0, -math.inf)
    assert "no later key" in next(each.how for each in made.steps if each.name == "mask")
    edits = [Temperature(0.5, layer=0)]
    warm = trace(model("decoder"), *source("decoder"), edits=edits)
    made = pair(warm, warm.sites[0], 0, 6, 3)
    assert step(made, "÷ 0.5") == pytest.approx(2 * step(made, "×"))


def by_hand(score: Any, dims: tuple[int, int]) -> Trace:
    """A trace of one attention call with another score."""
    dice = torch.Generator().manual_seed(3)
    q, k = (torch.randn(1, 2, 5, dim, generator=dice) for dim in dims)
    v = torch.randn(1, 2, 5, 3, generator=dice)
    _, pattern = attend(q, k, v, mask=Mask(causal=True), score=score)
    return trace_of(pattern, kind="causal")


def matrix(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7))


@pytest.mark.parametrize(
    ("score", "dims", "names"),
    [
        (Bilinear(matrix(4, 7)), (4, 7), ["q", "k", "M k", "q × M k"]),
        (Bilinear(matrix(2, 4, 7)), (4, 7), ["q", "k", "M k", "q × M k"]),
        (
            Additive(matrix(6, 4), matrix(6, 7), matrix(6)),
            (4, 7),
            ["W_q q", "W_k k", "tanh of the sum", "× w"],
        ),
    ],
)
def test_other_scores(score: Any, dims: tuple[int, int], names: list[str]) -> None:
    found = by_hand(score, dims)
    made = pair(found, found.sites[0], 1, 3, 2)
    assert [strip.name for strip in made.strips] == names
    assert made.steps[0].value == pytest.approx(float(found.scores(0, 1)[3, 2]), rel=1e-5)
    weight = float(found.weights(0, 1)[3, 2])
    assert made.weight == pytest.approx(weight, rel=1e-6)  # of a row computed by itself


@pytest.mark.parametrize("name", ["GPT-NeoX", "Llama", "Gemma 2", "GPT-OSS", "T5", "BART", "BERT"])
def test_stages_end_in_what_the_head_adds(name: str) -> None:
    found = plain(name)
    for site in found.sites:
        made = stages(found, site, 1, 3)
        weights = found.weights(site, 1)
        torch.testing.assert_close(made.weights, weights)
        assert made.rows[made.chosen] == 3
        values = sum(float(w) * value for w, value in zip(weights[3], made.v, strict=True))
        torch.testing.assert_close(made.output[3], values, rtol=1e-4, atol=1e-4)
        one = pair(found, site, 1, 3, 2)
        capped = [each.value for each in one.steps if each.name in ("cap",) or "×" in each.name]
        assert float(made.products[3, 2]) == pytest.approx(capped[-1], rel=1e-4, abs=1e-4)
        torch.testing.assert_close(made.scores, found.scores(site, 1))
        if made.written is None:
            assert made.reason


def test_stages_of_a_long_text_keep_the_strongest_keys() -> None:
    sizes: dict[str, Any] = {"vocab": 53, "dim": 24, "heads": 3, "depth": 1, "mlp": 13}
    ids = torch.randint(53, (1, 150), generator=torch.Generator().manual_seed(2))
    found = trace(load(DecoderConfig(**sizes, max_tokens=200)), ids)
    made = stages(found, found.sites[0], 2, 140)
    row = found.weights(0, 2)[140]
    assert (made.rows, made.chosen, len(made.keys)) == ((140,), 0, 64)
    assert list(made.keys) == sorted(row.argsort(descending=True)[:64].tolist())
    torch.testing.assert_close(made.output[0], row @ found.pattern(0).v[0, 2])
