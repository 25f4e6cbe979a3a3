"""The encoder: its config, its embedding, and what reaches its blocks."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from models.encoder import Encoder, EncoderConfig
from models.positional import sinusoidal
from tests.models.devices import DEVICES
from tests.models.reference import plain_encoder
from tests.models.tensors import ids_of

SMALL = EncoderConfig(vocab=101, dim=35, depth=3, heads=5, mlp=53, max_tokens=31, seed=2)
ROUNDING = 5e-6  # hidden states up to 4 after three layers of float32


def built(**changes: Any) -> Encoder:
    return Encoder(replace(SMALL, **changes)).eval()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"vocab": 0}, "vocab: expected at least 1, received 0"),
        ({"dim": 0}, "expected positive dim, heads and head_dim, received 0, 5 and None"),
        ({"heads": 0}, "received 35, 0 and None"),
        ({"head_dim": -1}, "received 35, 5 and -1"),
        ({"heads": 4}, r"heads must divide dim: expected one of .* for dim 35, received 4"),
        ({"positions": "rotary"}, "rotary: expected an even head width, received 7"),
        ({"segments": -1}, "segments: expected at least 0, received -1"),
        ({"value_dim": 0}, "value_dim: expected at least 1, received 0"),
        ({"padding": 101}, "padding: expected 0 to 100, received 101"),
        ({"padding": -1}, "padding: expected 0 to 100, received -1"),
        ({"dot_scaling": "√d"}, "dot_scaling: expected one of sqrt, none, fourth root, received"),
        ({"mask_fill": 1e9}, "fill: expected a number below 0, received 1000000000.0"),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **{"segments": 2} | wrong)


def test_published_shape() -> None:
    config = EncoderConfig(vocab=1000, dim=300, depth=6, heads=5, mlp=100)
    ids = torch.randint(1000, (2, 100), generator=torch.Generator().manual_seed(1))
    out = Encoder(config).eval()(ids)
    assert out.hidden.shape == (2, 100, 300)
    assert len(out.patterns) == 6
    assert [state.shape for state in out.states] == [(2, 100, 300)] * 7
    assert all(pattern.weights(0).shape == (2, 100, 100) for pattern in out.patterns)


@pytest.mark.parametrize("device", DEVICES)
def test_equals_the_written_out_encoder(device: str) -> None:
    network = built()
    expected = plain_encoder(network, ids_of())
    found = network.to(device)(ids_of().to(device))
    allowed = ROUNDING if device == "cpu" else 10 * ROUNDING  # a GPU adds up in another order
    assert (found.hidden.cpu() - expected.hidden).abs().max() < allowed
    for pattern, weights in zip(found.patterns, expected.weights, strict=True):
        assert (pattern.weights().cpu() - weights).abs().max() < allowed


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


def test_learned_positions_are_added() -> None:
    network = built(positions="learned")
    ids = torch.full((1, 5), 13)
    table = dict(network.named_parameters())["positions.table"]
    assert network.embed(ids).equal(network.tokens.weight[ids] + table[:5])


def test_values_of_their_own_width() -> None:
    out = built(head_dim=13, value_dim=17)(ids_of())
    assert out.hidden.shape == (2, 11, 35)
    assert out.patterns[2].q.shape == (2, 5, 11, 13)
    assert out.patterns[2].v.shape == (2, 5, 11, 17)


@pytest.mark.parametrize("scaling", ["none", "fourth root"])
def test_scaling_reaches_every_block(scaling: str) -> None:
    plain, changed = built()(ids_of()), built(dot_scaling=scaling)(ids_of())
    first = changed.patterns[0].scores() * (7**-0.5 if scaling == "none" else 1)
    assert (first - plain.patterns[0].scores()).abs().max() < 1e-5  # scores up to 5
    same = (changed.hidden - plain.hidden).abs().max() < 5e-6  # three layers, outputs up to 4
    assert bool(same) is (scaling == "fourth root")


def test_without_query_key_and_value_biases() -> None:
    names = {
        name.split(".", 2)[2]
        for name, _ in built(qkv_bias=False).blocks.named_parameters(prefix="blocks")
        if "bias" in name
    }
    assert not names & {"attention.query.bias", "attention.key.bias", "attention.value.bias"}
    assert "attention.out.bias" in names
