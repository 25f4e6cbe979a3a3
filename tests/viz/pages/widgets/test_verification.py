"""What stands under a picture: how it was computed, of what, and whether its rows are whole."""

from typing import Any

import pytest
import torch

from benchmarks.architectures import ARCHITECTURES
from models.attention import Mask
from models.run import load, trace
from models.verify import Verdict
from viz.pages.widgets import badge

BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}


def line_of(name: str, ids: list[int]) -> str:
    found = trace(load(BY_NAME[name].build()), torch.tensor([ids]))
    return badge.line(found, found.sites[1])


def test_a_causal_model_through_the_fused_kernel() -> None:
    assert line_of("Llama", [3, 4, 5, 6]) == (
        "Layer 1: computed by PyTorch’s fused kernel · float32 · mask: causal · every row of all"
        " heads checked: 24 sum to 1, 0 empty"
    )


def test_a_sink_keeps_the_rest() -> None:
    said = line_of("GPT-OSS", [3, 4, 5])
    assert "the explicit formula" in said
    assert "to less, a sink keeps the rest" in said


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Mask(), "none"),
        (Mask(causal=True, window=3), "causal, window of 3"),
        (Mask(padding=torch.zeros(1, 5, dtype=torch.bool)), "padding"),
        (Mask(dense=torch.ones(1, 1, 2, 2, dtype=torch.bool)), "a matrix of its own"),
    ],
)
def test_masks_in_words(rule: Mask, words: str) -> None:
    assert badge.mask(rule) == words


@pytest.mark.parametrize(
    ("apart", "dtype", "begins"),
    [
        (1e-6, torch.float32, "Yes, up to the rounding of float32"),
        (1e-2, torch.float32, "No: they differ"),
        (1e-2, torch.bfloat16, "Yes, up to the rounding of bfloat16"),
    ],
)
def test_the_verdict_knows_the_precision(apart: float, dtype: Any, begins: str) -> None:
    said = badge.told(Verdict(apart, 1.0, 6, 144), dtype)
    assert said.startswith(begins)
    assert "all 6 attention layers" in said
