"""The provenance line: how a layer was computed, under which mask, and what its rows sum to."""

import pytest
import torch

from benchmarks.architectures import ARCHITECTURES
from models.attention import Mask
from models.run import load, trace
from viz.api import provenance

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
