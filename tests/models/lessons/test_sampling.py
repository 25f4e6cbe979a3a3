"""Sampling against transformers' logits processors; costs against PyTorch's counter of FLOPs."""

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from models.decoder import Decoder, DecoderConfig
from models.lessons.sampling import draws, next_probabilities, step_cost

LOGITS = torch.randn(29, generator=torch.Generator().manual_seed(1)) * 2
NO_IDS: Any = None  # what was written before, which these do not read
CONFIG = DecoderConfig(vocab=13, dim=21, depth=2, heads=3, mlp=34, max_tokens=19)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.7])
@pytest.mark.parametrize(("k", "p"), [(0, 1.0), (5, 1.0), (0, 0.7), (7, 0.6), (1, 1.0), (0, 0.01)])
def test_the_probabilities_are_those_of_the_library(temperature: float, k: int, p: float) -> None:
    scores = TemperatureLogitsWarper(temperature)(NO_IDS, LOGITS[None])
    if k:
        scores = TopKLogitsWarper(k)(NO_IDS, scores)
    if p < 1:
        scores = TopPLogitsWarper(p)(NO_IDS, scores)
    found = next_probabilities(LOGITS, temperature=temperature, k=k, p=p)
    torch.testing.assert_close(found, scores[0].softmax(-1))


def test_draws_follow_the_probabilities() -> None:
    probabilities = next_probabilities(LOGITS, k=4)
    found = draws(probabilities, 20_000)
    assert found.sum() == 20_000
    assert bool((found[probabilities == 0] == 0).all())
    # five standard deviations of a share
    spread = (probabilities * (1 - probabilities) / 20_000).sqrt()
    assert bool(((found / 20_000 - probabilities).abs() <= 5 * spread).all())


def test_a_temperature_is_positive() -> None:
    with pytest.raises(ValueError, match=r"expected a positive number, received 0\.0"):
        next_probabilities(LOGITS, temperature=0.0)


@pytest.mark.parametrize("tokens", [2, 11])
@pytest.mark.parametrize("cached", [True, False])
def test_the_multiplications_are_pytorchs(tokens: int, cached: bool) -> None:
    """A multiplication and an addition are two FLOPs."""
    network = Decoder(CONFIG).eval()
    ids = torch.arange(tokens)[None] % CONFIG.vocab
    with torch.no_grad():
        past = network(ids[:, :-1]) if cached else None
        with FlopCounterMode(display=False) as counter:
            out = network(ids, past=past, logits_to_keep=1)
            for pattern in out.patterns:  # the fused kernel is not counted
                _ = pattern.q @ pattern.k.mT @ pattern.v
    found = step_cost(CONFIG, tokens, cached=cached)
    assert 2 * found.multiplications == counter.get_total_flops()
    assert found.kept == (2 * 2 * tokens * 21 if cached else 0)
