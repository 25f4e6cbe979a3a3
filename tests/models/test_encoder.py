"""The encoder: its config, its embedding, and what reaches its blocks."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from models.encoder import Encoder, EncoderConfig
from models.positional import sinusoidal
from tests.models.tensors import ids_of

SMALL = EncoderConfig(vocab=101, dim=35, depth=3, heads=5, mlp=53, max_tokens=31, seed=2)
ROUNDING = 5e-6  # hidden states up to 4 after three layers of float32


def built(**changes: Any) -> Encoder:
    return Encoder(replace(SMALL, **changes)).eval()


@pytest.mark.parametrize("factor", [False, True])
def test_embedding(factor: bool) -> None:
    network = built(embed_scale=factor, segments=3, embed_norm=True, eps=0.1)
    segments = torch.tensor([[0, 1, 2] * 3, [2, 2, 0] * 3])
    ids = ids_of(2, 9)
    x = network.tokens.weight[ids] * (35**0.5 if factor else 1.0)
    assert network.segments is not None
    x = x + network.segments.weight[segments] + sinusoidal(9, 35)
    centred = x - x.mean(-1, keepdim=True)
    expected = centred / (centred.square().mean(-1, keepdim=True) + 0.1).sqrt()
    found = network(ids, segments=segments)
    assert (found.states[0] - expected).abs().max() < ROUNDING
    first = network(ids, segments=torch.zeros_like(ids)).hidden
    assert network(ids).hidden.equal(first)
    assert not found.hidden.equal(first)


def test_logits_are_a_product_with_the_last_states() -> None:
    """Of a network that answers at every token; it is else what it is without an answer."""
    network, bare = built(classes=7), built()
    out = network(ids_of())
    assert network.head is not None
    assert network.head.weight is not None
    assert (out.logits - out.hidden @ network.head.weight.T).abs().max() < ROUNDING
    assert (out.result[0], bare(ids_of()).result[0]) == ("logits", "hidden states")
    assert out.hidden.equal(bare(ids_of()).hidden)
