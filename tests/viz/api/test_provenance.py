"""The provenance line: how a layer was computed, under which mask, and what its rows sum to."""

import pytest
import torch

from models.attention import Mask
from models.request import TraceRequest
from models.run import load, trace
from tests.models.architectures import ARCHITECTURES
from tests.viz.api.asking import ask
from viz.api import provenance, tracing

BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}


def line_of(name: str, ids: list[int]) -> str:
    found = trace(load(BY_NAME[name].build()), torch.tensor([ids]))
    return provenance.line(found, found.sites[1])


def test_a_causal_model_through_the_fused_kernel() -> None:
    assert line_of("Llama", [3, 4, 5, 6]) == (
        "Layer 1: computed by PyTorch’s fused kernel · float32 · mask: causal · every row of all"
        " heads checked: 24 sum to 1, 0 empty"
    )


def test_a_sink_keeps_the_rest() -> None:
    line = line_of("GPT-OSS", [3, 4, 5])
    assert "the explicit formula" in line
    assert "to less, the sink takes the rest" in line


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Mask(), "none"),
        (Mask(causal=True, window=3), "causal, window of 3"),
        (Mask(padding=torch.zeros(1, 5, dtype=torch.bool)), "padding"),
        (Mask(dense=torch.ones(1, 1, 2, 2, dtype=torch.bool)), "dense matrix"),
    ],
)
def test_masks_in_words(rule: Mask, words: str) -> None:
    assert provenance.mask(rule) == words


TWO_MASKS = "the [MASK] near the girls [MASK] happy"


def masked(token: int | None) -> dict:
    request = TraceRequest(tracing.of_catalogue("grammar"), TWO_MASKS)
    entry = tracing.entry_for(request).value
    return ask(entry, "predictions", 0, "out", token)


@pytest.mark.parametrize(
    ("token", "mask", "place"), [(None, 0, 2), (2, 0, 2), (6, 1, 6), (3, None, 3)]
)
def test_the_answer_at_one_of_several_masks_says_which(token, mask, place) -> None:
    answer = masked(token)
    assert (answer["mask"], answer["masks"]) == (mask, [2, 6])
    logits = trace(load("grammar"), TWO_MASKS).output.values[0, place]
    assert answer["probabilities"][0] == pytest.approx(float(logits.softmax(-1).max()), rel=1e-5)


def test_one_mask_needs_no_number() -> None:
    request = TraceRequest(tracing.of_catalogue("grammar"), "the girl [MASK] happy")
    assert ask(tracing.entry_for(request).value, "predictions", 0, "out")["masks"] == []
